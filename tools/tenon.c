/* The program: common options, finding the command, signals, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "save.h"
#include "tenon/plan.h"
#include "tool.h"

#define X(name, summary, group) extern const struct tenon_command tenon_command_##name;
#include "commands.def"
#undef X

enum group { GROUP_LOOK, GROUP_TIE, GROUP_EMBED, GROUP_REWRITE, GROUP_HELP };

static const struct tenon_command_row rows[] = {
#define X(name, summary, group) {#name, summary, GROUP_##group, &tenon_command_##name},
#include "commands.def"
#undef X
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct tenon_command_row *tenon_command_at(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

const char *tenon_command_group(int group)
{
    static const char *const headings[] = {
        [GROUP_LOOK] = "Looking",           [GROUP_TIE] = "Tying",
        [GROUP_EMBED] = "Embedding",        [GROUP_REWRITE] = "Rewriting",
        [GROUP_HELP] = "About the program",
    };

    return headings[group];
}

const struct tenon_command_row *tenon_command_find(const char *name, struct tenon_error *err)
{
    const char *names[N_ROWS];
    const char *nearest;

    for (size_t i = 0; i < N_ROWS; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
        names[i] = rows[i].name;
    }
    nearest = tenon_opt_nearest(name, names, N_ROWS);
    tenon_report_fail(err, TENON_ERR_MISUSE, "unknown command '%.80s'", name);
    if (nearest != NULL)
        tenon_report_hint(err, "did you mean '%s'?", nearest);
    else
        tenon_report_hint(err, "'tenon help' lists the commands");
    return NULL;
}

/* Removes an unfinished output and dies by the signal, so that the caller sees what happened. */
static void die_by_signal(int number)
{
    tenon_save_abort();
    tenon_plan_abort();
    tenon_progress_abort();
    signal(number, SIG_DFL);
    raise(number);
}

static void install_handlers(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = die_by_signal};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction old;

        /* What the parent ignores (nohup) stays ignored. */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN); /* a closed pipe comes as EPIPE */
    signal(SIGXFSZ, SIG_IGN); /* a file size limit comes as EFBIG */
}

/* A closed descriptor 0, 1 or 2 must not be given to the first file we open. It is filled with
 * one that refuses what the stream is for, so that use of it is still an error. */
static void occupy_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            _exit(4);
}

static void init_tool(struct tenon_tool *tool)
{
    const char *mask = getenv("TENON_CPU_MASK");
    uint64_t bits;

    *tool = (struct tenon_tool){.common = {.cpu_mask = UINT32_MAX}};
    if (mask != NULL && tenon_opt_u64(mask, NULL, &bits) && bits <= UINT32_MAX)
        tool->common.cpu_mask = bits;
    tenon_out_init(&tool->out, STDOUT_FILENO);
}

static void init_terms(struct tenon_tool *tool)
{
    enum tenon_color color = (enum tenon_color)tool->common.color;

    tenon_term_init(&tool->term, STDOUT_FILENO, color);
    tenon_term_init(&tool->error_term, STDERR_FILENO, color);
}

/* Whether standard output is closed: at the other end of a pipe, or from the beginning. */
static bool nobody_reads(int error)
{
    return error == EPIPE || error == EBADF;
}

/* The last word on standard output: what could not be written is an error, except that nobody
 * is there to read it. */
static int finish(struct tenon_tool *tool, int status)
{
    struct tenon_error err = {0};

    if (!tenon_out_flush(&tool->out) && !nobody_reads(tool->out.error)) {
        int refused;

        tenon_report_errno(&err, "", tool->out.error, "cannot write to standard output");
        refused = tenon_tool_fail(tool, &err);
        status = status > refused ? status : refused;
    }
    tenon_out_release(&tool->out);
    return status;
}

/* A fault in one option must not hide that JSON is asked for by another behind it. */
static void look_for_json(struct tenon_tool *tool, const char *const *argv, size_t n)
{
    for (size_t i = 0; i < n && strcmp(argv[i], "--") != 0; i++)
        tool->common.json = tool->common.json || strcmp(argv[i], "--json") == 0;
}

static enum tenon_status check_operands(const struct tenon_command_row *row, size_t n,
                                        struct tenon_error *err)
{
    const struct tenon_command *command = row->command;

