#include "plan_print.h"

#include <stdio.h>
#include <string.h>

#include "meta_json.h"
#include "tenon/dtype.h"

/* Copied tensors of one file that are still listed one by one. */
enum { MANY_COPIES = 12 };

static const char *const kinds[] = {
    [TENON_PLAN_MODEL] = "model",
    [TENON_PLAN_TEXT] = "text",
    [TENON_PLAN_COPY] = "copy",
};

static const char *const combines[] = {
    [TENON_COMBINE_STACK] = "stack",
    [TENON_COMBINE_MEAN] = "mean",
};

static const char *const steps[] = {
    [TENON_STEP_PERMUTE] = "permute",
    [TENON_STEP_TRANSPOSE] = "transpose",
    [TENON_STEP_ADD] = "add",
};

/* The name of a dtype; of one that is copied unread, its number in the file. */
static const char *dtype_text(const struct tenon_plan_tensor *t, char *buf, size_t size)
{
    const struct tenon_plan_source *s = tenon_plan_sources(t);
    struct tenon_str text = {"", 0};

    if (t->dtype != TENON_DTYPE_UNKNOWN)
        return tenon_dtype_name(t->dtype);
    if (t->n_sources > 0 && s->model != NULL)
        text = tenon_tensor_dtype_text(s->model, s->tensor);
    if (text.len > 0)
        snprintf(buf, size, "%.*s", (int)text.len, text.data);
    else
        snprintf(buf, size, "type %u", t->dtype_raw);
    return buf;
}

static bool all_rows(const struct tenon_plan_source *s)
{
    return s->first_row == 0 &&
           (s->n_rows == UINT64_MAX || s->tensor->n_dims == 0 || s->n_rows == s->tensor->dims[0]);
}

/* One tensor of the input, under its own name. */
static bool is_plain_copy(const struct tenon_plan *plan, const struct tenon_plan_tensor *t)
{
    const struct tenon_plan_source *s = tenon_plan_sources(t);

    return tenon_plan_tensor_is_copy(plan, t) && t->n_sources == 1 && s->model != NULL &&
           all_rows(s) && s->tensor->name.len == t->name.len &&
           memcmp(s->tensor->name.data, t->name.data, t->name.len) == 0;
}

/* --- JSON --- */

static const char *source_path(const struct tenon_plan_source *s)
{
    return tenon_model_file(s->model, s->tensor->file)->path;
}

static void write_json_source(struct tenon_json *json, const struct tenon_plan_source *s)
{
    tenon_json_object(json, NULL);
    if (s->model == NULL) {
        tenon_json_null(json, "path");
        tenon_json_null(json, "name");
    } else {
        tenon_json_text(json, "path", source_path(s));
        tenon_json_str(json, "name", s->tensor->name);
        tenon_tool_dtype_json(json, "dtype", s->model, s->tensor);
        tenon_json_bool(json, "scaled", s->logical);
        tenon_json_u64(json, "first_row", s->first_row);
        if (s->n_rows == UINT64_MAX)
            tenon_json_null(json, "rows");
        else
            tenon_json_u64(json, "rows", s->n_rows);
    }
    tenon_json_end(json);
}

static void write_json_step(struct tenon_json *json, const struct tenon_step *step)
{
    tenon_json_object_flat(json, NULL);
    tenon_json_text(json, "kind", steps[step->kind]);
    if (step->kind == TENON_STEP_PERMUTE) {
        tenon_json_u64(json, "heads", step->heads);
        tenon_json_u64(json, "rotary", step->rotary);
        tenon_json_bool(json, "to_interleaved", step->to_interleaved);
    } else if (step->kind == TENON_STEP_ADD) {
        tenon_json_f64(json, "constant", step->constant);
    }
    tenon_json_end(json);
}

