/* Files too large for a sample, for benchmarks. */
#ifndef TENON_TESTDATA_GEN_LARGE_H
#define TENON_TESTDATA_GEN_LARGE_H

#include <stdint.h>

/* A GGUF file with a vocabulary of 151,936 tokens and as many merges, 400 tensors and a payload
 * that is a hole. Returns the bytes of its header. */
uint64_t gen_large_vocabulary(const char *path);

/* A safetensors file of `n` tensors of one byte. Returns the bytes of its header. */
uint64_t gen_large_tensors(const char *path, unsigned long n);

/* A GGUF file of 100 GB, nearly all of it a hole. Returns the bytes of its header. */
uint64_t gen_large_sparse(const char *path);

/* A safetensors file of `mib` MiB of random BF16 in four tensors. Returns the bytes of its header.
 */
uint64_t gen_large_bf16(const char *path, unsigned long mib);

#endif
