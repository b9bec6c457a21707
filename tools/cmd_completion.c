/* tenon completion: prints a shell's completion script. */
#include <string.h>

#include "help.h"

static const struct {
    const char *shell;
    void (*write)(struct tenon_out *out);
} shells[] = {
    {"bash", tenon_completion_bash},
    {"zsh", tenon_completion_zsh},
    {"fish", tenon_completion_fish},
};

static int run(struct tenon_tool *tool)
{
    struct tenon_error err = {0};

    if (tool->common.json) {
        tenon_report_fail(&err, TENON_ERR_MISUSE, "'completion' has no JSON form");
        return tenon_tool_fail(tool, &err);
    }
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(tool->operands[0], shells[i].shell) == 0) {
            shells[i].write(&tool->out);
            return TENON_EXIT_YES;
        }
    }
    tenon_report_fail(&err, TENON_ERR_MISUSE, "unknown shell '%.80s'", tool->operands[0]);
    tenon_report_hint(&err, "use bash, zsh or fish");
    return tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon completion bash > ~/.local/share/bash-completion/completions/tenon",
     "completion in bash for one user"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_completion = {
    .operands = "bash|zsh|fish",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Prints a completion script for a shell. An installed tenon brings them along.",
    .examples = examples,
    .run = run,
};
