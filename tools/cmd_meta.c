/* tenon meta: metadata, typed, in file order. */
#include <stdio.h>
#include <string.h>

#include "meta_json.h"
#include "meta_out.h"
#include "tenon/meta.h"
#include "tenon/text.h"
#include "tool.h"

struct options {
    bool full;
    const char *raw;
};

static const struct tenon_opt options[] = {
    {.name = "full",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, full),
     .help = "arrays and texts in full length"},
    {.name = "raw",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, raw),
     .value = "KEY",
     .help = "print the bare value of KEY, array elements one a line"},
};

/* Elements of an array and bytes of a text that are shown without --full. */
static const struct tenon_meta_shown shown = {8, 200}, whole = {UINT64_MAX, SIZE_MAX};

/* Widths of the columns of text output. */
struct columns {
    unsigned key, type;
};

/* Keys that are wider push what follows to the right, rather than everything else. */
enum { WIDEST_KEY = 48 };

/* Columns that `len` bytes of foreign text take. */
static unsigned shown_width(const char *text, size_t len)
{
    struct tenon_out safe;
    unsigned width;

    tenon_out_init(&safe, -1);
    tenon_out_safe(&safe, text, len);
    tenon_out_write(&safe, "", 1);
    width = safe.error == 0 ? tenon_term_width(safe.buf) : 0;
    tenon_out_release(&safe);
    return width;
}

