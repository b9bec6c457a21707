#include "embed_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Tokens that are made at a time where a sequence need not be seen as a whole. */
enum { PIECE = 256 };

static enum tenon_status fail_memory(struct tenon_error *err)
{
    return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
}

enum tenon_status tenon_stage_begin(struct tenon_stage_run *run, const struct tenon_model *model,
                                    const struct tenon_input_options *options,
                                    struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (run->stage == TENON_STAGE_TOKEN)
        return TENON_OK;
    if (run->stage == TENON_STAGE_QK) {
        st = tenon_qk_new(model, options, &run->qk, err);
        if (st == TENON_OK) {
            run->shape = tenon_qk_shape(run->qk);
            run->input = tenon_qk_input(run->qk);
        }
        return st;
    }
    st = tenon_input_new(model, options, &run->own_input, err);
    run->input = run->own_input;
    return st;
}

void tenon_stage_release(struct tenon_stage_run *run)
{
    tenon_qk_free(run->qk);
    tenon_input_free(run->own_input);
    free(run->first);
    free(run->second);
    free(run->streams);
    free(run->positions);
    *run = (struct tenon_stage_run){0};
}

/* --- pieces of sequences --- */

/* The sequence that id `i` belongs to, as a range. */
static void find_sequence(const struct tenon_ids *ids, size_t i, size_t *begin, size_t *end)
{
    size_t s = 0, high = ids->n_sequences - 1;

    while (s < high) {
        size_t middle = s + (high - s) / 2;

        if (i >= ids->ends[middle])
            s = middle + 1;
        else
            high = middle;
    }
    *begin = s > 0 ? ids->ends[s - 1] : 0;
    *end = ids->ends[s];
}

static size_t values_of(const struct tenon_stage_run *run, bool second)
{
    if (run->qk == NULL)
        return second ? 0 : tenon_input_width(run->input);
    return (size_t)(second ? run->shape.kv_heads : run->shape.heads) * run->shape.head_dim;
}

/* Room for `n` tokens. */
static enum tenon_status make_room(struct tenon_stage_run *run, size_t n, struct tenon_error *err)
{
    size_t width = values_of(run, false) + values_of(run, true) + 1;
    double *first, *second, *streams;

    if (n <= run->room)
        return TENON_OK;
    if (n > SIZE_MAX / sizeof(double) / width)
        return fail_memory(err);
    first = realloc(run->first, (n * values_of(run, false) + 1) * sizeof(double));
    if (first != NULL)
        run->first = first;
    second = realloc(run->second, (n * values_of(run, true) + 1) * sizeof(double));
    if (second != NULL)
        run->second = second;
    streams = realloc(run->streams, (n * TENON_ROPE_MAX_SECTIONS + 1) * sizeof(double));
    if (streams != NULL)
        run->streams = streams;
    if (first == NULL || second == NULL || streams == NULL)
        return fail_memory(err);
    run->room = n;
    return TENON_OK;
}

/* Makes the vectors of the piece that id `i` is in. */
static enum tenon_status make_piece(struct tenon_stage_run *run, size_t i, struct tenon_error *err)
{
    const struct tenon_stage_tokens *given = &run->tokens;
    struct tenon_tokens tokens = {.n_streams = given->n_streams};
    size_t begin = 0, end = 0, from;
    enum tenon_status st;

    find_sequence(given->ids, i, &begin, &end);
    from = begin;
    if (!tenon_input_needs_all(run->input)) {
        from = begin + (i - begin) / PIECE * PIECE;
        end = end - from > PIECE ? from + PIECE : end;
    }
    tokens.n = end - from;
    tokens.ids = given->ids->ids + from;
    tokens.types = given->types != NULL ? given->types->ids + from : NULL;
    tokens.start = (int64_t)(given->start + (from - begin));
    run->begin = run->end = 0;
    st = make_room(run, tokens.n, err);
    if (st != TENON_OK)
        return st;
    for (size_t s = 0; s < given->n_streams; s++) {
        tokens.positions[s] = run->streams + s * tokens.n;
        for (size_t k = 0; k < tokens.n; k++)
            run->streams[s * tokens.n + k] = (double)given->positions[s]->ids[from + k];
    }
    st = run->qk != NULL ? tenon_qk_rows(run->qk, &tokens, run->first, run->second, NULL, err)
                         : tenon_input_rows(run->input, &tokens, run->first, err);
    if (st == TENON_OK) {
        run->begin = from;
        run->end = end;
    }
    return st;
}

