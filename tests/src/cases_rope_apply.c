/* Golden cases: vectors that are turned. */
#include <math.h>

#include "position_cases.h"

/* One rotation of `x` by positions (one, or one for each stream), in both columns. */
struct turn {
    const struct tenon_rope *rope;
    const double *x;
    double positions[TENON_ROPE_MAX_SECTIONS];
    bool back;
};

static void turn_f32(struct golden_case *c, const struct turn *turn,
                     const struct tenon_rope_table *table, const double *cosines,
                     const double *sines, double *out)
{
    uint32_t width = turn->rope->head_dim;
    float *x = case_room(c, width, sizeof(*x)), *y = case_room(c, width, sizeof(*y));

    for (uint32_t i = 0; i < width; i++)
        x[i] = (float)turn->x[i];
    tenon_rope_apply_f32(table, cosines, sines, x, y);
    for (uint32_t i = 0; i < width; i++)
        out[i] = (double)y[i];
}

static void turn_vector(struct golden_case *c, const struct turn *turn,
                        enum tenon_precision precision, double *out)
{
    struct tenon_rope_table table;
    double *cosines, *sines;

    if (!case_table(c, turn->rope, precision, &table))
        return;
    cosines = case_doubles(c, table.n_pairs);
    sines = case_doubles(c, table.n_pairs);
    tenon_rope_angles(&table, turn->positions, cosines, sines);
    for (uint32_t i = 0; i < table.n_pairs && turn->back; i++)
        sines[i] = -sines[i];
    if (precision == TENON_PRECISION_EXACT)
        tenon_rope_apply(&table, cosines, sines, turn->x, out);
    else
        turn_f32(c, turn, &table, cosines, sines, out);
    tenon_rope_table_release(&table);
}

/* Compares a vector that one turn gives. */
static void compare_turned(struct golden_case *c, const char *name, const struct turn *turn)
{
    double *out = case_doubles(c, turn->rope->head_dim);

    turn_vector(c, turn, TENON_PRECISION_EXACT, out);
    case_compare(c, name, out, turn->rope->head_dim, CASE_F64);
    turn_vector(c, turn, TENON_PRECISION_HF, out);
    case_compare(c, name, out, turn->rope->head_dim, CASE_F32);
}

static void compare_angles(struct golden_case *c, const struct turn *turn)
{
    struct tenon_rope_table table;
    double *angles;

    if (!case_table(c, turn->rope, TENON_PRECISION_EXACT, &table))
        return;
    angles = case_doubles(c, table.n_pairs);
    for (uint32_t i = 0; i < table.n_pairs; i++)
        angles[i] = turn->positions[table.axis[i]] * table.inv_freq[i];
    case_compare(c, "angles", angles, table.n_pairs, CASE_F64);
    tenon_rope_table_release(&table);
}

/* --- one vector at several positions --- */

/* Angles before the cosine, which the library keeps to itself. */
static void compare_theta(struct golden_case *c, const struct tenon_json_node *theta,
                          const double *cosines, uint32_t n)
{
    struct numbers angles = case_flatten(c, theta);

    for (size_t i = 0; i < angles.n && angles.n == n; i++)
        angles.at[i] = (double)cosf((float)angles.at[i]) - cosines[i];
    for (size_t i = 0; i < angles.n; i++)
        if (angles.n != n || fabs(angles.at[i]) > ldexp(1, -23))
            case_fail(c, "theta[%zu]: another angle, by the cosine", i);
}

/* float32 tables: the same steps, so nothing but the rounding of elementary functions differs. */
static void compare_table(struct golden_case *c, const struct tenon_rope *rope, const char *name,
                          enum tenon_precision precision)
{
    const struct tenon_json_node *row = tenon_json_node_get(c->expected, name);
    struct numbers positions = case_numbers(c, "positions");
    struct tenon_rope_table table;
    double *cosines, *sines;
    size_t i = 0;

