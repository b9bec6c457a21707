/* What all commands share: the description of a command, and the run of one. */
#ifndef TENON_TOOLS_TOOL_H
#define TENON_TOOLS_TOOL_H

#include "opt.h"
#include "out.h"
#include "out_json.h"
#include "out_table.h"
#include "report.h"
#include "tenon/model.h"
#include "term.h"

/* Exit statuses besides those of errors.def. */
enum { TENON_EXIT_YES = 0, TENON_EXIT_NO = 1 };

struct tenon_command;

/* Values of the options that every command takes. */
struct tenon_common {
    bool json, quiet, verbose, help, version;
    uint64_t threads; /* 0: as many as the machine has processors */
    unsigned color;   /* enum tenon_color */
    uint64_t cpu_mask;
};

/* Values of the options of every command that writes models. */
struct tenon_write {
    const char *output; /* NULL: not given */
    bool force, in_place, dry_run, verify, no_sync;
};

/* One run of a command. */
struct tenon_tool {
    struct tenon_common common;
    struct tenon_write write;
    struct tenon_out out;               /* standard output */
    struct tenon_term term, error_term; /* of standard output, of standard error */
    const struct tenon_command *command;
    void *options;  /* the command's struct, filled */
    uint64_t given; /* bit i: its option i was on the command line */
    const char *const *operands;
    size_t n_operands;
};

enum { TENON_OPTIONS_BYTES = 256, TENON_ANY_NUMBER = 0x7fffffff };

struct tenon_example {
    const char *line; /* "tenon ls model.gguf '*norm*'" */
    const char *text; /* what it does */
};

/* Everything static. */
struct tenon_command {
    const char *operands; /* as in the usage line: "MODEL [GLOB...]" */
    unsigned min_operands, max_operands;
    const char *about; /* paragraphs separated by newlines */
    const char *no;    /* what exit status 1 means here; NULL when it does not occur */
    bool writes;       /* it also takes tenon_write_options, and goes through plan_out.h */
    bool writes_apart; /* what it writes cannot be what it reads: no --in-place */
    const struct tenon_opt *options;
    size_t n_options;
    const void *defaults;                 /* copied into the options struct; NULL: all zero */
    size_t options_bytes;                 /* of that struct, at most TENON_OPTIONS_BYTES */
    const struct tenon_example *examples; /* ends with a NULL line */
    int (*run)(struct tenon_tool *tool);  /* returns the exit status */
};

/* One row of commands.def. */
struct tenon_command_row {
    const char *name, *summary;
    int group;
    const struct tenon_command *command;
};

/* Rows in list order; NULL after the last. */
const struct tenon_command_row *tenon_command_at(size_t i);

/* NULL when there is none; `err` then says so and offers the nearest. */
const struct tenon_command_row *tenon_command_find(const char *name, struct tenon_error *err);

/* The heading of a group, "Looking". */
const char *tenon_command_group(int group);

/* The options that every command takes. */
extern const struct tenon_opt tenon_common_options[];
extern const size_t tenon_n_common_options;

/* Those of the commands that write models. */
extern const struct tenon_opt tenon_write_options[];

/* How many of them `command` takes, from the first: none if it writes nothing. */
size_t tenon_tool_n_write_options(const struct tenon_command *command);

/* Opens operand `i`. On failure the error names the path. The lenient form takes what the format's
 * reference reader takes, and what is wrong with it as findings. */
TENON_MUST_USE enum tenon_status tenon_tool_open(struct tenon_tool *tool, size_t i,
                                                 struct tenon_model **out, struct tenon_error *err);
TENON_MUST_USE enum tenon_status tenon_tool_open_to_check(struct tenon_tool *tool, size_t i,
                                                          struct tenon_model **out,
                                                          struct tenon_error *err);

/* Shows a failure on standard error; returns its exit status. */
int tenon_tool_fail(struct tenon_tool *tool, const struct tenon_error *err);

/* Whether the command's own option `name` was on the command line. */
bool tenon_tool_given(const struct tenon_tool *tool, const char *name);

/* An option must not be left without effect: fails with MISUSE when one of `names` (separated by
 * blanks) was given with another value than its default, and says `why` it would change nothing. */
TENON_MUST_USE enum tenon_status tenon_tool_refuse(const struct tenon_tool *tool, const char *names,
                                                   const char *why, struct tenon_error *err);

/* One line on standard error, unless quiet. */
TENON_PRINTF(2, 3) void tenon_tool_note(struct tenon_tool *tool, const char *format, ...);

/* Zeroed memory for `n` items of `size` bytes; NULL with `err` filled when it cannot be had. */
void *tenon_tool_alloc(size_t n, size_t size, struct tenon_error *err);

/* Common words for text output: "[32000, 288]" of a shape into the table's next cell. */
void tenon_tool_shape_cell(struct tenon_table *table, const struct tenon_tensor *tensor);
void tenon_tool_shape_json(struct tenon_json *json, const char *key,
                           const struct tenon_tensor *tensor);

/* The name of a tensor's dtype: of the row, or what the file called it. */
void tenon_tool_dtype_cell(struct tenon_table *table, const struct tenon_model *model,
                           const struct tenon_tensor *tensor);
void tenon_tool_dtype_json(struct tenon_json *json, const char *key,
                           const struct tenon_model *model, const struct tenon_tensor *tensor);

/* The members of a finding, as an object in an array; `path` NULL leaves that member out. */
void tenon_tool_finding_json(struct tenon_json *json, const struct tenon_finding *finding,
                             const char *path);

#endif
