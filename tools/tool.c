#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/dtype.h"
#include "tenon/text.h"

static const char *const color_words[] = {"auto", "always", "never", NULL};

#define FIELD(name) offsetof(struct tenon_common, name)
const struct tenon_opt tenon_common_options[] = {
    {.name = "json",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(json),
     .help = "one JSON document on standard output, errors as JSON on standard error"},
    {.letter = 'q',
     .name = "quiet",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(quiet),
     .help = "no notes and no progress; tied, diff and check only give their exit status"},
    {.letter = 'v',
     .name = "verbose",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(verbose),
     .help = "more detail, where there is more"},
    {.letter = 'j',
     .name = "threads",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(threads),
     .value = "N",
     .min = 1,
     .max = 1024,
     .help = "worker threads (default: as many as there are processors)"},
    {.name = "color",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(color),
     .value = "WHEN",
     .choices = color_words,
     .help = "colour: auto (on a terminal, unless NO_COLOR is set), "
             "always or never"},
    {.letter = 'h',
     .name = "help",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(help),
     .help = "show help and exit"},
    {.name = "version",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(version),
     .help = "show the version and exit"},
    {.name = "cpu-mask",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(cpu_mask),
     .value = "BITS",
     .max = UINT32_MAX,
     .flags = TENON_OPT_HIDDEN,
     .help = "instruction sets that the codecs may use"},
};
const size_t tenon_n_common_options =
    sizeof(tenon_common_options) / sizeof(tenon_common_options[0]);

#define WRITE_FIELD(name) offsetof(struct tenon_write, name)
const struct tenon_opt tenon_write_options[] = {
    {.letter = 'o',
     .name = "output",
     .kind = TENON_OPT_TEXT,
     .field = WRITE_FIELD(output),
     .value = "OUT",
     .flags = TENON_OPT_FILE,
     .help = "what to write: a file, for a folder a folder, for a split a prefix; - for standard "
             "output, where it is one file"},
    {.name = "force",
     .kind = TENON_OPT_FLAG,
     .field = WRITE_FIELD(force),
     .help = "replace an output that exists, and write what the reference loader would refuse"},
    {.name = "dry-run",
     .kind = TENON_OPT_FLAG,
     .field = WRITE_FIELD(dry_run),
     .help = "print what would be written, and write nothing"},
    {.name = "verify",
     .kind = TENON_OPT_FLAG,
     .field = WRITE_FIELD(verify),
     .help = "read the output back and compare every tensor with the plan"},
    {.name = "no-sync",
     .kind = TENON_OPT_FLAG,
     .field = WRITE_FIELD(no_sync),
     .help = "do not wait for the disk: faster, but a power cut may leave a torn file"},
    /* the last: tenon_tool_n_write_options leaves it out where it cannot be */
    {.name = "in-place",
     .kind = TENON_OPT_FLAG,
     .field = WRITE_FIELD(in_place),
     .help = "the output may be the input, which without -o it is; it is replaced whole or not at "
             "all"},
};

size_t tenon_tool_n_write_options(const struct tenon_command *command)
{
    if (!command->writes)
        return 0;
    return sizeof(tenon_write_options) / sizeof(tenon_write_options[0]) - command->writes_apart;
}

static enum tenon_status open_operand(struct tenon_tool *tool, size_t i, bool checking,
                                      struct tenon_model **out, struct tenon_error *err)
{
    struct tenon_open_options options;
    enum tenon_status st;

    tenon_open_options_init(&options);
    options.cpu_mask_out = ~(unsigned)tool->common.cpu_mask;
    options.lenient = options.thorough = checking;
    st = tenon_model_open(tool->operands[i], &options, out, err);
    if (st != TENON_OK)
        tenon_report_path(err, tool->operands[i]);
    return st;
}

enum tenon_status tenon_tool_open(struct tenon_tool *tool, size_t i, struct tenon_model **out,
                                  struct tenon_error *err)
{
    return open_operand(tool, i, false, out, err);
}

enum tenon_status tenon_tool_open_to_check(struct tenon_tool *tool, size_t i,
                                           struct tenon_model **out, struct tenon_error *err)
{
    return open_operand(tool, i, true, out, err);
}

int tenon_tool_fail(struct tenon_tool *tool, const struct tenon_error *err)
{
    struct tenon_out out;

    tenon_out_flush(&tool->out);
    tenon_out_init(&out, STDERR_FILENO);
    tenon_report_write(&out, err, tool->common.json, &tool->error_term);
    tenon_out_flush(&out);
    tenon_out_release(&out);
    return tenon_status_exit(err->status);
}

/* Bit of the option that is called so; 0 when none is. */
static uint64_t find_bit(const struct tenon_command *command, const char *name, size_t len)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (strncmp(command->options[i].name, name, len) == 0 &&
            command->options[i].name[len] == '\0')
            return UINT64_C(1) << i;
    return 0;
}