    if (row == NULL || !case_table(c, rope, precision, &table))
        return;
    cosines = case_doubles(c, table.n_pairs);
    sines = case_doubles(c, table.n_pairs);
    row = tenon_json_node_first(row);
    for (; row != NULL && i < positions.n; row = tenon_json_node_next(row), i++) {
        tenon_rope_angles(&table, &positions.at[i], cosines, sines);
        case_compare_node(c, name, tenon_json_node_get(row, "cos"), cosines, table.n_pairs,
                          ldexp(1, -23));
        case_compare_node(c, name, tenon_json_node_get(row, "sin"), sines, table.n_pairs,
                          ldexp(1, -23));
        compare_theta(c, tenon_json_node_get(row, "theta"), cosines, table.n_pairs);
    }
    if (i == positions.n && row == NULL)
        case_see(c, name);
    tenon_rope_table_release(&table);
}

static void compare_rows(struct golden_case *c, const struct tenon_rope *rope)
{
    struct numbers positions = case_numbers(c, "positions");
    size_t width = rope->head_dim;
    double *rows = case_doubles(c, positions.n * width);

    for (int column = CASE_F64; column <= CASE_F32; column++) {
        for (size_t i = 0; i < positions.n; i++) {
            struct turn turn = {rope, case_numbers(c, "x").at, {positions.at[i]}, false};

            turn_vector(c, &turn, column == CASE_F64 ? TENON_PRECISION_EXACT : TENON_PRECISION_HF,
                        rows + i * width);
        }
        case_compare(c, "rows", rows, positions.n * width, (enum case_column)column);
    }
    compare_table(c, rope, "table_f32_hf", TENON_PRECISION_HF);
    compare_table(c, rope, "table_f32_ggml", TENON_PRECISION_GGML);
}

static void compare_matrix(struct golden_case *c, const struct tenon_rope *rope)
{
    size_t width = rope->head_dim;
    double *columns = case_doubles(c, width * width), *basis = case_doubles(c, width);

    for (size_t i = 0; i < width; i++) {
        struct turn turn = {rope, basis, {case_number(c, "position", 0)}, false};

        basis[i] = 1;
        turn_vector(c, &turn, TENON_PRECISION_EXACT, columns + i * width);
        basis[i] = 0;
    }
    case_compare(c, "columns_are_images_of_basis_vectors", columns, width * width, CASE_F64);
}

/* --- which stream a pair follows --- */

static void compare_axes(struct golden_case *c, struct tenon_rope rope)
{
    struct tenon_rope_table hf, ggml;
    double *axis, *ggml_axis, *differing, counts[TENON_ROPE_MAX_SECTIONS] = {0};
    size_t n_differing = 0, n_counts = 0;

    if (!case_table(c, &rope, TENON_PRECISION_EXACT, &hf))
        return;
    if (!case_table(c, &rope, TENON_PRECISION_GGML, &ggml)) {
        tenon_rope_table_release(&hf);
        return;
    }
    axis = case_doubles(c, hf.n_pairs);
    ggml_axis = case_doubles(c, hf.n_pairs);
    differing = case_doubles(c, hf.n_pairs);
    for (uint32_t i = 0; i < hf.n_pairs; i++) {
        axis[i] = hf.axis[i];
        ggml_axis[i] = ggml.axis[i];
        counts[hf.axis[i]]++;
        if (hf.axis[i] != ggml.axis[i])
            differing[n_differing++] = i;
        if (n_counts <= hf.axis[i])
            n_counts = (size_t)hf.axis[i] + 1;
    }
    case_compare(c, "axis_of_pair", axis, hf.n_pairs, CASE_F64);
    case_compare(c, "axis_of_pair_ggml", ggml_axis, hf.n_pairs, CASE_F64);
    case_compare(c, "counts", counts, n_counts, CASE_F64);
    case_compare(c, "pairs_that_differ_from_hf", differing, n_differing, CASE_F64);
    tenon_rope_table_release(&hf);
    tenon_rope_table_release(&ggml);
}

/* --- vision towers --- */

static void use_blocks(struct tenon_rope *rope, enum tenon_rope_axes axes)
{
    rope->axes = axes;
    rope->n_sections = 2;
    rope->sections[0] = rope->sections[1] = rope->rotary_dim / 4;
}

