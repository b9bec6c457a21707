/* Folders of files made for a test, below $TMPDIR or the current folder. */
#ifndef TENON_TESTS_FOLDER_H
#define TENON_TESTS_FOLDER_H

#include "tenon/tenon.h"

/* A fresh folder; its path (with a slash at the end) into `path`, which folder_remove removes
 * with all files in it. */
void folder_make(char path[512]);
void folder_remove(const char *path);

/* Writes a file into it. */
void folder_write(const char *path, const char *name, const void *bytes, size_t n);
void folder_text(const char *path, const char *name, const char *text);

/* Writes a safetensors file of U8 tensors of one element each, called as the words of `names`; the
 * values are `first`, first + 1 ... */
void folder_shard(const char *path, const char *name, const char *names, unsigned char first);

/* Whether the model has a finding with that code; its subject is then `subject` (NULL: any). */
bool has_finding(const struct tenon_model *model, const char *code, const char *subject);

#endif
