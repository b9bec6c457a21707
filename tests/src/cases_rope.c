/* Golden cases: frequency tables, properties of them, precision of tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "position_cases.h"
#include "tenon/layer.h"

static const double *list_of(struct golden_case *c, const char *name, uint32_t *out_n)
{
    struct numbers list = case_numbers(c, name);

    *out_n = (uint32_t)list.n;
    return case_has(c, name) ? list.at : NULL;
}

static void read_scaling(struct golden_case *c, struct tenon_rope *rope)
{
    struct tenon_str type = case_text(c, "rope_type");

    if (type.len > 0 && !tenon_rope_scaling_find(type.data, type.len, &rope->scaling))
        case_fail(c, "no scaling is called '%.*s'", (int)type.len, type.data);
    rope->factor = case_number(c, "factor", rope->factor);
    rope->original = case_number(c, "original_max_position_embeddings", rope->original);
    rope->max_positions = case_number(c, "max_position_embeddings", rope->max_positions);
    rope->attention_factor = case_number(c, "attention_factor", rope->attention_factor);
    rope->mscale = case_number(c, "mscale", rope->mscale);
    rope->mscale_all_dim = case_number(c, "mscale_all_dim", rope->mscale_all_dim);
    rope->beta_fast = case_number(c, "beta_fast", rope->beta_fast);
    rope->beta_slow = case_number(c, "beta_slow", rope->beta_slow);
    rope->no_truncate = case_number(c, "truncate", 1) == 0;
    rope->extrapolation_factor = case_number(c, "extrapolation_factor", rope->extrapolation_factor);
    rope->attn_factor = case_number(c, "attn_factor", rope->attn_factor);
    rope->low_freq_factor = case_number(c, "low_freq_factor", rope->low_freq_factor);
    rope->high_freq_factor = case_number(c, "high_freq_factor", rope->high_freq_factor);
    rope->alpha = case_number(c, "alpha", rope->alpha);
    rope->short_factors = list_of(c, "short_factor", &rope->n_short_factors);
    rope->long_factors = list_of(c, "long_factor", &rope->n_long_factors);
}

static void read_widths(struct golden_case *c, struct tenon_rope *rope)
{
    double share = case_number(c, "partial_rotary_factor", 1);
    uint32_t head = case_u32(c, "head_dim", 0);

    rope->head_dim = head > 0 ? head : case_u32(c, "rotary_dim", 2 * case_u32(c, "pairs", 0));
    rope->rotary_dim = case_u32(c, "rotary_dim", rope->head_dim);
    rope->theta = case_number(c, "theta", rope->theta);
    if (rope->scaling == TENON_ROPE_PROPORTIONAL)
        rope->proportion = share;
    else if (!case_has(c, "rotary_dim"))
        rope->rotary_dim = (uint32_t)(share * rope->head_dim);
}

static enum tenon_rope_pairing pairing_of(struct golden_case *c)
{
    static const struct {
        const char *name;
        enum tenon_rope_pairing pairing;
    } styles[] = {
        {"", TENON_PAIR_HALF},
        {"half", TENON_PAIR_HALF},
        {"half per axis block", TENON_PAIR_BLOCK_HALF},
        {"interleaved", TENON_PAIR_INTERLEAVED},
        {"interleaved_to_half", TENON_PAIR_INTERLEAVED_TO_HALF},
    };
    struct tenon_str text = case_text(c, "style");
    char style[64];

    snprintf(style, sizeof(style), "%.*s", (int)text.len, text.data);
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        if (strcmp(styles[i].name, style) == 0)
            return styles[i].pairing;
    case_fail(c, "no pairing is called '%s'", style);
    return TENON_PAIR_HALF;
}

struct tenon_rope case_rope(struct golden_case *c)
{
    const char *sections = case_has(c, "mrope_section") ? "mrope_section" : "dimension_sections";
    struct numbers list = case_numbers(c, sections);
    struct tenon_rope rope;

    tenon_rope_init(&rope);
    read_scaling(c, &rope);
    read_widths(c, &rope);
    for (size_t i = 0; i < list.n && i < TENON_ROPE_MAX_SECTIONS; i++)
        rope.sections[rope.n_sections++] = (uint32_t)list.at[i];
    if (list.n > 0)
        rope.axes = case_true(c, "interleaved_mrope") || case_has(c, "dimension_sections")
                        ? TENON_AXES_INTERLEAVED
                        : TENON_AXES_CHUNKED;
    rope.pairing = pairing_of(c);
    rope.trailing = case_true(c, "trailing");
    if (case_number(c, "sign", 1) < 0)
        rope.pairing = TENON_PAIR_REVERSED;
    return rope;
}

bool case_table(struct golden_case *c, const struct tenon_rope *rope,
                enum tenon_precision precision, struct tenon_rope_table *table)
{
    struct tenon_error err = {0};

    return case_ok(
        c, tenon_rope_table_init(table, rope, precision, case_number(c, "seq_len", 0), &err), &err);
}

/* --- rope_inv_freq --- */

