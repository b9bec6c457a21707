/* Defaults of what opening a model may spend. */
#include <string.h>

#include "tenon/model.h"

void tenon_open_options_init(struct tenon_open_options *options)
{
    memset(options, 0, sizeof(*options));
    options->limits.header_bytes = UINT64_C(1) << 30;
    options->limits.safetensors_header = UINT64_C(100000000);
    options->limits.string_bytes = UINT64_C(1) << 30;
    options->limits.array_elements = UINT64_C(1) << 30;
    options->limits.json_bytes = UINT64_C(1) << 28;
    options->limits.tensors = UINT64_C(10000000);
    options->limits.dims = 8;
    options->limits.nesting = 4;
    options->limits.json_depth = 128;
    options->limits.shards = 10000;
}
