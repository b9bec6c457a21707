#include <string.h>

#include "tenon/rope.h"

struct word {
    const char *name;
    int value;
};

/* The first word of a value is the one that is printed. */
static const struct word scalings[] = {
    {"default", TENON_ROPE_DEFAULT},   {"mrope", TENON_ROPE_DEFAULT},
    {"none", TENON_ROPE_DEFAULT},      {"linear", TENON_ROPE_LINEAR},
    {"dynamic", TENON_ROPE_DYNAMIC},   {"ntk", TENON_ROPE_NTK},
    {"ntk_aware", TENON_ROPE_NTK},     {"xdrope", TENON_ROPE_NTK},
    {"yarn", TENON_ROPE_YARN},         {"deepseek_yarn", TENON_ROPE_YARN},
    {"longrope", TENON_ROPE_LONGROPE}, {"su", TENON_ROPE_LONGROPE},
    {"llama3", TENON_ROPE_LLAMA3},     {"proportional", TENON_ROPE_PROPORTIONAL},
};

static const struct word precisions[] = {
    {"exact", TENON_PRECISION_EXACT},
    {"hf", TENON_PRECISION_HF},
    {"ggml", TENON_PRECISION_GGML},
};

#define N_WORDS(words) (sizeof(words) / sizeof((words)[0]))

static const char *name_of(const struct word *words, size_t n, int value)
{
    for (size_t i = 0; i < n; i++)
        if (words[i].value == value)
            return words[i].name;
    return NULL;
}

static const struct word *find_word(const struct word *words, size_t n, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i].name) == len && memcmp(words[i].name, name, len) == 0)
            return &words[i];
    return NULL;
}

const char *tenon_rope_scaling_name(enum tenon_rope_scaling scaling)
{
    return name_of(scalings, N_WORDS(scalings), (int)scaling);
}

bool tenon_rope_scaling_find(const char *name, size_t len, enum tenon_rope_scaling *out)
{
    const struct word *word = find_word(scalings, N_WORDS(scalings), name, len);

    if (word != NULL)
        *out = (enum tenon_rope_scaling)word->value;
    return word != NULL;
}

const char *tenon_precision_name(enum tenon_precision precision)
{
    return name_of(precisions, N_WORDS(precisions), (int)precision);
}

bool tenon_precision_find(const char *name, size_t len, enum tenon_precision *out)
{
    const struct word *word = find_word(precisions, N_WORDS(precisions), name, len);

    if (word != NULL)
        *out = (enum tenon_precision)word->value;
    return word != NULL;
}
