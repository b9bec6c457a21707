/* Golden cases: biases, scales by position, rows that change places. */
#include <math.h>

#include "position_cases.h"
#include "tenon/bias.h"
#include "tenon/permute.h"

/* --- alibi --- */

/* MPT's own way: slopes of the next higher power of two, every second one first. */
static void mpt_slopes(uint32_t n, double max_bias, double *out)
{
    uint32_t all = 1;

    while (all < n)
        all *= 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = all == n ? i : i < all / 2 ? 2 * i + 1 : 2 * (i - all / 2);

        out[i] = 1 / pow(2, (place + 1) * max_bias / all);
    }
}

static bool agree(const double *a, const double *b, uint32_t n, double within)
{
    for (uint32_t i = 0; i < n; i++)
        if (fabs(a[i] - b[i]) > within * fabs(a[i]))
            return false;
    return true;
}

static const struct {
    const char *name;
    enum tenon_alibi_form form;
} forms[] = {
    {"bias_bloom", TENON_ALIBI_KEYS},
    {"bias_ggml", TENON_ALIBI_DISTANCE},
    {"bias_mpt", TENON_ALIBI_LAST},
    {"bias_falcon", TENON_ALIBI_ROUNDED},
};

static void compare_alibi_rows(struct golden_case *c, const double *slopes, uint32_t n_heads)
{
    uint32_t n_keys = case_u32(c, "k_len", case_u32(c, "seq_len", 0));
    uint32_t n_queries = case_u32(c, "q_len", n_keys);
    double *rows = case_doubles(c, (size_t)n_heads * n_queries * n_keys);

    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        double *row = rows;

        for (uint32_t h = 0; h < n_heads; h++) {
            struct tenon_alibi alibi = {forms[f].form, slopes[h], case_u32(c, "head_dim", 1)};

            for (uint32_t q = 0; q < n_queries; q++, row += n_keys)
                tenon_alibi_row(&alibi, q, n_keys, row);
        }
        case_compare(c, forms[f].name, rows, (size_t)n_heads * n_queries * n_keys, CASE_F64);
    }
}

void run_alibi(struct golden_case *c)
{
    uint32_t n = case_u32(c, "n_head", 0);
    double max_bias = case_number(c, "max_bias", 8), *exact = case_doubles(c, n);
    double *hf = case_doubles(c, n), *ggml = case_doubles(c, n), *mpt = case_doubles(c, n);

    tenon_alibi_slopes(n, max_bias, TENON_PRECISION_EXACT, exact);
    tenon_alibi_slopes(n, max_bias, TENON_PRECISION_HF, hf);
    tenon_alibi_slopes(n, max_bias, TENON_PRECISION_GGML, ggml);
    mpt_slopes(n, max_bias, mpt);
    case_compare(c, "slopes", exact, n, CASE_F64);
    case_compare(c, "slopes", hf, n, CASE_F32);
    case_compare(c, "slopes_ggml", exact, n, CASE_F64);
    case_compare(c, "slopes_ggml", ggml, n, CASE_F32);
    case_compare(c, "slopes_mpt", exact, n, CASE_F64);
    case_compare_one(c, "ggml_formula_agrees", agree(exact, ggml, n, case_tolerance(c, CASE_F32)),
                     CASE_F64);
    case_compare_one(c, "mpt_formula_agrees", agree(exact, mpt, n, case_tolerance(c, CASE_F64)),
                     CASE_F64);
    compare_alibi_rows(c, exact, n);
}

/* --- t5, deberta --- */

static void compare_buckets(struct golden_case *c, struct tenon_t5_bias t5)
{
    struct numbers distances = case_numbers(c, "relative_position");
    double *buckets = case_doubles(c, distances.n);

    for (int p = TENON_PRECISION_EXACT; p <= TENON_PRECISION_GGML; p++) {
        t5.precision = (enum tenon_precision)p;
        for (size_t i = 0; i < distances.n; i++)
            buckets[i] = tenon_t5_bucket(&t5, (int64_t)distances.at[i]);
        case_compare(c, "bucket", buckets, distances.n, CASE_F64);
    }
}

static void compare_t5_bias(struct golden_case *c, struct tenon_t5_bias t5)
{
    uint32_t heads = case_u32(c, "n_head", 0), queries = case_u32(c, "q_len", 0);
    uint32_t keys = case_u32(c, "k_len", 0);
    struct numbers table = case_numbers(c, "table");
    double *column = case_doubles(c, t5.n_buckets);
    double *bias = case_doubles(c, (size_t)heads * queries * keys), *row = bias;

    if (table.n != (size_t)t5.n_buckets * heads)
        return;
    for (uint32_t h = 0; h < heads; h++) {
        for (uint32_t b = 0; b < t5.n_buckets; b++)
            column[b] = table.at[(size_t)b * heads + h];
        for (uint32_t q = 0; q < queries; q++, row += keys)
            tenon_t5_row(&t5, column, q, keys, row);
    }
    case_compare(c, "bias_head_q_k", bias, (size_t)heads * queries * keys, CASE_F64);
}

void run_t5_bias(struct golden_case *c)
{
    struct tenon_t5_bias t5 = {
        .bidirectional = case_true(c, "bidirectional"),
        .n_buckets = case_u32(c, "num_buckets", 32),
        .max_distance = case_u32(c, "max_distance", 128),
    };
    struct tenon_error err = {0};

    if (!case_ok(c, tenon_t5_check(&t5, &err), &err))
        return;
    compare_buckets(c, t5);
    compare_t5_bias(c, t5);
}

