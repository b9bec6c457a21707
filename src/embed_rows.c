/* Looking many ids up: each row is read and decoded once however often it is asked for, and rows
 * that lie close together are read by one call.
 *
 *   ids       7  3  9  3          asked for
 *   picks     3>1 3>3  7>0 9>2    sorted by id, each with its place in the output
 *   runs      [3]      [7 8 9]    read at once; 8 is read over
 *
 * What lies between two rows is read over where that takes no longer than another system call: some
 * 0.4 us, in which 2 KiB are copied from memory that is not in the cache. */
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "tenon/embed.h"

/* Rows are read in pieces of this size, on the stack. */
#define PIECE_BYTES ((size_t)32 * 1024)

/* The most bytes between two rows that are read for nothing. */
#define GAP_BYTES 2048

/* Ids that are sorted at a time: half a MiB with the room that sorting needs. */
#define MOST_PICKS ((size_t)16384)

/* The kernel copies fastest between places that are equally far from such a boundary. */
#define LINE_BYTES 64

struct pick {
    uint64_t id;
    size_t place;
};

struct lookup {
    const struct tenon_embed *embed;
    tenon_decode_fn decode; /* of what a row is made of; NULL: rows are not bytes alone */
    size_t row_blocks, row_bytes;
    const struct tenon_source *source;
    int fd;     /* held while rows are looked up */
    float *out; /* place 0 */
};

/* Rows can be decoded from their bytes unless scales lie elsewhere or bytes are to be swapped.
 * Longer ones than a piece gain nothing. */
static void choose_way(struct lookup *l)
{
    const struct tenon_tensor *t = l->embed->matrix;
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)t->dtype);
    uint64_t blocks = l->embed->cols / info->block_elements, bytes, all;

    if (t->scaling != TENON_SCALING_NONE || (t->flags & TENON_TENSOR_BIG_ENDIAN) != 0 ||
        !tenon_u64_mul(&bytes, blocks, info->block_bytes) || bytes == 0 || bytes > PIECE_BYTES ||
        !tenon_u64_mul(&all, bytes, l->embed->rows) || all > t->bytes ||
        t->offset > UINT64_MAX - t->bytes)
        return;
    l->decode = l->embed->model->ops.decode[t->dtype];
    l->row_blocks = (size_t)blocks;
    l->row_bytes = (size_t)bytes;
}

static enum tenon_status fail_matrix(const struct lookup *l, enum tenon_status st,
                                     struct tenon_error *err)
{
    const struct tenon_tensor *t = l->embed->matrix;

    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, l->embed->model->files[t->file].path);
    return st;
}

static float *row_at(const struct lookup *l, size_t place)
{
    return l->out + place * l->embed->cols;
}

/* How many of `n` picks, the first of them included, have its id. */
static size_t count_equal(const struct pick *picks, size_t n)
{
    size_t k = 1;

    while (k < n && picks[k].id == picks[0].id)
        k++;
    return k;
}

/* Copies the row of the first of `n` picks to the places of the others. */
static void repeat_row(const struct lookup *l, const struct pick *picks, size_t n)
{
    for (size_t k = 1; k < n; k++)
        memcpy(row_at(l, picks[k].place), row_at(l, picks[0].place),
               (size_t)l->embed->cols * sizeof(float));
}

/* How many of `n` picks are of rows that one call reads. */
static size_t count_run(const struct lookup *l, const struct pick *picks, size_t n)
{
    size_t k = 1;

    while (k < n && (picks[k].id - picks[k - 1].id) * l->row_bytes <= GAP_BYTES + l->row_bytes &&
           (picks[k].id - picks[0].id + 1) * l->row_bytes <= PIECE_BYTES)
        k++;
    return k;
}

static enum tenon_status decode_run(const struct lookup *l, const struct pick *picks, size_t n,
                                    struct tenon_error *err)
{
    _Alignas(LINE_BYTES) uint8_t piece[PIECE_BYTES + LINE_BYTES];
    uint64_t first = picks[0].id, off = l->embed->matrix->offset + first * l->row_bytes;
    uint8_t *bytes = piece + off % LINE_BYTES;
    enum tenon_status st = tenon_source_read_held(
        l->source, l->fd, off, bytes, (size_t)(picks[n - 1].id - first + 1) * l->row_bytes, err);
    size_t equal;

    for (size_t i = 0; st == TENON_OK && i < n; i += equal) {
        equal = count_equal(picks + i, n - i);
        l->decode(row_at(l, picks[i].place), bytes + (picks[i].id - first) * l->row_bytes,
                  l->row_blocks);
        repeat_row(l, picks + i, equal);
    }
    return st == TENON_OK ? st : fail_matrix(l, st, err);
}

