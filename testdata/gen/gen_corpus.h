/* Where fuzzing begins: every sample and every row of damage, small enough, sorted by target. */
#ifndef TENON_TESTDATA_GEN_CORPUS_H
#define TENON_TESTDATA_GEN_CORPUS_H

/* Writes FOLDER/gguf, FOLDER/safetensors, FOLDER/json and FOLDER/names. */
void gen_corpus_write(const char *folder);

#endif
