/* Which stream of positions a pair follows, and where its frequency stands. */
#include "rope_private.h"

/* The section that holds pair `i`, and the pairs before it. */
static uint32_t section_of(const struct tenon_rope *rope, uint32_t i, uint32_t *out_before)
{
    uint32_t s = 0, before = 0;

    while (s + 1 < rope->n_sections && i - before >= rope->sections[s])
        before += rope->sections[s++];
    *out_before = before;
    return s;
}

/* Time everywhere, height and width at their turns as long as their sections last. */
static uint32_t interleaved_axis(const struct tenon_rope *rope, uint32_t i)
{
    uint32_t turn = i % 3;

    return turn != 0 && i < 3 * (uint64_t)rope->sections[turn] ? turn : 0;
}

/* ggml asks the same of all three, and gives what nobody claims to a fourth stream. */
static uint32_t ggml_interleaved_axis(const struct tenon_rope *rope, uint32_t i)
{
    uint32_t turn = i % 3;

    return i < 3 * (uint64_t)rope->sections[turn] ? turn : 3;
}

static uint32_t ernie_axis(const struct tenon_rope *rope, uint32_t i)
{
    if (i >= (uint64_t)rope->sections[0] + rope->sections[1])
        return 0;
    return i % 2 == 0 ? 1 : 2;
}

struct tenon_rope_place tenon_rope_place(const struct tenon_rope *rope, uint32_t n_pairs,
                                         uint32_t i, bool ggml)
{
    struct tenon_rope_place place = {.k = i, .width = 2 * n_pairs};
    uint32_t before = 0;

    switch (rope->axes) {
    case TENON_AXES_ONE:
        break;
    case TENON_AXES_CHUNKED:
        place.axis = section_of(rope, i, &before);
        break;
    case TENON_AXES_INTERLEAVED:
        place.axis = ggml ? ggml_interleaved_axis(rope, i) : interleaved_axis(rope, i);
        break;
    case TENON_AXES_ERNIE:
        place.axis = ernie_axis(rope, i);
        break;
    case TENON_AXES_BLOCKS:
        place.axis = section_of(rope, i, &before);
        place.k = i - before;
        place.width = 2 * rope->sections[place.axis];
        break;
    case TENON_AXES_SPLIT:
        place.axis = i >= n_pairs / 2;
        place.k = 2 * (i - place.axis * (n_pairs / 2)) + place.axis;
        break;
    case TENON_AXES_ALTERNATING:
        place.axis = i % rope->n_sections;
        place.k = i / rope->n_sections;
        place.width = 2 * n_pairs / rope->n_sections;
        break;
    }
    return place;
}
