#include "rope_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_out.h"
#include "out_json.h"
#include "out_table.h"
#include "position_opt.h"
#include "report.h"

static const double pi = 3.14159265358979323846;

/* Numbers of a table file at most, for each of cos and sin. */
#define MOST_VALUES (UINT64_C(1) << 32)

static double wavelength_of(const struct tenon_rope_table *table, uint32_t i)
{
    return table->inv_freq[i] > 0 ? 2 * pi / table->inv_freq[i] : (double)INFINITY;
}

void tenon_rope_describe(const struct tenon_rope_view *view, char *buf, size_t size)
{
    const struct tenon_rope *rope = &view->use->rope;
    char factor[48] = "";

    if (!isnan(rope->factor) && rope->scaling != TENON_ROPE_DEFAULT)
        snprintf(factor, sizeof(factor), " factor %g,", rope->factor);
    snprintf(buf, size,
             "%s,%s theta %g, %s pairs, %u of %u channels%s, magnitude %g, %s arithmetic%s%s",
             tenon_rope_scaling_name(rope->scaling), factor, rope->theta,
             tenon_pairing_name(rope->pairing), rope->rotary_dim, rope->head_dim,
             rope->trailing ? " (the last)" : "", view->table.attention_factor,
             tenon_precision_name(view->table.precision),
             rope->freq_factors != NULL ? ", factors of a tensor" : "",
             rope->axes != TENON_AXES_ONE ? ", several position streams" : "");
}

static void write_head(const struct tenon_rope_view *view, struct tenon_out *out)
{
    char text[256];

    tenon_rope_describe(view, text, sizeof(text));
    if (view->path != NULL) {
        tenon_out_safe(out, view->path, strlen(view->path));
        tenon_out_printf(out, ", layer %llu", (unsigned long long)view->layer);
        if (view->use->layer_type[0] != '\0')
            tenon_out_printf(out, " (%s)", view->use->layer_type);
        tenon_out_text(out, "\n");
    }
    tenon_out_printf(out, "%s\n", text);
    if (!isnan(view->context))
        tenon_out_printf(out, "turns within %.0f positions\n", view->context);
    tenon_out_text(out, "\n");
}

void tenon_rope_text(const struct tenon_rope_view *view, struct tenon_out *out,
                     const struct tenon_term *term)
{
    const struct tenon_rope_table *t = &view->table;
    bool axes = view->use->rope.axes != TENON_AXES_ONE;
    struct tenon_table table;

    write_head(view, out);
    tenon_table_init(&table);
    tenon_table_column(&table, "PAIR", true);
    tenon_table_column(&table, "INV_FREQ", true);
    tenon_table_column(&table, "WAVELENGTH", true);
    if (!isnan(view->context))
        tenon_table_column(&table, "TURNS", true);
    if (axes)
        tenon_table_column(&table, "STREAM", true);
    for (uint32_t i = 0; i < t->n_pairs; i++) {
        double length = wavelength_of(t, i);

        tenon_table_cell(&table, "%u", i);
        tenon_table_cell(&table, "%.9g", t->inv_freq[i]);
        if (isfinite(length))
            tenon_table_cell(&table, "%.6g", length);
        else
            tenon_table_cell(&table, "%s", "never");
        if (!isnan(view->context))
            tenon_table_cell(&table, "%.4g", view->context * t->inv_freq[i] / (2 * pi));
        if (axes)
            tenon_table_cell(&table, "%u", t->axis[i]);
    }
    tenon_table_print(&table, out, term, 0);
    tenon_table_release(&table);
}

static void write_list(struct tenon_json *json, const char *key, const struct tenon_rope_table *t,
                       double (*value)(const struct tenon_rope_table *table, uint32_t i))
{
    tenon_json_array_flat(json, key);
    for (uint32_t i = 0; i < t->n_pairs; i++) {
        double number = value(t, i);

        if (isfinite(number))
            tenon_json_f64(json, NULL, number);
        else
            tenon_json_null(json, NULL);
    }
    tenon_json_end(json);
}

static double inv_freq_of(const struct tenon_rope_table *table, uint32_t i)
{
    return table->inv_freq[i];
}

/* A number, null for NaN. */
static void write_known(struct tenon_json *json, const char *key, double value)
{
    if (isnan(value))
        tenon_json_null(json, key);
    else
        tenon_json_f64(json, key, value);
}