/* Rows `first` on of the vectors (or keys); `per_id` of them for each id. */
static enum tenon_status copy_rows(struct tenon_stage_run *run, bool second, uint64_t first,
                                   size_t n, float *out, struct tenon_error *err)
{
    uint64_t per_id = run->qk == NULL ? 1 : second ? run->shape.kv_heads : run->shape.heads;
    size_t cols = run->qk == NULL ? tenon_input_width(run->input) : run->shape.head_dim;

    for (size_t k = 0; k < n; k++) {
        size_t id = (size_t)((first + k) / per_id);
        const double *from;

        if (id < run->begin || id >= run->end) {
            enum tenon_status st = make_piece(run, id, err);

            if (st != TENON_OK)
                return st;
        }
        from = (second ? run->second : run->first) +
               ((id - run->begin) * per_id + (first + k) % per_id) * cols;
        for (size_t c = 0; c < cols; c++)
            *out++ = (float)from[c];
    }
    return TENON_OK;
}

static enum tenon_status rows_of_first(void *user, uint64_t first, size_t n, float *out,
                                       struct tenon_error *err)
{
    struct tenon_stage_run *run = user;
    enum tenon_status st = copy_rows(run, false, first, n, out, err);

    if (st == TENON_OK && run->picture != NULL)
        tenon_picture_rows_put(run->picture, first, n, out);
    return st;
}

static enum tenon_status rows_of_second(void *user, uint64_t first, size_t n, float *out,
                                        struct tenon_error *err)
{
    return copy_rows(user, true, first, n, out, err);
}

static enum tenon_status look_up(void *user, uint64_t first, size_t n, float *out,
                                 struct tenon_error *err)
{
    const struct tenon_stage_run *run = user;

    return tenon_embed_rows(&run->embed, run->tokens.ids->ids + first, n, out, err);
}

/* --- what is written --- */

static enum tenon_status check_length(const struct tenon_ids *list, size_t n, const char *what,
                                      struct tenon_error *err)
{
    if (list == NULL || list->n == n)
        return TENON_OK;
    return tenon_report_fail(err, TENON_ERR_MISUSE, "%zu %s%s for %zu id%s, there must be as many",
                             list->n, what, list->n == 1 ? "" : "s", n, n == 1 ? "" : "s");
}

static enum tenon_status take_tokens(struct tenon_stage_run *run,
                                     const struct tenon_stage_tokens *tokens,
                                     struct tenon_error *err)
{
    const struct tenon_ids *ids = tokens->ids;
    size_t begin = 0;
    enum tenon_status st = check_length(tokens->types, ids->n, "type id", err);

    for (size_t s = 0; st == TENON_OK && s < tokens->n_streams; s++)
        st = check_length(tokens->positions[s], ids->n, "position", err);
    if (st != TENON_OK)
        return st;
    run->tokens = *tokens;
    run->positions = malloc((ids->n + 1) * sizeof(*run->positions));
    if (run->positions == NULL)
        return fail_memory(err);
    for (size_t s = 0; s < ids->n_sequences; begin = ids->ends[s++])
        for (size_t i = begin; i < ids->ends[s]; i++)
            run->positions[i] =
                tokens->n_streams > 0 ? tokens->positions[0]->ids[i] : tokens->start + (i - begin);
    return TENON_OK;
}

static void add_tokens(struct tenon_stage_run *run, struct tenon_vectors *vectors)
{
    const struct tenon_str name = run->embed.matrix->name;
    struct tenon_vectors_kind kind = {.name = "embeddings", .heads = 1, .user = run};

    kind.cols = run->input != NULL ? tenon_input_width(run->input) : run->embed.cols;
    kind.rows = run->input != NULL ? rows_of_first : look_up;
    snprintf(run->source, sizeof(run->source), "%s '%.*s'",
             run->input != NULL ? "what enters the first block, from rows of" : "rows of",
             (int)(name.len < 128 ? name.len : 128), name.data);
    tenon_vectors_add(vectors, &kind);
}

static void add_heads(struct tenon_stage_run *run, struct tenon_vectors *vectors)
{
    struct tenon_vectors_kind queries = {.name = "q",
                                         .short_name = "q",
                                         .heads = run->shape.heads,
                                         .cols = run->shape.head_dim,
                                         .headed = true,
                                         .rows = rows_of_first,
                                         .user = run};
    struct tenon_vectors_kind keys = queries;

    keys.name = "k";
    keys.short_name = "k";
    keys.heads = run->shape.kv_heads;
    keys.rows = rows_of_second;
    snprintf(run->source, sizeof(run->source), "as they meet in layer 0");
    tenon_vectors_add(vectors, &queries);
    tenon_vectors_add(vectors, &keys);
}

enum tenon_status tenon_stage_fill(struct tenon_stage_run *run,
                                   const struct tenon_stage_tokens *tokens,
                                   struct tenon_vectors *vectors, struct tenon_error *err)
{
    static const char *const names[] = {"token", "input", "qk"};
    enum tenon_status st = take_tokens(run, tokens, err);

    if (st != TENON_OK)
        return st;
    vectors->stage = names[run->stage];
    vectors->ids = tokens->ids;
    vectors->positions = run->positions;
    vectors->source = run->source;
    if (run->qk != NULL)
        add_heads(run, vectors);
    else
        add_tokens(run, vectors);
    return TENON_OK;
}