/* Whether the option was given, and with another value than it has anyway. */
static bool is_meant(const struct tenon_tool *tool, const char *name, size_t len)
{
    static const size_t bytes[] = {[TENON_OPT_NUMBER] = sizeof(uint64_t),
                                   [TENON_OPT_REAL] = sizeof(double),
                                   [TENON_OPT_CHOICE] = sizeof(unsigned)}; /* of the field */
    static const unsigned char zeros[sizeof(uint64_t)];
    const struct tenon_command *c = tool->command;
    const uint64_t bit = find_bit(c, name, len);

    for (size_t i = 0; (tool->given & bit) != 0 && i < c->n_options; i++) {
        const struct tenon_opt *opt = &c->options[i];
        const size_t n =
            (size_t)opt->kind < sizeof(bytes) / sizeof(bytes[0]) ? bytes[opt->kind] : 0;
        const void *usual =
            c->defaults != NULL ? (const char *)c->defaults + opt->field : (const char *)zeros;

        if (bit == UINT64_C(1) << i)
            return n == 0 || memcmp((const char *)tool->options + opt->field, usual, n) != 0;
    }
    return false;
}

bool tenon_tool_given(const struct tenon_tool *tool, const char *name)
{
    return (tool->given & find_bit(tool->command, name, strlen(name))) != 0;
}

enum tenon_status tenon_tool_refuse(const struct tenon_tool *tool, const char *names,
                                    const char *why, struct tenon_error *err)
{
    for (size_t len; *names != '\0'; names += len + (names[len] == ' ')) {
        len = strcspn(names, " ");
        if (!is_meant(tool, names, len))
            continue;
        tenon_report_fail(err, TENON_ERR_MISUSE, "--%.*s changes nothing here: %s", (int)len, names,
                          why);
        return TENON_ERR_MISUSE;
    }
    return TENON_OK;
}

void tenon_tool_note(struct tenon_tool *tool, const char *format, ...)
{
    char raw[512], safe[1024];
    struct tenon_out out;
    va_list args;

    if (tool->common.quiet)
        return;
    va_start(args, format);
    if (vsnprintf(raw, sizeof(raw), format, args) < 0)
        raw[0] = '\0';
    va_end(args);
    tenon_text_sanitise(safe, sizeof(safe), raw, strlen(raw));
    tenon_out_flush(&tool->out);
    tenon_out_init(&out, STDERR_FILENO);
    tenon_out_printf(&out, "tenon: %s\n", safe);
    tenon_out_flush(&out);
    tenon_out_release(&out);
}

void *tenon_tool_alloc(size_t n, size_t size, struct tenon_error *err)
{
    void *p = calloc(n != 0 ? n : 1, size);

    if (p == NULL)
        tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    return p;
}

void tenon_tool_shape_cell(struct tenon_table *table, const struct tenon_tensor *tensor)
{
    char text[256] = "[";
    size_t used = 1;

    for (uint32_t i = 0; i < tensor->n_dims && used < sizeof(text) - 32; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)tensor->dims[i]);
    tenon_table_cell(table, "%s]", text);
}

void tenon_tool_shape_json(struct tenon_json *json, const char *key,
                           const struct tenon_tensor *tensor)
{
    tenon_json_array_flat(json, key);
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        tenon_json_u64(json, NULL, tensor->dims[i]);
    tenon_json_end(json);
}

void tenon_tool_dtype_cell(struct tenon_table *table, const struct tenon_model *model,
                           const struct tenon_tensor *tensor)
{
    struct tenon_str text = tenon_tensor_dtype_text(model, tensor);

    if (text.len > 0)
        tenon_table_safe(table, text.data, text.len);
    else if (tensor->dtype == TENON_DTYPE_UNKNOWN)
        tenon_table_cell(table, "type %u", tensor->dtype_raw);
    else
        tenon_table_cell(table, "%s", tenon_dtype_name(tensor->dtype));
}

void tenon_tool_dtype_json(struct tenon_json *json, const char *key,
                           const struct tenon_model *model, const struct tenon_tensor *tensor)
{
    struct tenon_str text = tenon_tensor_dtype_text(model, tensor);
    char number[24];

    if (text.len > 0) {
        tenon_json_str(json, key, text);
        return;
    }
    snprintf(number, sizeof(number), "type %u", tensor->dtype_raw);
    tenon_json_text(
        json, key, tensor->dtype == TENON_DTYPE_UNKNOWN ? number : tenon_dtype_name(tensor->dtype));
}

void tenon_tool_finding_json(struct tenon_json *json, const struct tenon_finding *finding,
                             const char *path)
{
    tenon_json_object(json, NULL);
    tenon_json_text(json, "severity", tenon_severity_name(finding->severity));
    tenon_json_text(json, "code", finding->code);
    tenon_json_text(json, "source", finding->source);
    tenon_json_text(json, "subject", finding->subject[0] != '\0' ? finding->subject : NULL);
    tenon_json_text(json, "message", finding->message);
    tenon_json_offset(json, "offset", finding->offset);
    if (path != NULL)
        tenon_json_text(json, "path", path);
    tenon_json_end(json);
}
