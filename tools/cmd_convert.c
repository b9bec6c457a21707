/* tenon convert: another container, other element types, other shards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_out.h"
#include "tenon/arch.h"
#include "tenon/convert.h"
#include "tool.h"

struct options {
    unsigned to;
    const char *dtype;
    struct tenon_opt_list dtype_for;
    uint64_t max_shard_size;
    const char *arch;
    bool allow_overflow, drop_metadata;
    unsigned names;
};

/* The first word stands for "as OUT is called". */
static const char *const containers[] = {"auto", "gguf", "safetensors", NULL};

/* What becomes of the names of tensors. */
static const char *const names[] = {"keep", NULL};

static const char overflow_option[] = "--allow-overflow";

static const struct tenon_opt options[] = {
    {.name = "to",
     .kind = TENON_OPT_CHOICE,
     .field = offsetof(struct options, to),
     .value = "FORMAT",
     .choices = containers,
     .help = "the container: gguf, safetensors, or auto: as the name of OUT says"},
    {.name = "dtype",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, dtype),
     .value = "TYPE",
     .help = "element type of matrices of floats, but for norms and biases"},
    {.name = "dtype-for",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, dtype_for),
     .value = "GLOB=TYPE",
     .flags = TENON_OPT_REPEATED,
     .help = "element type of tensors whose names fit, whatever they are; the last that fits "
             "decides"},
    {.name = "max-shard-size",
     .kind = TENON_OPT_SIZE,
     .field = offsetof(struct options, max_shard_size),
     .value = "SIZE",
     .min = 1,
     .max = UINT64_MAX,
     .help = "safetensors: spread the tensors over files that hold at most that much, 5GB"},
    {.name = "arch",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, arch),
     .value = "NAME",
     .help = "GGUF: general.architecture, where it cannot be told; one of 'tenon archs'"},
    {.name = "names",
     .kind = TENON_OPT_CHOICE,
     .field = offsetof(struct options, names),
     .value = "WHICH",
     .choices = names,
     .help = "names of the tensors: keep, which is all there is: none are translated"},
    {.name = "allow-overflow",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, allow_overflow),
     .help = "let numbers that a type cannot hold become infinite"},
    {.name = "drop-metadata",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, drop_metadata),
     .help = "leave out metadata that the container cannot hold, and values of keys that have "
             "another value in an earlier file of a set"},
};

static enum tenon_status parse_type(const char *option, const char *text, enum tenon_dtype *out,
                                    struct tenon_error *err)
{
    *out = tenon_dtype_from_name(text, strlen(text));
    if (*out != TENON_DTYPE_UNKNOWN)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_MISUSE, "--%s: '%.60s' is no element type", option, text);
    tenon_report_hint(err, "'tenon dtypes' lists them");
    return TENON_ERR_MISUSE;
}

/* "GLOB=TYPE", apart at the last equals sign. The pattern is put where the rule owns it. */
static enum tenon_status parse_rule(const char *text, struct tenon_dtype_rule *out,
                                    struct tenon_error *err)
{
    const char *equals = strrchr(text, '=');
    char *pattern;

    if (equals == NULL || equals == text) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "--dtype-for: '%.60s' is not GLOB=TYPE", text);
        tenon_report_hint(err, "for example --dtype-for 'lm_head.*=F16'");
        return TENON_ERR_MISUSE;
    }
    pattern = tenon_tool_alloc((size_t)(equals - text) + 1, 1, err);
    if (pattern == NULL)
        return TENON_ERR_NO_MEMORY;
    memcpy(pattern, text, (size_t)(equals - text));
    out->pattern = pattern;
    return parse_type("dtype-for", equals + 1, &out->dtype, err);
}

static enum tenon_status parse_options(const struct options *o, struct tenon_dtype_rule *rules,
                                       struct tenon_convert_options *out, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    tenon_convert_options_init(out);
    out->format = o->to != 0 ? containers[o->to] : NULL;
    out->max_shard_bytes = o->max_shard_size;
    out->arch = o->arch;
    out->drop_metadata = o->drop_metadata;
    out->rules = rules;
    out->n_rules = o->dtype_for.n;
    if (o->dtype != NULL)
        st = parse_type("dtype", o->dtype, &out->dtype, err);
    for (size_t i = 0; st == TENON_OK && i < o->dtype_for.n; i++)
        st = parse_rule(o->dtype_for.items[i], &rules[i], err);
    return st;
}

/* Does all casts once, to list what is too large for its new type. */
static enum tenon_status find_overflows(struct tenon_tool *tool, struct tenon_plan *plan,
                                        bool allowed, struct tenon_error *err)
{
    struct tenon_run_options run;
    struct tenon_progress progress;
    enum tenon_status st;

    tenon_run_options_init(&run);
    run.threads = (unsigned)tool->common.threads;
    run.progress = tenon_progress_show;
    run.user = &progress;
    tenon_progress_init(&progress, "checking", tool->common.quiet);
    st = tenon_plan_scan(plan, &run, overflow_option, allowed, err);
    tenon_progress_end(&progress);
    return st;
}

