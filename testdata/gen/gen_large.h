/* Files too large for a sample, for benchmarks. */
#ifndef TENON_TESTDATA_GEN_LARGE_H
#define TENON_TESTDATA_GEN_LARGE_H

#include <stdint.h>

/* A GGUF file with a vocabulary of 151,936 tokens and as many merges, 400 tensors and a payload
 * that is a hole. Returns the bytes of its header. */
uint64_t gen_large_vocabulary(const char *path);

/* A safetensors file of `n` tensors of one byte. Returns the bytes of its header. */
uint64_t gen_large_tensors(const char *path, unsigned long n);

/* The same with the names and shapes of a mixture of experts: matrices of 4 KiB of BF16. */
uint64_t gen_large_experts(const char *path, unsigned long n);

/* The same as GGUF: `n` tensors with names of that format. */
uint64_t gen_large_records(const char *path, unsigned long n);

/* A Hugging Face folder: the `n` tensors of gen_large_experts over `n_shards` files of equal
 * numbers, and their index. Returns the bytes of all headers and of the index. */
uint64_t gen_large_folder(const char *path, unsigned long n, unsigned long n_shards);

/* A GGUF file of 100 GB, nearly all of it a hole. Returns the bytes of its header. */
uint64_t gen_large_sparse(const char *path);

/* A safetensors file of `mib` MiB of random BF16 in four tensors. Returns the bytes of its header.
 */
uint64_t gen_large_bf16(const char *path, unsigned long mib);

#endif