/* What the frequencies come from, beside the model's own words. */
static void write_steps(struct tenon_json *json, const struct tenon_rope_table *t)
{
    tenon_json_f64(json, "base", t->base);
    if (t->rope.scaling == TENON_ROPE_YARN) {
        tenon_json_array_flat(json, "ramp");
        tenon_json_f64(json, NULL, t->ramp_low);
        tenon_json_f64(json, NULL, t->ramp_high);
        tenon_json_end(json);
    } else {
        tenon_json_null(json, "ramp");
    }
    tenon_json_f64(json, "attention_factor", t->attention_factor);
    tenon_json_f64(json, "softmax_scale", tenon_rope_softmax_scale(&t->rope));
    if (t->precision != TENON_PRECISION_GGML) {
        tenon_json_null(json, "ggml");
        return;
    }
    tenon_json_object(json, "ggml");
    tenon_json_f64(json, "freq_base", (double)t->ggml.freq_base);
    tenon_json_f64(json, "freq_scale", (double)t->ggml.freq_scale);
    tenon_json_f64(json, "ext_factor", (double)t->ggml.ext_factor);
    tenon_json_f64(json, "attn_factor", (double)t->ggml.attn_factor);
    tenon_json_end(json);
}

void tenon_rope_json(const struct tenon_rope_view *view, struct tenon_out *out)
{
    const struct tenon_rope *rope = &view->use->rope;
    const struct tenon_rope_table *t = &view->table;
    struct tenon_json json = {.out = out};

    tenon_json_document(&json, "tenon.rope/1");
    tenon_json_text(&json, "path", view->path);
    tenon_json_u64(&json, "layer", view->layer);
    tenon_json_text(&json, "layer_type",
                    view->use->layer_type[0] != '\0' ? view->use->layer_type : NULL);
    tenon_json_text(&json, "kind", tenon_rope_scaling_name(rope->scaling));
    tenon_json_text(&json, "layout", tenon_pairing_name(rope->pairing));
    tenon_json_f64(&json, "theta", rope->theta);
    tenon_json_u64(&json, "head_dim", rope->head_dim);
    tenon_json_u64(&json, "rotary_dim", rope->rotary_dim);
    write_known(&json, "factor", rope->factor);
    write_known(&json, "original_context", rope->original);
    write_known(&json, "context", view->context);
    tenon_json_text(&json, "precision", tenon_precision_name(t->precision));
    tenon_json_f64(&json, "length", t->length);
    tenon_json_bool(&json, "long_factors", t->long_factors);
    write_steps(&json, t);
    write_list(&json, "inv_freq", t, inv_freq_of);
    write_list(&json, "wavelength", t, wavelength_of);
    if (rope->axes != TENON_AXES_ONE) {
        tenon_json_array_flat(&json, "stream");
        for (uint32_t i = 0; i < t->n_pairs; i++)
            tenon_json_u64(&json, NULL, t->axis[i]);
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
}

/* --- tables for kernels --- */

enum tenon_status tenon_rope_file_check(const struct tenon_rope_file *file, struct tenon_error *err)
{
    if (file->length == 0) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "how many positions is not known");
        tenon_report_hint(err, "use --length N");
        return TENON_ERR_MISUSE;
    }
    if (file->length > MOST_VALUES / file->table->n_pairs)
        return tenon_report_fail(err, TENON_ERR_LIMIT, "%llu positions of %u pairs are too many",
                                 (unsigned long long)file->length, file->table->n_pairs);
    return tenon_array_check(file->path, file->dtype, err);
}

struct rope_rows {
    const struct tenon_rope_table *table;
    double *cosines, *sines;
    bool sine; /* which of them is asked for */
};

static enum tenon_status make_rows(void *user, uint64_t first, size_t n, float *out,
                                   struct tenon_error *err)
{
    const struct rope_rows *r = user;

    (void)err;
    for (size_t i = 0; i < n; i++) {
        double positions[TENON_ROPE_MAX_SECTIONS];

        for (size_t k = 0; k < TENON_ROPE_MAX_SECTIONS; k++)
            positions[k] = (double)(first + i);
        tenon_rope_angles(r->table, positions, r->cosines, r->sines);
        for (uint32_t k = 0; k < r->table->n_pairs; k++)
            *out++ = (float)(r->sine ? r->sines[k] : r->cosines[k]);
    }
    return TENON_OK;
}

enum tenon_status tenon_rope_file_write(const struct tenon_rope_file *file, struct tenon_out *out,
                                        struct tenon_error *err)
{
    size_t n = file->table->n_pairs;
    struct rope_rows cosines = {.table = file->table}, sines;
    struct tenon_array arrays[2] = {
        {.name = "cos", .dtype = file->dtype, .n_dims = 2, .rows = make_rows, .user = &cosines},
        {.name = "sin", .dtype = file->dtype, .n_dims = 2, .rows = make_rows, .user = &sines},
    };
    enum tenon_status st = TENON_OK;

    cosines.cosines = malloc(n * sizeof(double));
    cosines.sines = malloc(n * sizeof(double));
    sines = cosines;
    sines.sine = true;
    for (size_t i = 0; i < 2; i++) {
        arrays[i].dims[0] = file->length;
        arrays[i].dims[1] = n;
    }
    if (cosines.cosines == NULL || cosines.sines == NULL)
        st = tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    else
        st = tenon_arrays_write(file->path, arrays, 2, out, err);
    free(cosines.cosines);
    free(cosines.sines);
    return st;
}