/* Which losses a plan has got since there were `n`: they are listed, and the first is the error. */
static enum tenon_status report_losses(struct tenon_tool *tool, const struct tenon_plan *plan,
                                       size_t n, struct tenon_error *err)
{
    const struct tenon_loss *first = tenon_plan_loss(plan, n);

    for (size_t i = n; i < tenon_plan_n_losses(plan) && !tool->common.json; i++)
        tenon_tool_note(tool, "lost: %s: %s", tenon_plan_loss(plan, i)->subject,
                        tenon_plan_loss(plan, i)->text);
    *err = (struct tenon_error){0};
    tenon_report_fail(err, TENON_ERR_CANNOT_REPRESENT, "%s", first->text);
    snprintf(err->subject, sizeof(err->subject), "%s", first->subject);
    tenon_report_path(err, tool->operands[0]);
    tenon_report_hint(err, "%s allows it", first->option);
    return TENON_ERR_CANNOT_REPRESENT;
}

/* Casts are looked at beforehand only when somebody wants to know, or allows what will be found:
 * else a run stops at the first number that is too large, nothing appears, and then all are
 * found. */
static enum tenon_status write_out(struct tenon_tool *tool, struct tenon_plan *plan,
                                   struct tenon_error *err)
{
    const struct options *o = tool->options;
    bool beforehand = tool->write.dry_run || o->allow_overflow;
    enum tenon_status st = TENON_OK;
    struct tenon_error other = {0};
    size_t n;

    if (beforehand)
        st = find_overflows(tool, plan, o->allow_overflow, err);
    if (st == TENON_OK)
        st = tenon_write_plan(tool, plan, err);
    n = tenon_plan_n_losses(plan);
    if (st != TENON_ERR_CANNOT_REPRESENT || beforehand ||
        find_overflows(tool, plan, false, &other) != TENON_OK || tenon_plan_n_losses(plan) == n)
        return st;
    return report_losses(tool, plan, n, err);
}

/* What no loader of GGUF files knows is most likely a slip. */
static enum tenon_status check_known(const struct tenon_tool *tool, const char *arch,
                                     struct tenon_error *err)
{
    if (arch == NULL || tool->write.force || tenon_arch_find_gguf(arch, strlen(arch)) != NULL)
        return TENON_OK;
    tenon_report_fail(
        err, TENON_ERR_MISUSE,
        "option '--arch': '%.80s' is no architecture that GGUF files are known to have", arch);
    tenon_report_hint(err, "'tenon archs' lists them; --force writes it all the same");
    return TENON_ERR_MISUSE;
}

/* An architecture is written into GGUF files only. */
static enum tenon_status check_arch(const struct tenon_tool *tool, const struct tenon_plan *plan,
                                    struct tenon_error *err)
{
    for (size_t i = 0; i < tenon_plan_n_files(plan); i++) {
        const struct tenon_plan_file *file = tenon_plan_file(plan, i);

        if (file->kind == TENON_PLAN_MODEL && strcmp(file->format, containers[1]) == 0)
            return TENON_OK;
    }
    return tenon_tool_refuse(tool, "arch", "only GGUF names an architecture", err);
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_convert_options convert;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    const char *target = NULL;
    struct tenon_dtype_rule *rules = tenon_tool_alloc(o->dtype_for.n, sizeof(*rules), &err);
    enum tenon_status st = rules != NULL ? TENON_OK : TENON_ERR_NO_MEMORY;

    if (st == TENON_OK)
        st = tenon_write_target(tool, tool->operands[0], &target, &err);
    if (st == TENON_OK)
        st = parse_options(o, rules, &convert, &err);
    if (st == TENON_OK)
        st = check_known(tool, o->arch, &err);
    convert.other_arch = tool->write.force;
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK) {
        st = tenon_plan_convert(model, target, &convert, &plan, &err);
        if (st != TENON_OK)
            tenon_report_path(&err, tool->operands[0]);
    }
    if (st == TENON_OK)
        st = check_arch(tool, plan, &err);
    if (st == TENON_OK)
        st = write_out(tool, plan, &err);
    tenon_plan_free(plan);
    tenon_model_free(model);
    for (size_t i = 0; rules != NULL && i < o->dtype_for.n; i++)
        free((void *)(uintptr_t)rules[i].pattern);
    free(rules);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon convert model.gguf -o model.safetensors", "the same tensors in the other container"},
    {"tenon convert model/ -o half/ --dtype BF16", "a folder whose matrices take half the space"},
    {"tenon convert model/ -o small.gguf --dtype Q8_0 --dtype-for '*embed*=F16'",
     "blocks of 8 bits, but for the embedding"},
    {"tenon convert model/ -o shards/ --max-shard-size 2GB", "other shards, the same bytes"},
    {"tenon convert model.gguf -o f16.gguf --dtype F16 --dry-run", "what would happen"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_convert = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Writes a model in another container, with other element types, or in other shards. Names, "
        "order and shapes stay; what keeps its type is copied byte for byte. Metadata of GGUF goes "
        "into safetensors with its types at the ends of the keys (llama.block_count:u32), and "
        "comes back from there.\n"
        "A conversion to GGUF keeps the names of the tensors, too: it makes a container of the "
        "same tensors, not a model that llama.cpp loads.\n"
        "Codes with scales beside them (8-bit floats, MXFP4) become numbers when they get another "
        "type. Numbers that their new type cannot hold are counted, and refused without "
        "--allow-overflow. A folder stays a folder unless OUT is called like a file; its config "
        "goes along, and names the type of the weights by far most (nine tenths of the elements of "
        "matrices) where that is a new one.",
    .writes = true,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