static void run_qwen_vision(struct golden_case *c, struct tenon_rope rope)
{
    struct numbers places = case_numbers(c, "hw");
    size_t n = places.n / 2, width = rope.head_dim;
    double *rows = case_doubles(c, n * width);
    struct tenon_rope_table table;

    use_blocks(&rope, TENON_AXES_BLOCKS);
    for (int column = CASE_F64; column <= CASE_F32; column++) {
        for (size_t i = 0; i < n; i++) {
            struct turn turn = {
                &rope, case_numbers(c, "x").at, {places.at[2 * i], places.at[2 * i + 1]}, false};

            turn_vector(c, &turn, column == CASE_F64 ? TENON_PRECISION_EXACT : TENON_PRECISION_HF,
                        rows + i * width);
        }
        case_compare(c, "y", rows, n * width, (enum case_column)column);
    }
    if (!case_table(c, &rope, TENON_PRECISION_EXACT, &table))
        return;
    case_compare(c, "freqs_per_axis", table.inv_freq, table.n_pairs / 2, CASE_F64);
    tenon_rope_table_release(&table);
}

/* Column and row count from 1; the class token, after all patches, does not turn. */
static void run_llama4_vision(struct golden_case *c, struct tenon_rope rope)
{
    double index = case_number(c, "patch_index", 0), grid = case_number(c, "grid", 1);
    struct turn turn = {&rope, case_numbers(c, "x").at, {0}, false};

    use_blocks(&rope, TENON_AXES_BLOCKS);
    if (index >= 0 && index < grid * grid) {
        turn.positions[0] = fmod(index, grid) + 1;
        turn.positions[1] = floor(index / grid) + 1;
    }
    compare_angles(c, &turn);
    compare_turned(c, "y", &turn);
}

static void run_two_coordinates(struct golden_case *c, struct tenon_rope rope, const char *first,
                                const char *second)
{
    struct turn turn = {&rope, case_numbers(c, "x").at, {0}, false};

    turn.positions[0] = case_number(c, first, 0);
    turn.positions[1] = case_number(c, second, 0);
    compare_angles(c, &turn);
    compare_turned(c, "y", &turn);
}

static void run_scheme(struct golden_case *c, struct tenon_rope rope)
{
    if (case_is(c, "scheme", "qwen2vl_vision")) {
        run_qwen_vision(c, rope);
    } else if (case_is(c, "scheme", "pixtral")) {
        rope.axes = TENON_AXES_SPLIT;
        run_two_coordinates(c, rope, "h", "w");
    } else if (case_is(c, "scheme", "llama4_vision")) {
        run_llama4_vision(c, rope);
    } else if (case_is(c, "scheme", "gemma4_vision")) {
        use_blocks(&rope, TENON_AXES_BLOCKS);
        run_two_coordinates(c, rope, "pos_dim0", "pos_dim1");
    } else {
        case_fail(c, "an unknown scheme");
    }
}

static void run_streams(struct golden_case *c, const struct tenon_rope *rope)
{
    struct numbers places = case_numbers(c, "position_thw");
    struct turn turn = {rope, case_numbers(c, "x").at, {0}, false};

    for (size_t i = 0; i < places.n && i < TENON_ROPE_MAX_SECTIONS; i++)
        turn.positions[i] = places.at[i];
    compare_axes(c, *rope);
    compare_angles(c, &turn);
    compare_turned(c, "y", &turn);
}

void run_rope_apply(struct golden_case *c)
{
    struct tenon_rope rope = case_rope(c);
    struct turn turn = {&rope, case_numbers(c, "x").at, {case_number(c, "position", 0)}, false};

    if (case_has(c, "scheme")) {
        run_scheme(c, rope);
    } else if (case_has(c, "position_thw")) {
        run_streams(c, &rope);
    } else if (case_has(c, "pairs")) {
        compare_axes(c, rope);
    } else if (case_has(c, "positions")) {
        compare_rows(c, &rope);
    } else if (!case_has(c, "x") && !case_has(c, "y")) {
        compare_matrix(c, &rope);
    } else {
        turn.back = case_true(c, "inverse");
        turn.x = turn.back ? case_numbers(c, "y").at : turn.x;
        compare_turned(c, turn.back ? "x" : "y", &turn);
    }
}