static void write_text_entry(struct tenon_tool *tool, const struct columns *columns,
                             const struct tenon_meta_entry *e, bool full)
{
    unsigned width = shown_width(e->key.data, e->key.len);
    char type[32];

    tenon_out_text(&tool->out, tenon_term_style(&tool->term, TENON_STYLE_BOLD));
    tenon_out_safe(&tool->out, e->key.data, e->key.len);
    tenon_out_text(&tool->out, tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    tenon_out_printf(&tool->out, "%*s  %s%-*s%s  ",
                     (int)(width < columns->key ? columns->key - width : 0), "",
                     tenon_term_style(&tool->term, TENON_STYLE_DIM), (int)columns->type,
                     tenon_meta_type_text(e, type, sizeof(type)),
                     tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    tenon_meta_out_value(&tool->out, e, full ? &whole : &shown);
    tenon_out_text(&tool->out, "\n");
}

static bool key_is(const struct tenon_meta_entry *e, const char *key)
{
    return strlen(key) == e->key.len && memcmp(key, e->key.data, e->key.len) == 0;
}

static bool is_wanted(const struct tenon_tool *tool, const struct tenon_meta_entry *e)
{
    bool wanted = tool->n_operands == 1;

    for (size_t i = 1; i < tool->n_operands && !wanted; i++)
        wanted = key_is(e, tool->operands[i]) ||
                 tenon_text_glob(tool->operands[i], e->key.data, e->key.len);
    return wanted;
}

static enum tenon_status fail_key(const struct tenon_tool *tool, const char *key,
                                  struct tenon_error *err)
{
    tenon_report_fail(err, TENON_ERR_NOT_FOUND, "no key '%.200s'", key);
    tenon_report_path(err, tool->operands[0]);
    tenon_report_hint(err, "'tenon meta MODEL' lists all keys");
    return TENON_ERR_NOT_FOUND;
}

/* Every key asked for must be there. */
static enum tenon_status check_keys(const struct tenon_tool *tool, const struct tenon_model *model,
                                    struct tenon_error *err)
{
    for (size_t k = 1; k < tool->n_operands; k++) {
        const char *key = tool->operands[k];
        bool found = false;

        for (size_t i = 0; i < tenon_model_n_meta(model) && !found; i++) {
            const struct tenon_meta_entry *e = tenon_model_meta(model, i);

            found = key_is(e, key) || tenon_text_glob(key, e->key.data, e->key.len);
        }
        if (!found)
            return fail_key(tool, key, err);
    }
    return TENON_OK;
}

static enum tenon_status write_raw(struct tenon_tool *tool, const struct tenon_model *model,
                                   const char *key, struct tenon_error *err)
{
    const struct tenon_meta_entry *e = tenon_model_find_meta(model, key);
    struct tenon_meta_iter it;
    struct tenon_meta_value v;

    if (e == NULL)
        return fail_key(tool, key, err);
    if (e->type != TENON_META_ARRAY) {
        tenon_meta_out_scalar(&tool->out, &e->value, tool->term.tty);
        tenon_out_text(&tool->out, "\n");
        return TENON_OK;
    }
    if (e->item == TENON_META_ARRAY) {
        tenon_report_fail(err, TENON_ERR_CANNOT_REPRESENT, "arrays in arrays have no bare form");
        tenon_report_path(err, tool->operands[0]);
        tenon_report_hint(err, "use --json --full");
        return TENON_ERR_CANNOT_REPRESENT;
    }
    tenon_meta_iter_init(&it, e);
    while (tenon_meta_iter_next(&it, &v, NULL)) {
        tenon_meta_out_scalar(&tool->out, &v, tool->term.tty);
        tenon_out_text(&tool->out, "\n");
    }
    return TENON_OK;
}

static struct columns measure(const struct tenon_tool *tool, const struct tenon_model *model)
{
    struct columns columns = {0, 0};
    char type[32];

    for (size_t i = 0; i < tenon_model_n_meta(model); i++) {
        const struct tenon_meta_entry *e = tenon_model_meta(model, i);
        unsigned key, name;

        if (!is_wanted(tool, e))
            continue;
        key = shown_width(e->key.data, e->key.len);
        name = (unsigned)strlen(tenon_meta_type_text(e, type, sizeof(type)));
        if (key > columns.key && key <= WIDEST_KEY)
            columns.key = key;
        columns.type = name > columns.type ? name : columns.type;
    }
    return columns;
}

static void write_entries(struct tenon_tool *tool, const struct tenon_model *model)
{
    const struct options *o = tool->options;
    struct tenon_json json = {.out = &tool->out};
    struct columns columns = {0, 0};

    if (!tool->common.json)
        columns = measure(tool, model);
    if (tool->common.json) {
        tenon_json_document(&json, "tenon.meta/1");
        tenon_json_array(&json, "entries");
    }
    for (size_t i = 0; i < tenon_model_n_meta(model); i++) {
        const struct tenon_meta_entry *e = tenon_model_meta(model, i);

        if (!is_wanted(tool, e))
            continue;
        if (tool->common.json)
            tenon_meta_json(&json, NULL, e, o->full ? whole.elements : shown.elements);
        else
            write_text_entry(tool, &columns, e, o->full);
    }
    if (tool->common.json) {
        tenon_json_end(&json);
        tenon_json_end(&json);
    }
}

/* The bare value is all that --raw prints. */
static enum tenon_status check_options(const struct tenon_tool *tool, struct tenon_error *err)
{
    const struct options *o = tool->options;
    enum tenon_status st = TENON_OK;

    if (o->raw == NULL)
        return TENON_OK;
    if (tool->common.json)
        st = tenon_tool_refuse(tool, "raw", "--json is another form", err);
    else if (tool->n_operands > 1)
        st =
            tenon_report_fail(err, TENON_ERR_MISUSE, "--raw KEY names the one key that is printed");
    return st;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    enum tenon_status st = check_options(tool, &err);

    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK)
        st = check_keys(tool, model, &err);
    if (st == TENON_OK && o->raw != NULL)
        st = write_raw(tool, model, o->raw, &err);
    else if (st == TENON_OK)
        write_entries(tool, model);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon meta model.gguf 'general.*'", "some keys"},
    {"tenon meta --raw tokenizer.chat_template model.gguf", "one bare value, for a script"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_meta = {
    .operands = "MODEL [KEY...]",
    .min_operands = 1,
    .max_operands = TENON_ANY_NUMBER,
    .about =
        "Lists metadata with its types, in file order: all of it, or the named keys (which may "
        "be patterns). Long arrays and texts are shortened, with their count.\n"
        "--raw prints text byte for byte when standard output is no terminal.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
