/* Are the two float32 profiles what PyTorch models and ggml compute, also at long positions?
 * Numbers: testdata/golden/rope.txt, see the README there. `test_rope_golden FILE` */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_lines.h"
#include "tenon/rope.h"

#define MOST 128

/* One rotation of the file; the numbers that are being read at the moment. */
struct reading {
    char name[64];
    struct tenon_rope rope;
    double length;
    double shorts[MOST], longs[MOST];
    float divisors[MOST];
    struct tenon_rope_table hf, ggml;
    bool made;
    double position;
};

struct counts {
    size_t same, close, far;
};

static size_t read_row(char *rest, double *out)
{
    size_t n = 0;

    for (char *word; n < MOST && (word = gen_word_take(&rest)) != NULL;)
        out[n++] = strtod(word, NULL);
    return n;
}

/* Numbers of the tuple by the words that the file has for them. */
static double *field_of(struct tenon_rope *rope, const char *word)
{
    const struct {
        const char *word;
        double *field;
    } fields[] = {
        {"theta", &rope->theta},
        {"factor", &rope->factor},
        {"original", &rope->original},
        {"max_positions", &rope->max_positions},
        {"low_freq_factor", &rope->low_freq_factor},
        {"high_freq_factor", &rope->high_freq_factor},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (strcmp(fields[i].word, word) == 0)
            return fields[i].field;
    }
    return NULL;
}

static bool take_parameter(struct reading *r, const char *word, char *rest)
{
    double *field = field_of(&r->rope, word);

    if (field != NULL)
        *field = strtod(rest, NULL);
    else if (strcmp(word, "scaling") == 0)
        return tenon_rope_scaling_find(rest, strlen(rest), &r->rope.scaling);
    else if (strcmp(word, "width") == 0)
        r->rope.head_dim = r->rope.rotary_dim = (uint32_t)strtoul(rest, NULL, 10);
    else if (strcmp(word, "length") == 0)
        r->length = strtod(rest, NULL);
    else if (strcmp(word, "truncate") == 0)
        r->rope.no_truncate = strtod(rest, NULL) == 0;
    else if (strcmp(word, "short_factors") == 0) {
        r->rope.n_short_factors = (uint32_t)read_row(rest, r->shorts);
        r->rope.short_factors = r->shorts;
    } else if (strcmp(word, "long_factors") == 0) {
        r->rope.n_long_factors = (uint32_t)read_row(rest, r->longs);
        r->rope.long_factors = r->longs;
    } else
        return false;
    return true;
}

/* Counts how near `found` is: the same bits, within `bound`, or not. */
static void judge(struct counts *counts, const struct reading *r, const char *what, size_t i,
                  double found, double wanted, double bound)
{
    if ((float)found == (float)wanted)
        counts->same++;
    else if (fabs(found - wanted) <= bound)
        counts->close++;
    else {
        counts->far++;
        printf("%s: %s %zu at %.0f: %.9g instead of %.9g\n", r->name, what, i, r->position, found,
               wanted);
    }
}

/* Values of one line. A frequency may be another float32 neighbour, because powers are not always
 * rounded correctly by the reference; what an angle then differs by grows with the position. */
static bool take_values(struct counts *counts, struct reading *r, const char *word, char *rest)
{
    bool ggml = strncmp(word, "ggml_", 5) == 0;
    const struct tenon_rope_table *table = ggml ? &r->ggml : &r->hf;
    const char *what = strchr(word, '_');
    double values[MOST], angles[2][MOST], positions[TENON_ROPE_MAX_SECTIONS] = {r->position};
    size_t n = read_row(rest, values);

    if (what == NULL)
        return false;
    tenon_rope_angles(table, positions, angles[0], angles[1]);
    for (size_t i = 0; i < n; i++) {
        double f = table->inv_freq[i], ulp = ldexp(1, -23), m = table->attention_factor;

        if (strcmp(what, "_magnitude") == 0)
            judge(counts, r, word, i, m, values[i], m * ulp);
        else if (strcmp(what, "_frequencies") == 0)
            judge(counts, r, word, i, f, values[i], f * ulp);
        else
            judge(counts, r, word, i, angles[strcmp(what, "_sin") == 0][i], values[i],
                  m * (r->position * f + 2) * ulp);
    }
    return n > 0;
}

/* Both tables, once all parameters are known. */
static bool make_tables(struct reading *r, char *divisors)
{
    struct tenon_rope with = r->rope;
    struct tenon_error err = {0};
    double row[MOST];

    tenon_rope_table_release(&r->ggml);
    if (divisors != NULL) {
        with.scaling = TENON_ROPE_DEFAULT;
        with.n_freq_factors = (uint32_t)read_row(divisors, row);
        for (uint32_t i = 0; i < with.n_freq_factors; i++)
            r->divisors[i] = (float)row[i];
        with.freq_factors = r->divisors;
    }
    if (tenon_rope_table_init(&r->ggml, &with, TENON_PRECISION_GGML, r->length, &err) != TENON_OK)
        printf("%s: %s\n", r->name, err.message);
    if (!r->made &&
        tenon_rope_table_init(&r->hf, &r->rope, TENON_PRECISION_HF, r->length, &err) != TENON_OK)
        printf("%s: %s\n", r->name, err.message);
    r->made = true;
    return err.status == TENON_OK;
}

static bool begin(struct reading *r, const char *name)
{
    tenon_rope_table_release(&r->hf);
    tenon_rope_table_release(&r->ggml);
    *r = (struct reading){0};
    tenon_rope_init(&r->rope);
    snprintf(r->name, sizeof(r->name), "%s", name);
    return true;
}

static bool take(struct counts *counts, struct reading *r, const char *word, char *rest)
{
    if (strcmp(word, "rotation") == 0)
        return begin(r, rest);
    if (strcmp(word, "ggml_divisors") == 0)
        return make_tables(r, r->rope.scaling == TENON_ROPE_LLAMA3 ? rest : NULL);
    if (strcmp(word, "at") == 0) {
        r->position = strtod(rest, NULL);
        return true;
    }
    if (strchr(word, '_') != NULL &&
        (strncmp(word, "hf_", 3) == 0 || strncmp(word, "ggml_", 5) == 0))
        return (r->made || make_tables(r, NULL)) && take_values(counts, r, word, rest);
    return take_parameter(r, word, rest);
}

int main(int argc, char **argv)
{
    static struct reading r; /* all zero */
    struct counts counts = {0};
    struct gen_lines lines;
    bool ended = false;

    if (argc != 2)
        return 2;
    gen_lines_open(&lines, argv[1]);
    for (char *rest; !ended && (rest = gen_line_take(&lines)) != NULL;) {
        const char *word = gen_word_need(&lines, &rest);

        ended = strcmp(word, "end") == 0;
        if (!ended && !take(&counts, &r, word, rest))
            gen_lines_die(argv[1], word);
    }
    begin(&r, "");
    gen_lines_release(&lines);
    printf("%zu values the same, %zu within their bound, %zu beyond\n", counts.same, counts.close,
           counts.far);
    return counts.far != 0 || !ended || counts.same == 0;
}