/* A row by itself, with its scales. */
static enum tenon_status decode_row(const struct lookup *l, const struct pick *pick,
                                    struct tenon_error *err)
{
    return tenon_logical_decode(&l->embed->logical, pick->id * l->embed->cols,
                                (size_t)l->embed->cols, row_at(l, pick->place), err);
}

static enum tenon_status decode_picks(const struct lookup *l, const struct pick *picks, size_t n,
                                      struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    size_t done;

    for (size_t i = 0; st == TENON_OK && i < n; i += done) {
        if (l->decode != NULL) {
            done = count_run(l, picks + i, n - i);
            st = decode_run(l, picks + i, done, err);
        } else {
            done = count_equal(picks + i, n - i);
            st = decode_row(l, picks + i, err);
            if (st == TENON_OK)
                repeat_row(l, picks + i, done);
        }
    }
    return st;
}

/* Sorts by id, byte by byte from the lowest of those that `last`, the largest, has; `spare` has as
 * much room. Returns which of both holds them then. */
static struct pick *sort_picks(struct pick *picks, struct pick *spare, size_t n, uint64_t last)
{
    for (unsigned shift = 0; shift < 64 && last >> shift != 0; shift += 8) {
        size_t ends[256] = {0}, sum = 0;
        struct pick *sorted = spare;

        for (size_t i = 0; i < n; i++)
            ends[picks[i].id >> shift & 255]++;
        for (size_t digit = 0; digit < 256; digit++) {
            sum += ends[digit];
            ends[digit] = sum - ends[digit];
        }
        for (size_t i = 0; i < n; i++)
            sorted[ends[picks[i].id >> shift & 255]++] = picks[i];
        spare = picks;
        picks = sorted;
    }
    return picks;
}

/* `picks` has room for twice as many. */
static enum tenon_status look_up(const struct lookup *l, const uint64_t *ids, size_t n,
                                 struct pick *picks, struct tenon_error *err)
{
    uint64_t last = 0;

    for (size_t i = 0; i < n; i++) {
        picks[i] = (struct pick){ids[i], i};
        last = ids[i] > last ? ids[i] : last;
    }
    return decode_picks(l, sort_picks(picks, picks + n, n, last), n, err);
}

static enum tenon_status check_ids(const struct tenon_embed *embed, const uint64_t *ids, size_t n,
                                   struct tenon_error *err)
{
    size_t i = 0;

    while (i < n && ids[i] < embed->rows)
        i++;
    if (i == n)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               "id %llu is outside the matrix, which has %llu rows", (unsigned long long)ids[i],
               (unsigned long long)embed->rows);
    tenon_fail_subject(err, "tensor", embed->matrix->name.data, embed->matrix->name.len);
    tenon_fail_path(err, embed->model->path);
    return TENON_ERR_MISUSE;
}

/* As many ids at a time as `picks` has room for, twice. */
static enum tenon_status look_all_up(struct lookup *l, const uint64_t *ids, size_t n,
                                     struct pick *picks, struct tenon_error *err)
{
    bool held = !tenon_source_in_memory(l->source);
    enum tenon_status st = held ? tenon_source_hold(l->source, &l->fd, err) : TENON_OK;

    if (st != TENON_OK)
        return fail_matrix(l, st, err);
    for (size_t done = 0; st == TENON_OK && done < n; done += MOST_PICKS) {
        size_t some = n - done < MOST_PICKS ? n - done : MOST_PICKS;

        st = look_up(l, ids + done, some, picks, err);
        l->out += some * l->embed->cols;
    }
    if (held)
        tenon_source_let_go(l->source);
    return st;
}

enum tenon_status tenon_embed_rows(const struct tenon_embed *embed, const uint64_t *ids, size_t n,
                                   float *out, struct tenon_error *err)
{
    struct lookup l = {.embed = embed, .fd = -1, .out = out};
    struct pick *picks = NULL;
    enum tenon_status st = check_ids(embed, ids, n, err);

    if (st != TENON_OK || n == 0)
        return st;
    if (n == 1)
        return decode_row(&l, &(struct pick){ids[0], 0}, err);
    choose_way(&l);
    l.source = embed->model->sources[embed->matrix->file];
    picks = tenon_mem_alloc(n < MOST_PICKS ? n : MOST_PICKS, 2 * sizeof(*picks));
    if (picks == NULL)
        return tenon_fail_memory(err);
    st = look_all_up(&l, ids, n, picks, err);
    tenon_mem_free(picks);
    return st;
}
