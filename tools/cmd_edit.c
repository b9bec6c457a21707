/* tenon edit: change metadata and names, and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "plan_out.h"
#include "tenon/edit.h"
#include "tool.h"

struct options {
    struct tenon_opt_list set, unset, rename, drop;
};

static const struct tenon_opt options[] = {
    {.name = "set",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, set),
     .value = "KEY[:TYPE]=VALUE",
     .flags = TENON_OPT_REPEATED,
     .help = "give a metadata key a value; it keeps its type where none is given, a new key of a "
             "GGUF file needs one (u8 to f64, bool, string, array<u8> and so on); arrays as JSON "
             "or as 1,2,3"},
    {.name = "unset",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, unset),
     .value = "KEY",
     .flags = TENON_OPT_REPEATED,
     .help = "take a metadata key away"},
    {.name = "rename",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, rename),
     .value = "OLD=NEW",
     .flags = TENON_OPT_REPEATED,
     .help = "give a tensor another name"},
    {.name = "drop",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, drop),
     .value = "GLOB",
     .flags = TENON_OPT_REPEATED,
     .help = "leave out the tensors whose names fit the pattern"},
};

static struct tenon_str text_of(const char *text, size_t len)
{
    return (struct tenon_str){text, len};
}

/* Whether the `len` characters at `text` are the name of a type, or of an array of one. */
static bool is_type(const char *text, size_t len)
{
    static const char head[] = "array<";
    const size_t n = sizeof(head) - 1;

    if (len > n + 1 && memcmp(text, head, n) == 0 && text[len - 1] == '>') {
        text += n;
        len -= n + 1;
    }
    for (unsigned type = 0; type <= TENON_META_F64; type++) {
        const char *name = tenon_meta_type_name((enum tenon_meta_type)type);

        if (type != TENON_META_ARRAY && strlen(name) == len && memcmp(name, text, len) == 0)
            return true;
    }
    return false;
}

/* Takes "LEFT=RIGHT" apart at the first equals sign. */
static enum tenon_status take_apart(const char *option, const char *text, struct tenon_edit *out,
                                    struct tenon_error *err)
{
    const char *equals = strchr(text, '=');

    if (equals == NULL) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "--%s: no '=' in '%.200s'", option, text);
        tenon_report_hint(err, "see 'tenon help edit'");
        return TENON_ERR_MISUSE;
    }
    out->name = text_of(text, (size_t)(equals - text));
    out->value = text_of(equals + 1, strlen(equals + 1));
    out->type = text_of("", 0);
    return TENON_OK;
}

/* "KEY:TYPE" into its parts, where the end is the name of a type. */
static void take_type(struct tenon_edit *edit)
{
    size_t colon = edit->name.len;

    while (colon > 0 && edit->name.data[colon - 1] != ':')
        colon--;
    if (colon < 2 || !is_type(edit->name.data + colon, edit->name.len - colon))
        return;
    edit->type = text_of(edit->name.data + colon, edit->name.len - colon);
    edit->name.len = colon - 1;
}

/* Every change, in the order in which they are carried out: what is gone cannot clash. */
static enum tenon_status collect(const struct options *o, struct tenon_edit *edits,
                                 struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < o->drop.n; i++)
        *edits++ = (struct tenon_edit){.kind = TENON_EDIT_DROP,
                                       .name = text_of(o->drop.items[i], strlen(o->drop.items[i])),
                                       .value = text_of("", 0),
                                       .type = text_of("", 0)};
    for (size_t i = 0; st == TENON_OK && i < o->rename.n; i++, edits++) {
        edits->kind = TENON_EDIT_RENAME;
        st = take_apart("rename", o->rename.items[i], edits, err);
    }
    for (size_t i = 0; st == TENON_OK && i < o->unset.n; i++)
        *edits++ = (struct tenon_edit){
            .kind = TENON_EDIT_UNSET,
            .name = text_of(o->unset.items[i], strlen(o->unset.items[i])),
            .value = text_of("", 0),
            .type = text_of("", 0),
        };
    for (size_t i = 0; st == TENON_OK && i < o->set.n; i++, edits++) {
        edits->kind = TENON_EDIT_SET;
        st = take_apart("set", o->set.items[i], edits, err);
        if (st == TENON_OK)
            take_type(edits);
    }
    return st;
}

static enum tenon_status read_edits(const struct options *o, struct tenon_edit **out, size_t *out_n,
                                    struct tenon_error *err)
{
    *out_n = o->set.n + o->unset.n + o->rename.n + o->drop.n;
    if (*out_n == 0) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "no change is asked for");
        tenon_report_hint(err, "use --set, --unset, --rename or --drop");
        return TENON_ERR_MISUSE;
    }
    *out = tenon_tool_alloc(*out_n, sizeof(**out), err);
    return *out != NULL ? collect(o, *out, err) : TENON_ERR_NO_MEMORY;
}

static int run(struct tenon_tool *tool)
{
    struct tenon_edit_options edit = {0};
    struct tenon_edit *edits = NULL;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    const char *target = NULL;
    enum tenon_status st = tenon_write_target(tool, tool->operands[0], &target, &err);

    if (st == TENON_OK)
        st = read_edits(tool->options, &edits, &edit.n_edits, &err);
    edit.edits = edits;
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK) {
        st = tenon_plan_edit(model, target, &edit, &plan, &err);
        if (st != TENON_OK)
            tenon_report_path(&err, tool->operands[0]);
    }
    if (st == TENON_OK)
        st = tenon_write_plan(tool, plan, &err);
    tenon_plan_free(plan);
    tenon_model_free(model);
    free(edits);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon edit model.gguf -o named.gguf --set general.name=Tiny", "the type stays string"},
    {"tenon edit model.gguf --in-place --set llama.context_length=8192", "the type stays u32"},
    {"tenon edit a.gguf -o b.gguf --set general.tags:array<string>=a,b", "a new key"},
    {"tenon edit model/ -o less/ --drop 'vision_tower.*'", "the index follows"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_edit = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Changes metadata and the names of tensors, and nothing else: what no option names stays "
        "as it is, byte for byte, types and order included. All options can be repeated; tensors "
        "are dropped first, then renamed, then keys are taken away, then set.\n"
        "In safetensors files metadata is the text of __metadata__. What came from GGUF has its "
        "type at the end of the key there (llama.block_count:u32): --set and --unset find it under "
        "the name without type, and a value must be one of that type. The config of a folder is "
        "not touched. A change that finds nothing to change is an error. A new general.alignment "
        "moves "
        "all payloads.",
    .writes = true,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