    if (n < command->min_operands)
        tenon_report_fail(err, TENON_ERR_MISUSE, "'%s' needs %s", row->name, command->operands);
    else if (n > command->max_operands)
        tenon_report_fail(err, TENON_ERR_MISUSE, "'%s' takes %s, but %zu operand%s given",
                          row->name,
                          command->operands[0] != '\0' ? command->operands : "no operand", n,
                          n == 1 ? " is" : "s are");
    else
        return TENON_OK;
    tenon_report_hint(err, "see 'tenon help %s'", row->name);
    return TENON_ERR_MISUSE;
}

static int print_version(struct tenon_tool *tool)
{
    tenon_out_printf(&tool->out, "tenon %s\n", tenon_version());
    return TENON_EXIT_YES;
}

static int run_command(struct tenon_tool *tool, const struct tenon_command_row *row,
                       struct tenon_opt_parse *parse, const char *const *argv, size_t n)
{
    const struct tenon_command *command = row->command;
    struct tenon_error err = {0};
    enum tenon_status st;

    if (command->defaults != NULL)
        memcpy(tool->options, command->defaults, command->options_bytes);
    parse->tables[1] = (struct tenon_opt_table){
        .options = command->options, .n = command->n_options, .values = tool->options};
    parse->tables[2] = (struct tenon_opt_table){.options = tenon_write_options,
                                                .n = tenon_tool_n_write_options(command),
                                                .values = &tool->write};
    st = tenon_opt_parse(parse, argv, n, &err);
    init_terms(tool);
    if (st == TENON_OK && tool->common.help) {
        tenon_help_command(&tool->out, &tool->term, row);
        return TENON_EXIT_YES;
    }
    if (st == TENON_OK && tool->common.version)
        return print_version(tool);
    if (st == TENON_OK) {
        st = check_operands(row, parse->n_operands, &err);
    } else {
        look_for_json(tool, argv, n);
        tenon_report_hint(&err, "see 'tenon help %s'", row->name);
    }
    if (st != TENON_OK)
        return tenon_tool_fail(tool, &err);
    tool->command = command;
    tool->given = parse->tables[1].given;
    tool->operands = parse->operands;
    tool->n_operands = parse->n_operands;
    return command->run(tool);
}

/* Common options may stand before the command, too. */
static int run_program(struct tenon_tool *tool, const char *const *argv, size_t n)
{
    _Alignas(max_align_t) char options[TENON_OPTIONS_BYTES] = {0};
    struct tenon_opt_table common = {
        .options = tenon_common_options, .n = tenon_n_common_options, .values = &tool->common};
    struct tenon_opt_parse first = {.tables = {common}, .stop_at_operand = true};
    struct tenon_opt_parse rest = {0};
    const struct tenon_command_row *row = NULL;
    struct tenon_error err = {0};
    enum tenon_status st = tenon_opt_parse(&first, argv, n, &err);
    int status = TENON_EXIT_YES;

    init_terms(tool);
    tool->options = options;
    rest.tables[0] = first.tables[0];
    if (st == TENON_OK && tool->common.version) {
        status = print_version(tool);
    } else if (st == TENON_OK && tool->common.help) {
        tenon_help_program(&tool->out, &tool->term);
    } else if (st == TENON_OK && first.n_used == n) {
        tenon_report_fail(&err, TENON_ERR_MISUSE, "no command is given");
        tenon_report_hint(&err, "'tenon help' lists the commands");
        status = tenon_tool_fail(tool, &err);
    } else {
        if (st == TENON_OK)
            row = tenon_command_find(argv[first.n_used], &err);
        if (row == NULL) {
            look_for_json(tool, argv, n);
            tenon_report_hint(&err, "see 'tenon help'");
        }
        status = row == NULL
                     ? tenon_tool_fail(tool, &err)
                     : run_command(tool, row, &rest, argv + first.n_used + 1, n - first.n_used - 1);
    }
    tenon_opt_release(&first);
    tenon_opt_release(&rest);
    return status;
}

int main(int argc, char **argv)
{
    struct tenon_tool tool;
    int status;

    occupy_standard_streams();
    setlocale(LC_CTYPE, "");
    install_handlers();
    init_tool(&tool);
    status = run_program(&tool, argc > 0 ? (const char *const *)argv + 1 : NULL,
                         argc > 0 ? (size_t)argc - 1 : 0);
    return finish(&tool, status);
}