/* What the tables of one case are made of: with and without scaling. */
struct tables {
    struct tenon_rope rope, plain;
    struct tenon_rope_table exact, hf, ggml, unscaled;
};

static bool make_tables(struct golden_case *c, struct tables *t)
{
    t->rope = case_rope(c);
    t->plain = t->rope;
    t->plain.scaling = TENON_ROPE_DEFAULT;
    if (t->rope.scaling == TENON_ROPE_PROPORTIONAL)
        t->plain.rotary_dim = t->plain.head_dim;
    return case_table(c, &t->rope, TENON_PRECISION_EXACT, &t->exact) &&
           case_table(c, &t->rope, TENON_PRECISION_HF, &t->hf) &&
           case_table(c, &t->rope, TENON_PRECISION_GGML, &t->ggml) &&
           case_table(c, &t->plain, TENON_PRECISION_EXACT, &t->unscaled);
}

static void release_tables(struct tables *t)
{
    tenon_rope_table_release(&t->exact);
    tenon_rope_table_release(&t->hf);
    tenon_rope_table_release(&t->ggml);
    tenon_rope_table_release(&t->unscaled);
}

static void compare_frequencies(struct golden_case *c, const struct tables *t)
{
    uint32_t n = t->exact.n_pairs, turning = 0;
    double *wavelength = case_doubles(c, n);

    for (uint32_t i = 0; i < n; i++) {
        wavelength[i] = 2 * acos(-1) / t->exact.inv_freq[i];
        turning += t->exact.inv_freq[i] != 0;
    }
    case_compare(c, "inv_freq", t->exact.inv_freq, n, CASE_F64);
    case_compare(c, "inv_freq", t->hf.inv_freq, n, CASE_F32);
    case_compare(c, "inv_freq_f32_hf", t->hf.inv_freq, n, CASE_F32);
    case_compare(c, "inv_freq_f32_ggml", t->ggml.inv_freq, n, CASE_F32);
    case_compare(c, "wavelength", wavelength, n, CASE_F64);
    case_compare(c, "inv_freq_nonzero", t->exact.inv_freq, turning, CASE_F64);
    case_compare_one(c, "rope_angles", turning, CASE_F64);
    if (n >= 4) {
        case_compare(c, "inv_freq_first4", t->exact.inv_freq, 4, CASE_F64);
        case_compare(c, "inv_freq_first4", t->hf.inv_freq, 4, CASE_F32);
        case_compare(c, "inv_freq_last2", t->exact.inv_freq + n - 2, 2, CASE_F64);
        case_compare(c, "inv_freq_last2", t->hf.inv_freq + n - 2, 2, CASE_F32);
    }
}

static void compare_scalars(struct golden_case *c, const struct tables *t)
{
    const char *used = t->exact.long_factors ? "long" : "short";
    double kernel = t->ggml.attention_factor / (double)t->ggml.ggml.attn_factor;

    case_compare_one(c, "rotary_dim", t->rope.rotary_dim, CASE_F64);
    case_compare_one(c, "effective_base", t->exact.base, CASE_F64);
    case_compare_one(c, "effective_base", t->hf.base, CASE_F32);
    case_compare_one(c, "attention_factor", t->exact.attention_factor, CASE_F64);
    case_compare_one(c, "attention_factor", t->hf.attention_factor, CASE_F32);
    case_compare_one(c, "attention_factor", t->ggml.attention_factor, CASE_F32);
    case_compare_one(c, "ggml_kernel_mscale", kernel, CASE_F32);
    case_compare_one(c, "ggml_attn_factor_argument", (double)t->ggml.ggml.attn_factor, CASE_F32);
    case_compare_one(c, "softmax_scale_multiplier", tenon_rope_softmax_scale(&t->rope), CASE_F64);
    case_compare_words(c, "used", &used, 1);
}

