/* Rows and positions of tokens. */
#include "mem.h"
#include "tenon/position_ids.h"

void tenon_position_ids_count(int64_t offset, int64_t past, size_t n, int64_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = offset + past + (int64_t)i;
}

void tenon_position_ids_skip(const uint32_t *ids, size_t n, uint32_t pad, int64_t past,
                             int64_t *out)
{
    int64_t seen = past;

    for (size_t i = 0; i < n; i++)
        out[i] = ids[i] == pad ? (int64_t)pad : ++seen + (int64_t)pad;
}

void tenon_position_ids_mask(const bool *mask, size_t n, int64_t offset, int64_t *out)
{
    int64_t seen = 0;

    for (size_t i = 0; i < n; i++)
        out[i] = offset + (mask[i] ? seen++ : -1);
}

void tenon_position_ids_mask_keys(const bool *mask, size_t n, int64_t *out)
{
    int64_t seen = 0;

    for (size_t i = 0; i < n; i++)
        out[i] = mask[i] ? seen++ : 0;
}

size_t tenon_span_tokens(const struct tenon_span *span)
{
    uint64_t n = span->height;

    if (!tenon_u64_mul(&n, n, span->width) ||
        !tenon_u64_mul(&n, n, span->frames == 0 ? 1 : span->frames) || n > SIZE_MAX)
        return SIZE_MAX;
    return (size_t)n;
}

/* The one after the largest position of a picture. */
static int64_t after_picture(const struct tenon_span *span, int64_t start)
{
    int64_t sides = (int64_t)(span->height > span->width ? span->height : span->width);
    int64_t frames = (int64_t)(span->frame_step * (double)(span->frames - 1)) + 1;

    return start + (sides > frames ? sides : frames);
}

int64_t tenon_position_ids_span(const struct tenon_span *span, int64_t start, int64_t (*out)[3])
{
    size_t i = 0;

    if (span->frames == 0) {
        for (; i < tenon_span_tokens(span); i++)
            out[i][0] = out[i][1] = out[i][2] = start + (int64_t)i;
        return start + (int64_t)i;
    }
    for (uint64_t frame = 0; frame < span->frames; frame++)
        for (uint64_t row = 0; row < span->height; row++)
            for (uint64_t column = 0; column < span->width; column++, i++) {
                out[i][0] = start + (int64_t)(span->frame_step * (double)frame);
                out[i][1] = start + (int64_t)row;
                out[i][2] = start + (int64_t)column;
            }
    return after_picture(span, start);
}
