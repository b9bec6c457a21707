/* What every fuzz target of a format does with an input. */
#ifndef TENON_TESTS_FUZZ_MODEL_H
#define TENON_TESTS_FUZZ_MODEL_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry point, which each target defines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Opens the bytes as `format`, strictly and leniently, and looks at all that was read. */
void fuzz_model(const uint8_t *data, size_t size, const char *format);

#endif