static void write_json_tensor(struct tenon_json *json, const struct tenon_plan *plan, size_t i)
{
    const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);
    char buf[64];

    tenon_json_object(json, NULL);
    tenon_json_str(json, "name", t.name);
    tenon_json_text(json, "dtype", dtype_text(&t, buf, sizeof(buf)));
    tenon_json_array_flat(json, "shape");
    for (uint32_t d = 0; d < t.n_dims; d++)
        tenon_json_u64(json, NULL, t.dims[d]);
    tenon_json_end(json);
    tenon_json_u64(json, "bytes", t.bytes);
    tenon_json_u64(json, "file", t.file);
    tenon_json_u64(json, "offset", t.offset);
    tenon_json_bool(json, "copy", tenon_plan_tensor_is_copy(plan, &t));
    tenon_json_text(json, "combine", t.n_sources > 1 ? combines[t.combine] : NULL);
    tenon_json_array(json, "sources");
    for (size_t k = 0; k < t.n_sources; k++)
        write_json_source(json, &tenon_plan_sources(&t)[k]);
    tenon_json_end(json);
    tenon_json_array(json, "steps");
    for (size_t k = 0; k < t.n_steps; k++)
        write_json_step(json, &t.steps[k]);
    tenon_json_end(json);
    tenon_json_end(json);
}

static void write_json_model_file(struct tenon_json *json, const struct tenon_plan_file *f)
{
    tenon_json_text(json, "format", f->format);
    tenon_json_u64(json, "version", f->version);
    tenon_json_text(json, "byte_order", f->big_endian ? "big" : "little");
    tenon_json_u64(json, "alignment", f->alignment);
    tenon_json_u64(json, "header_bytes", f->head_bytes);
    tenon_json_array(json, "metadata");
    for (size_t i = 0; i < f->n_metas; i++)
        tenon_meta_json(json, NULL, &f->metas[i], UINT64_MAX);
    tenon_json_end(json);
}

static enum tenon_status take_bytes(void *user, const void *bytes, size_t n,
                                    struct tenon_error *err)
{
    (void)err;
    tenon_out_write(user, bytes, n);
    return TENON_OK;
}

/* A text that the plan makes when it is wanted. */
static void write_json_made(struct tenon_json *json, const struct tenon_plan *plan, size_t i)
{
    struct tenon_out text;

    tenon_out_init(&text, -1);
    if (tenon_plan_put_head(plan, i, take_bytes, &text, NULL) == TENON_OK && text.buf != NULL)
        tenon_json_str(json, "text", (struct tenon_str){text.buf, text.used});
    else
        tenon_json_null(json, "text");
    tenon_out_release(&text);
}

static void write_json_file(struct tenon_json *json, const struct tenon_plan *plan, size_t i)
{
    const struct tenon_plan_file *f = tenon_plan_file(plan, i);

    tenon_json_object(json, NULL);
    tenon_json_text(json, "path", f->path);
    tenon_json_text(json, "kind", kinds[f->kind]);
    tenon_json_u64(json, "bytes", f->bytes);
    tenon_json_bool(json, "last", f->last);
    if (f->kind == TENON_PLAN_MODEL)
        write_json_model_file(json, f);
    else if (f->kind == TENON_PLAN_COPY)
        tenon_json_text(json, "copy_of", f->copy_of);
    else if (f->text == NULL)
        write_json_made(json, plan, i);
    else
        tenon_json_str(json, "text", (struct tenon_str){f->text, (size_t)f->head_bytes});
    tenon_json_end(json);
}

void tenon_plan_losses_json(struct tenon_json *json, const struct tenon_plan *plan)
{
    tenon_json_array(json, "losses");
    for (size_t i = 0; i < tenon_plan_n_losses(plan); i++) {
        const struct tenon_loss *loss = tenon_plan_loss(plan, i);

        tenon_json_object(json, NULL);
        tenon_json_text(json, "code", loss->code);
        tenon_json_text(json, "subject", loss->subject);
        tenon_json_text(json, "message", loss->text);
        tenon_json_text(json, "option", loss->option);
        tenon_json_bool(json, "allowed", loss->allowed || loss->option == NULL);
        tenon_json_end(json);
    }
    tenon_json_end(json);
    tenon_json_array(json, "notes");
    for (size_t i = 0; i < tenon_plan_n_notes(plan); i++)
        tenon_json_text(json, NULL, tenon_plan_note(plan, i));
    tenon_json_end(json);
}

