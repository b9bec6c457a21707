/* A GGUF file while it is being laid out: shared by the files that write its parts. */
#ifndef TENON_FORMATS_GGUF_WRITE_H
#define TENON_FORMATS_GGUF_WRITE_H

#include "format.h"

/* Where header bytes go. They are put whenever they are wanted: to learn how many they are, to be
 * written, to be compared. */
struct tenon_gguf_out {
    struct tenon_window *window;
    bool swapped; /* the file is big-endian */
};

void tenon_gguf_put(struct tenon_gguf_out *out, const void *bytes, uint64_t n);

/* The low `width` bytes of `value`, in the byte order of the file. */
void tenon_gguf_put_int(struct tenon_gguf_out *out, uint64_t value, unsigned width);

void tenon_gguf_put_string(struct tenon_gguf_out *out, struct tenon_str str);

/* One file of a plan. */
struct tenon_gguf_layout {
    struct tenon_plan *plan;
    struct tenon_plan_file *file;
    size_t first, n; /* the tensors of the file in the plan */
    uint64_t alignment;
    uint64_t data_bytes; /* from the start of the data to the end of the file */
    size_t first_rest;   /* of those in the plan that belong to this file */
};

/* gguf_write_meta.c: whether the pair's value can be written at all (CANNOT_REPRESENT, MISUSE);
 * the pair itself. A value that came from a file and did not change keeps its very bytes. */
enum tenon_status tenon_gguf_check_pair(const struct tenon_meta_entry *entry,
                                        struct tenon_error *err);
void tenon_gguf_put_pair(struct tenon_gguf_out *out, const struct tenon_meta_entry *entry);

/* gguf_write_set.c: brings the number of tensors of a split set up to date. */
enum tenon_status tenon_gguf_settle_set(struct tenon_plan *plan, struct tenon_plan_file *file,
                                        struct tenon_error *err);

/* gguf_write_place.c: fills in data_bytes and the offsets of tensors and rests, all relative to the
 * start of the data. */
enum tenon_status tenon_gguf_place(struct tenon_gguf_layout *l, struct tenon_error *err);

/* gguf_write.c: the hook of the format. */
enum tenon_status tenon_gguf_layout(struct tenon_plan *plan, uint32_t file,
                                    struct tenon_error *err);

#endif
