/* tenon help: the overview, a command's help, or the manual page's source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

struct options {
    const char *page;
};

static const struct tenon_opt options[] = {
    {.name = "page",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, page),
     .value = "FILE",
     .flags = TENON_OPT_HIDDEN | TENON_OPT_FILE,
     .help = "fill the tables into the manual page source FILE"},
};

/* The whole of a small text file, to be freed; NULL with `err` filled. */
static char *read_page(const char *path, struct tenon_error *err)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = tenon_tool_alloc(1, MOST, err);
    size_t n = 0;

    if (file != NULL && text != NULL)
        n = fread(text, 1, MOST - 1, file);
    if (file == NULL || ferror(file) || n == MOST - 1) {
        tenon_report_fail(err, TENON_ERR_IO, "cannot read the page");
        tenon_report_path(err, path);
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    const struct tenon_command_row *row;
    struct tenon_error err = {0};

    if (tool->common.json) {
        tenon_report_fail(&err, TENON_ERR_MISUSE, "'help' has no JSON form");
        return tenon_tool_fail(tool, &err);
    }
    if (o->page != NULL) {
        char *page = read_page(o->page, &err);

        if (page == NULL)
            return tenon_tool_fail(tool, &err);
        tenon_help_page(&tool->out, page);
        free(page);
        return TENON_EXIT_YES;
    }
    if (tool->n_operands == 0) {
        tenon_help_program(&tool->out, &tool->term);
        return TENON_EXIT_YES;
    }
    row = tenon_command_find(tool->operands[0], &err);
    if (row == NULL)
        return tenon_tool_fail(tool, &err);
    tenon_help_command(&tool->out, &tool->term, row);
    return TENON_EXIT_YES;
}

static const struct tenon_example examples[] = {
    {"tenon help tied", "what the verdicts mean and which options there are"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_help = {
    .operands = "[COMMAND]",
    .max_operands = 1,
    .about = "Shows all commands, or explains one.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
