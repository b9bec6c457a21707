#include "ggml_decoders.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    enum tenon_dtype dtype;
    const char *symbol;
} rows[] = {
    {TENON_DTYPE_F16, "ggml_fp16_to_fp32_row"},    {TENON_DTYPE_BF16, "ggml_bf16_to_fp32_row"},
    {TENON_DTYPE_Q4_0, "dequantize_row_q4_0"},     {TENON_DTYPE_Q4_1, "dequantize_row_q4_1"},
    {TENON_DTYPE_Q5_0, "dequantize_row_q5_0"},     {TENON_DTYPE_Q5_1, "dequantize_row_q5_1"},
    {TENON_DTYPE_Q8_0, "dequantize_row_q8_0"},     {TENON_DTYPE_Q2_K, "dequantize_row_q2_K"},
    {TENON_DTYPE_Q3_K, "dequantize_row_q3_K"},     {TENON_DTYPE_Q4_K, "dequantize_row_q4_K"},
    {TENON_DTYPE_Q5_K, "dequantize_row_q5_K"},     {TENON_DTYPE_Q6_K, "dequantize_row_q6_K"},
    {TENON_DTYPE_Q8_K, "dequantize_row_q8_K"},     {TENON_DTYPE_IQ2_XXS, "dequantize_row_iq2_xxs"},
    {TENON_DTYPE_IQ2_XS, "dequantize_row_iq2_xs"}, {TENON_DTYPE_IQ3_XXS, "dequantize_row_iq3_xxs"},
    {TENON_DTYPE_IQ1_S, "dequantize_row_iq1_s"},   {TENON_DTYPE_IQ4_NL, "dequantize_row_iq4_nl"},
    {TENON_DTYPE_IQ3_S, "dequantize_row_iq3_s"},   {TENON_DTYPE_IQ2_S, "dequantize_row_iq2_s"},
    {TENON_DTYPE_IQ4_XS, "dequantize_row_iq4_xs"}, {TENON_DTYPE_IQ1_M, "dequantize_row_iq1_m"},
    {TENON_DTYPE_TQ1_0, "dequantize_row_tq1_0"},   {TENON_DTYPE_TQ2_0, "dequantize_row_tq2_0"},
    {TENON_DTYPE_MXFP4, "dequantize_row_mxfp4"},   {TENON_DTYPE_NVFP4, "dequantize_row_nvfp4"},
    {TENON_DTYPE_Q1_0, "dequantize_row_q1_0"},     {TENON_DTYPE_Q2_0, "dequantize_row_q2_0"},
};

void *ggml_library_open(void)
{
    const char *path = getenv("TENON_ORACLE_GGML");
    void *library;

    if (path == NULL || path[0] == '\0') {
        printf("TENON_ORACLE_GGML is not set\n");
        return NULL;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        printf("cannot load the library of TENON_ORACLE_GGML: %s\n", dlerror());
    return library;
}

bool ggml_decoder_at(void *library, size_t i, struct ggml_decoder *out)
{
    if (i >= sizeof(rows) / sizeof(rows[0]))
        return false;
    out->dtype = rows[i].dtype;
    /* ISO C has no conversion from object to function pointers; POSIX makes them alike. */
    *(void **)&out->decode = dlsym(library, rows[i].symbol);
    return true;
}