/* The limits of the ramp; the ramp itself from what it did to the frequencies. */
static void compare_ramp(struct golden_case *c, const struct tables *t)
{
    uint32_t n = t->exact.n_pairs;
    double *ramp = case_doubles(c, n), limits[2], raw_limits[2], raw_wanted[2];
    struct numbers raw = case_flatten(c, tenon_json_node_get(c->expected, "corr_raw"));
    double s = isnan(t->rope.factor) ? t->rope.max_positions / t->rope.original : t->rope.factor;
    struct tenon_rope whole = t->rope;
    struct tenon_rope_table table;

    limits[0] = t->exact.ramp_low;
    limits[1] = t->exact.ramp_high;
    case_compare(c, "low_high", limits, 2, CASE_F64);
    for (uint32_t i = 0; i < n; i++)
        ramp[i] = (t->unscaled.inv_freq[i] - t->exact.inv_freq[i]) /
                  (t->unscaled.inv_freq[i] - t->unscaled.inv_freq[i] / s);
    case_compare(c, "ramp", ramp, n, CASE_F64);
    if (raw.n != 2)
        return;
    whole.no_truncate = true; /* what is left is the clamping */
    if (!case_table(c, &whole, TENON_PRECISION_EXACT, &table))
        return;
    raw_limits[0] = table.ramp_low;
    raw_limits[1] = table.ramp_high;
    raw_wanted[0] = fmax(raw.at[0], 0);
    raw_wanted[1] = fmin(raw.at[1], t->rope.rotary_dim - 1.0);
    tenon_rope_table_release(&table);
    for (int i = 0; i < 2; i++)
        if (!(fabs(raw_limits[i] - raw_wanted[i]) <=
              case_tolerance(c, CASE_F64) * fabs(raw_wanted[i])))
            case_fail(c, "corr_raw[%d]: %.17g instead of %.17g", i, raw_limits[i], raw_wanted[i]);
    c->n_compared++;
    case_see(c, "corr_raw");
}

static void compare_zones(struct golden_case *c, const struct tables *t)
{
    uint32_t n = t->exact.n_pairs;
    const char **zones = case_room(c, n, sizeof(*zones));
    double *divisors = case_doubles(c, n);

    for (uint32_t i = 0; i < n; i++) {
        double plain = t->unscaled.inv_freq[i];

        divisors[i] = plain / t->exact.inv_freq[i];
        zones[i] = t->exact.inv_freq[i] == plain                    ? "keep"
                   : t->exact.inv_freq[i] == plain / t->rope.factor ? "divide"
                                                                    : "smooth";
    }
    case_compare_words(c, "zone", zones, n);
    case_compare(c, "gguf_rope_freqs_weight", divisors, n, CASE_F64);
    for (uint32_t i = 0; i < n && t->ggml.divisors != NULL; i++)
        divisors[i] = (double)t->ggml.divisors[i];
    case_compare(c, "gguf_rope_freqs_weight", divisors, n, CASE_F32);
}

void run_rope_inv_freq(struct golden_case *c)
{
    struct tables t = {0};

    if (make_tables(c, &t)) {
        compare_frequencies(c, &t);
        compare_scalars(c, &t);
        if (t.rope.scaling == TENON_ROPE_YARN)
            compare_ramp(c, &t);
        compare_zones(c, &t);
    }
    release_tables(&t);
}

/* --- rope_property --- */

/* The inner product of q at position m with k at position n. */
static double score(struct golden_case *c, const struct tenon_rope_table *table, double m, double n)
{
    uint32_t width = table->rope.head_dim;
    double *cosines = case_doubles(c, width), *sines = case_doubles(c, width);
    double *turned_q = case_doubles(c, width), *turned_k = case_doubles(c, width);
    double sum = 0;

    tenon_rope_angles(table, &m, cosines, sines);
    tenon_rope_apply(table, cosines, sines, case_numbers(c, "q").at, turned_q);
    tenon_rope_angles(table, &n, cosines, sines);
    tenon_rope_apply(table, cosines, sines, case_numbers(c, "k").at, turned_k);
    for (uint32_t i = 0; i < width; i++)
        sum += turned_q[i] * turned_k[i];
    return sum;
}

static void compare_dots(struct golden_case *c, const struct tenon_rope_table *table)
{
    const struct tenon_json_node *node = tenon_json_node_get(c->expected, "dots");

    for (node = tenon_json_node_first(node); node != NULL; node = tenon_json_node_next(node)) {
        double m = 0, n = 0, got;

        tenon_json_node_float(tenon_json_node_get(node, "m"), &m);
        tenon_json_node_float(tenon_json_node_get(node, "n"), &n);
        got = score(c, table, m, n);
        case_compare_node(c, "dot", tenon_json_node_get(node, "dot"), &got, 1,
                          case_tolerance(c, CASE_F64));
    }
    case_see(c, "dots");
}