void run_deberta(struct golden_case *c)
{
    struct tenon_deberta d = {
        .max_distance = case_u32(c, "max_relative_positions", case_u32(c, "max_position", 512)),
        .buckets = case_u32(c, "position_buckets", case_u32(c, "bucket_size", 0)),
    };
    uint32_t queries = case_u32(c, "q_len", 0), keys = case_u32(c, "k_len", 0);
    size_t n = (size_t)queries * keys;
    struct numbers distances = case_numbers(c, "relative_position");
    double *content = case_doubles(c, n), *position = case_doubles(c, n);
    double *buckets = case_doubles(c, distances.n);
    struct tenon_error err = {0};

    if (!case_ok(c, tenon_deberta_check(&d, &err), &err))
        return;
    for (size_t i = 0; i < n; i++) {
        content[i] = tenon_deberta_content_row(&d, (int64_t)(i / keys), (int64_t)(i % keys));
        position[i] = tenon_deberta_position_row(&d, (int64_t)(i / keys), (int64_t)(i % keys));
    }
    for (size_t i = 0; i < distances.n; i++)
        buckets[i] = (double)tenon_deberta_distance(&d, (int64_t)distances.at[i]);
    case_compare(c, "c2p", content, n, CASE_F64);
    case_compare(c, "p2c", position, n, CASE_F64);
    case_compare(c, "bucket", buckets, distances.n, CASE_F64);
}

/* --- scales by position --- */

void run_attention_scale(struct golden_case *c)
{
    struct numbers positions = case_numbers(c, "positions");
    double *scales = case_doubles(c, positions.n);

    for (size_t i = 0; i < positions.n; i++)
        scales[i] = tenon_attention_temperature(positions.at[i], case_number(c, "floor_scale", 1),
                                                case_number(c, "attn_scale", 0));
    case_compare(c, "scale", scales, positions.n, CASE_F64);
}

void run_xpos(struct golden_case *c)
{
    struct tenon_xpos xpos = {
        .rotary_dim = case_u32(c, "rotary_dim", 0),
        .scale_base = case_number(c, "scale_base", 512),
        .length = case_u32(c, "seqlen", 0),
    };
    size_t pairs = xpos.rotary_dim / 2, n = (size_t)xpos.length * pairs;
    double *base = case_doubles(c, pairs), *q = case_doubles(c, n), *k = case_doubles(c, n);

    /* a whole scale_base past the middle the exponent is 1 */
    tenon_xpos_scales(&xpos, (double)(xpos.length / 2) + xpos.scale_base, base);
    for (size_t p = 0; p < xpos.length; p++)
        tenon_xpos_scales(&xpos, (double)p, q + p * pairs);
    for (size_t i = 0; i < n; i++)
        k[i] = 1 / q[i];
    case_compare(c, "base_scale", base, pairs, CASE_F64);
    case_compare(c, "q_scale_rows", q, n, CASE_F64);
    case_compare(c, "k_scale_rows", k, n, CASE_F64);
}

/* --- permute --- */

struct permutation {
    const char *name;
    enum tenon_permute how;
    uint32_t heads;
};

static void compare_map(struct golden_case *c, const struct permutation *p)
{
    uint32_t width = case_u32(c, "head_dim", 0), rotary = case_u32(c, "rotary_dim", width);
    size_t n = (size_t)p->heads * width;
    uint64_t *map = case_room(c, n, sizeof(*map));
    double *values = case_doubles(c, n);
    struct tenon_error err = {0};

    if (!case_expects(c, p->name) ||
        !case_ok(c, tenon_permute_map(p->how, p->heads, width, rotary, map, &err), &err))
        return;
    for (size_t i = 0; i < n; i++)
        values[i] = (double)map[i];
    case_compare(c, p->name, values, n, CASE_F64);
}

static void compare_fused(struct golden_case *c)
{
    static const char *const names[] = {"q_rows", "k_rows", "v_rows"};
    uint32_t heads = case_u32(c, "n_head", 1), kv = case_u32(c, "n_head_kv", heads);
    struct tenon_fused fused = {kv == heads ? TENON_FUSED_PER_HEAD : TENON_FUSED_GROUPED, heads, kv,
                                case_u32(c, "head_dim", 0)};

    for (int part = TENON_PART_Q; part <= TENON_PART_V; part++) {
        size_t n = (size_t)(part == TENON_PART_Q ? heads : kv) * fused.head_dim;
        uint64_t *rows = case_room(c, n, sizeof(*rows));
        double *values = case_doubles(c, n);
        struct tenon_error err = {0};

        if (!case_ok(c, tenon_fused_rows(&fused, (enum tenon_fused_part)part, rows, &err), &err))
            return;
        for (size_t i = 0; i < n; i++)
            values[i] = (double)rows[i];
        case_compare(c, names[part], values, n, CASE_F64);
    }
}

void run_permute(struct golden_case *c)
{
    uint32_t heads = case_u32(c, "n_head", 1), kv = case_u32(c, "n_head_kv", heads);
    bool partial = case_has(c, "rotary_dim"); /* GLM-4: interleaved rows as halves */
    const struct permutation all[] = {
        {"hf_to_gguf_source_row", TENON_PERMUTE_TO_INTERLEAVED, heads},
        {"gguf_to_hf_source_row", TENON_PERMUTE_TO_HALF, heads},
        {"q_source_row", TENON_PERMUTE_TO_INTERLEAVED, heads},
        {"k_source_row", TENON_PERMUTE_TO_INTERLEAVED, kv},
        {"source_row", partial ? TENON_PERMUTE_TO_HALF : TENON_PERMUTE_AXES_APART, heads},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        compare_map(c, &all[i]);
    if (case_expects(c, "q_rows"))
        compare_fused(c);
}