void tenon_plan_print_json(struct tenon_tool *tool, const struct tenon_plan *plan)
{
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.plan/1");
    tenon_json_bool(&json, "empty", tenon_plan_is_empty(plan));
    tenon_json_u64(&json, "bytes", tenon_plan_bytes(plan));
    tenon_json_array(&json, "files");
    for (size_t i = 0; i < tenon_plan_n_files(plan); i++)
        write_json_file(&json, plan, i);
    tenon_json_end(&json);
    tenon_json_array(&json, "tensors");
    for (size_t i = 0; i < tenon_plan_n_tensors(plan); i++)
        write_json_tensor(&json, plan, i);
    tenon_json_end(&json);
    tenon_plan_losses_json(&json, plan);
    tenon_json_end(&json);
}

/* --- text --- */

/* "model.embed_tokens.weight", with its rows when it is not all of them. */
static void write_source(struct tenon_out *out, const struct tenon_plan_source *s)
{
    if (s->model == NULL) {
        tenon_out_text(out, "made here");
        return;
    }
    tenon_out_safe(out, s->tensor->name.data, s->tensor->name.len);
    if (all_rows(s))
        return;
    tenon_out_printf(out, " rows %llu-", (unsigned long long)s->first_row);
    if (s->n_rows != UINT64_MAX)
        tenon_out_printf(out, "%llu", (unsigned long long)(s->first_row + s->n_rows - 1));
}

static void write_step(struct tenon_out *out, const struct tenon_step *step)
{
    char number[32];

    tenon_out_printf(out, ", %s", steps[step->kind]);
    if (step->kind == TENON_STEP_PERMUTE)
        tenon_out_printf(out, " rows of %u heads to %s pairs", step->heads,
                         step->to_interleaved ? "interleaved" : "half-split");
    else if (step->kind == TENON_STEP_ADD)
        tenon_out_printf(out, " %s", tenon_out_number(number, step->constant, false));
}

/* "from A, B, stacked, cast F32 to BF16, transpose". */
static void write_origin(struct tenon_out *out, const struct tenon_plan *plan,
                         const struct tenon_plan_tensor *t)
{
    const struct tenon_plan_source *first = tenon_plan_sources(t);
    bool from_model = t->n_sources > 0 && first->model != NULL;

    if (is_plain_copy(plan, t)) {
        tenon_out_text(out, "copy");
        return;
    }
    tenon_out_text(out, "from ");
    for (size_t i = 0; i < t->n_sources; i++) {
        tenon_out_text(out, i > 0 ? ", " : "");
        write_source(out, &tenon_plan_sources(t)[i]);
    }
    if (t->n_sources > 1)
        tenon_out_printf(out, ", %s", combines[t->combine]);
    if (from_model && first->logical)
        tenon_out_text(out, ", with its scales");
    for (size_t i = 0; i < t->n_steps; i++)
        write_step(out, &t->steps[i]);
    if (from_model && first->tensor->dtype != t->dtype)
        tenon_out_printf(out, ", cast from %s", tenon_dtype_name(first->tensor->dtype));
}

static void add_tensor_row(struct tenon_table *table, const struct tenon_plan *plan,
                           const struct tenon_plan_tensor *t)
{
    struct tenon_tensor shape = {.n_dims = (uint8_t)t->n_dims, .dims = t->dims};
    struct tenon_out origin;
    char buf[64];

    tenon_out_init(&origin, -1);
    write_origin(&origin, plan, t);
    tenon_table_safe(table, t->name.data, t->name.len);
    tenon_table_cell(table, "%s", dtype_text(t, buf, sizeof(buf)));
    tenon_tool_shape_cell(table, &shape);
    tenon_table_cell(table, "%.*s", (int)origin.used, origin.buf != NULL ? origin.buf : "");
    tenon_out_release(&origin);
}

/* The first tensor from number `i` on that does not go to `file`: those of a file are one run. */
static size_t find_end(const struct tenon_plan *plan, uint32_t file, size_t i)
{
    while (i < tenon_plan_n_tensors(plan) && tenon_plan_tensor(plan, i).file == file)
        i++;
    return i;
}