static void compare_decay(struct golden_case *c, const struct tenon_rope_table *table)
{
    struct numbers distances = case_numbers(c, "distance");
    double *means = case_doubles(c, distances.n);
    double *cosines = case_doubles(c, table->n_pairs), *sines = case_doubles(c, table->n_pairs);

    for (size_t i = 0; i < distances.n; i++) {
        tenon_rope_angles(table, &distances.at[i], cosines, sines);
        for (uint32_t j = 0; j < table->n_pairs; j++)
            means[i] += cosines[j] / table->n_pairs;
    }
    case_compare(c, "mean_cos", means, distances.n, CASE_F64);
}

static void compare_turns(struct golden_case *c, const struct tenon_rope_table *table)
{
    double context = case_number(c, "context", 0), turn = 2 * acos(-1);
    struct tenon_rope limit = table->rope;
    struct tenon_rope_table ramp;
    unsigned complete = 0;

    for (uint32_t i = 0; i < table->n_pairs; i++)
        complete += turn / table->inv_freq[i] <= context;
    case_compare_one(c, "shortest", turn / table->inv_freq[0], CASE_F64);
    case_compare_one(c, "longest", turn / table->inv_freq[table->n_pairs - 1], CASE_F64);
    case_compare_one(c, "pairs_completing_a_turn", complete, CASE_F64);
    limit.scaling = TENON_ROPE_YARN; /* its slow limit is the pair that turns once */
    limit.no_truncate = true;
    limit.original = context;
    limit.factor = 1;
    if (!case_table(c, &limit, TENON_PRECISION_EXACT, &ramp))
        return;
    case_compare_one(c, "real_valued_index", ramp.ramp_high, CASE_F64);
    tenon_rope_table_release(&ramp);
}

void run_rope_property(struct golden_case *c)
{
    struct tenon_rope rope = case_rope(c);
    struct tenon_rope_table table;

    if (!case_table(c, &rope, TENON_PRECISION_EXACT, &table))
        return;
    if (case_has(c, "q"))
        compare_dots(c, &table);
    if (case_has(c, "distance"))
        compare_decay(c, &table);
    if (case_has(c, "context"))
        compare_turns(c, &table);
    tenon_rope_table_release(&table);
}

/* --- rope_precision --- */

/* Distance of neighbouring numbers of a type around `value`. */
static double ulp_of(enum tenon_dtype dtype, double value)
{
    int exponent, digits = dtype == TENON_DTYPE_BF16 ? 8 : 11;

    frexp(value, &exponent);
    if (dtype == TENON_DTYPE_F16 && exponent < -13)
        exponent = -13;
    return ldexp(1, exponent - digits);
}

/* One field such as "cos_bf16" of one row. */
static void compare_cast(struct golden_case *c, const struct tenon_json_node *row, const char *name,
                         const double *values, uint32_t n)
{
    enum tenon_dtype dtype = strstr(name, "bf16") != NULL ? TENON_DTYPE_BF16 : TENON_DTYPE_F16;
    struct numbers wanted = case_flatten(c, tenon_json_node_get(row, name));
    double ulps = 0;

    tenon_json_node_float(tenon_json_node_get(c->tolerance, "ulp"), &ulps);
    if (tenon_json_node_get(row, name) == NULL)
        return;
    c->n_compared++;
    if (wanted.n != n) {
        case_fail(c, "%s: %u numbers instead of %zu", name, n, wanted.n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        double got = tenon_value_round(dtype, values[i]);

        if (fabs(got - wanted.at[i]) > ulps * ulp_of(dtype, wanted.at[i]))
            case_fail(c, "%s[%u]: %.9g instead of %.9g", name, i, got, wanted.at[i]);
    }
}

void run_rope_precision(struct golden_case *c)
{
    const struct tenon_json_node *row = tenon_json_node_get(c->expected, "rows");
    struct numbers positions = case_numbers(c, "positions");
    struct tenon_rope rope = case_rope(c);
    struct tenon_rope_table table;
    size_t i = 0;

    if (!case_table(c, &rope, TENON_PRECISION_HF, &table))
        return;
    row = tenon_json_node_first(row);
    for (; row != NULL && i < positions.n; row = tenon_json_node_next(row), i++) {
        double *cosines = case_doubles(c, table.n_pairs), *sines = case_doubles(c, table.n_pairs);

        tenon_rope_angles(&table, &positions.at[i], cosines, sines);
        compare_cast(c, row, "cos_bf16", cosines, table.n_pairs);
        compare_cast(c, row, "sin_bf16", sines, table.n_pairs);
        compare_cast(c, row, "cos_f16", cosines, table.n_pairs);
        compare_cast(c, row, "sin_f16", sines, table.n_pairs);
    }
    if (i == positions.n && row == NULL)
        case_see(c, "rows");
    tenon_rope_table_release(&table);
}