/* Those of file `file`, from number `first` on, before number `end`. */
static void write_tensors(struct tenon_tool *tool, const struct tenon_plan *plan, size_t first,
                          size_t end)
{
    struct tenon_table table;
    size_t copies = 0;
    char number[32];

    for (size_t i = first; i < end; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);

        copies += is_plain_copy(plan, &t);
    }
    if (tool->common.verbose || copies <= MANY_COPIES)
        copies = 0; /* listed with the others */
    tenon_table_init(&table);
    for (int i = 0; i < 4; i++)
        tenon_table_column(&table, "", false);
    for (size_t i = first; i < end; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);

        if (copies == 0 || !is_plain_copy(plan, &t))
            add_tensor_row(&table, plan, &t);
    }
    tenon_table_print(&table, &tool->out, &tool->term, 2);
    tenon_table_release(&table);
    if (copies > 0)
        tenon_out_printf(&tool->out, "  %s tensors copied as they are (-v lists them)\n",
                         tenon_out_grouped(number, copies));
}

/* `*next` is the first tensor that is not printed yet. */
static void write_file(struct tenon_tool *tool, const struct tenon_plan *plan, uint32_t i,
                       size_t *next)
{
    size_t first = *next;

    const struct tenon_plan_file *f = tenon_plan_file(plan, i);
    struct tenon_out *out = &tool->out;
    char bytes[32];

    tenon_out_text(out, tenon_term_style(&tool->term, TENON_STYLE_BOLD));
    tenon_out_safe(out, f->path, strlen(f->path));
    tenon_out_text(out, tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    tenon_out_printf(out, "  %s bytes", tenon_out_grouped(bytes, f->bytes));
    if (f->kind == TENON_PLAN_MODEL) {
        tenon_out_printf(out, ", %s", f->format);
    } else if (f->kind == TENON_PLAN_COPY) {
        tenon_out_text(out, ", copy of ");
        tenon_out_safe(out, f->copy_of, strlen(f->copy_of));
    }
    tenon_out_text(out, "\n");
    *next = find_end(plan, i, first);
    if (f->kind == TENON_PLAN_MODEL)
        write_tensors(tool, plan, first, *next);
}

static void write_losses(struct tenon_tool *tool, const struct tenon_plan *plan)
{
    struct tenon_out *out = &tool->out;

    if (tenon_plan_n_losses(plan) > 0)
        tenon_out_printf(out, "\n%sLost%s\n", tenon_term_style(&tool->term, TENON_STYLE_WARNING),
                         tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    for (size_t i = 0; i < tenon_plan_n_losses(plan); i++) {
        const struct tenon_loss *loss = tenon_plan_loss(plan, i);
        bool about = loss->subject[0] != '\0';
        char option[64] = "", text[1024];

        if (loss->option != NULL)
            snprintf(option, sizeof(option), " (%s %s)", loss->allowed ? "allowed by" : "needs",
                     loss->option);
        snprintf(text, sizeof(text), "%s%s%s%s%s", about ? "'" : "", loss->subject,
                 about ? "': " : "", loss->text, option);
        tenon_out_text(out, "- ");
        tenon_out_wrapped(out, text, 2, 2, tool->term.width);
    }
}

void tenon_plan_print(struct tenon_tool *tool, const struct tenon_plan *plan)
{
    struct tenon_out *out = &tool->out;
    char number[32];
    size_t next = 0;

    for (size_t i = 0; i < tenon_plan_n_files(plan); i++)
        write_file(tool, plan, (uint32_t)i, &next);
    write_losses(tool, plan);
    if (tenon_plan_n_notes(plan) > 0)
        tenon_out_text(out, "\n");
    for (size_t i = 0; i < tenon_plan_n_notes(plan); i++) {
        tenon_out_text(out, "- ");
        tenon_out_wrapped(out, tenon_plan_note(plan, i), 2, 2, tool->term.width);
    }
    tenon_out_printf(out, "\n%s bytes in %zu file%s, nothing written\n",
                     tenon_out_grouped(number, tenon_plan_bytes(plan)), tenon_plan_n_files(plan),
                     tenon_plan_n_files(plan) == 1 ? "" : "s");
}
