#include "help.h"

#include <stdio.h>
#include <string.h>

static const char *bold(const struct tenon_term *term)
{
    return tenon_term_style(term, TENON_STYLE_BOLD);
}

static const char *plain(const struct tenon_term *term)
{
    return tenon_term_style(term, TENON_STYLE_PLAIN);
}

enum { INDENT = 26 }; /* where the explanations of options begin */

/* "-j, --threads N" */
static int format_option(char *buf, size_t size, const struct tenon_opt *opt)
{
    char letter[8] = "    ";

    if (opt->letter != '\0')
        snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
    return snprintf(buf, size, "%s--%s%s%s", letter, opt->name, opt->value != NULL ? " " : "",
                    opt->value != NULL ? opt->value : "");
}

static void print_options(struct tenon_out *out, const struct tenon_term *term,
                          const struct tenon_opt *options, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[80];
        int width;

        if ((options[i].flags & TENON_OPT_HIDDEN) != 0)
            continue;
        width = format_option(text, sizeof(text), &options[i]);
        tenon_out_printf(out, "  %-*s", INDENT - 4, text);
        if (width > INDENT - 4)
            tenon_out_printf(out, "\n%*s", INDENT - 2, "");
        tenon_out_text(out, "  ");
        tenon_out_wrapped(out, options[i].help, INDENT, INDENT, term->width);
    }
}

void tenon_help_program(struct tenon_out *out, const struct tenon_term *term)
{
    const struct tenon_command_row *row;
    int group = -1;

    tenon_out_printf(out, "%sUsage:%s tenon COMMAND [OPTIONS] MODEL...\n\n", bold(term),
                     plain(term));
    tenon_out_wrapped(
        out,
        "Opens model checkpoints (GGUF, safetensors, Hugging Face folders), says what "
        "is in them and what their embedding and output layers really are.",
        0, 0, term->width);
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        if (row->group != group)
            tenon_out_printf(out, "\n%s%s%s\n", bold(term), tenon_command_group(row->group),
                             plain(term));
        group = row->group;
        tenon_out_printf(out, "  %-12s%s\n", row->name, row->summary);
    }
    tenon_out_printf(out, "\n%sOptions everywhere%s\n", bold(term), plain(term));
    print_options(out, term, tenon_common_options, tenon_n_common_options);
    tenon_out_text(out, "\n'tenon help COMMAND' explains a command.\n");
}

/* What the exit statuses mean: fixed by the contract, 1 by the command. */
static const struct {
    int status;
    const char *text;
} exit_texts[] = {
    {0, "done, or the answer is yes"},
    {1, "the answer is no"},
    {2, "wrong usage"},
    {3, "the input cannot be used, or the target cannot hold it"},
    {4, "the system refused: I/O, permission, disk full, memory"},
};

static void print_exits(struct tenon_out *out, const struct tenon_command *command)
{
    for (size_t i = 0; i < sizeof(exit_texts) / sizeof(exit_texts[0]); i++) {
        if (exit_texts[i].status == TENON_EXIT_NO && command->no == NULL)
            continue;
        tenon_out_printf(out, "  %d  %s\n", exit_texts[i].status,
                         exit_texts[i].status == TENON_EXIT_NO ? command->no : exit_texts[i].text);
    }
}

static void print_paragraphs(struct tenon_out *out, const char *text, unsigned width)
{
    while (*text != '\0') {
        char paragraph[1024];
        size_t n = strcspn(text, "\n");

        snprintf(paragraph, sizeof(paragraph), "%.*s", (int)n, text);
        tenon_out_wrapped(out, paragraph, 0, 0, width);
        text += n;
        text += strspn(text, "\n");
        if (*text != '\0')
            tenon_out_text(out, "\n");
    }
}

static bool has_shown_options(const struct tenon_command *command)
{
    if (command->writes)
        return true;
    for (size_t i = 0; i < command->n_options; i++)
        if ((command->options[i].flags & TENON_OPT_HIDDEN) == 0)
            return true;
    return false;
}

void tenon_help_command(struct tenon_out *out, const struct tenon_term *term,
                        const struct tenon_command_row *row)
{
    const struct tenon_command *command = row->command;

    tenon_out_printf(out, "%sUsage:%s tenon %s [OPTIONS]%s%s\n\n", bold(term), plain(term),
                     row->name, command->operands[0] != '\0' ? " " : "", command->operands);
    print_paragraphs(out, command->about, term->width);
    if (has_shown_options(command)) {
        tenon_out_printf(out, "\n%sOptions%s\n", bold(term), plain(term));
        print_options(out, term, command->options, command->n_options);
        print_options(out, term, tenon_write_options, tenon_tool_n_write_options(command));
    }
    tenon_out_printf(out, "\n%sOptions everywhere%s\n", bold(term), plain(term));
    print_options(out, term, tenon_common_options, tenon_n_common_options);
    tenon_out_printf(out, "\n%sExit status%s\n", bold(term), plain(term));
    print_exits(out, command);
    if (command->examples != NULL && command->examples[0].line != NULL)
        tenon_out_printf(out, "\n%sExamples%s\n", bold(term), plain(term));
    for (const struct tenon_example *e = command->examples; e != NULL && e->line != NULL; e++)
        tenon_out_printf(out, "  %s\n      %s\n", e->line, e->text);
}

/* Text for scdoc, where these characters mean something. */
static void write_scdoc(struct tenon_out *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\*_", *text) != NULL)
            tenon_out_text(out, "\\");
        tenon_out_write(out, text, 1);
    }
}

static void write_options(struct tenon_out *out, const struct tenon_opt *options, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tenon_opt *opt = &options[i];

        if ((opt->flags & TENON_OPT_HIDDEN) != 0)
            continue;
        if (opt->letter != '\0')
            tenon_out_printf(out, "*-%c*, ", opt->letter);
        tenon_out_printf(out, "*--%s*", opt->name);
        if (opt->value != NULL)
            tenon_out_printf(out, " _%s_", opt->value);
        tenon_out_text(out, "\n\t");
        write_scdoc(out, opt->help);
        tenon_out_text(out, ".\n\n");
    }
}

/* Paragraphs separated by newlines; scdoc takes a dash at the beginning for a list. */
static void write_paragraphs(struct tenon_out *out, const char *text)
{
    while (*text != '\0') {
        char paragraph[1024];
        size_t n = strcspn(text, "\n");

        snprintf(paragraph, sizeof(paragraph), "%.*s", (int)n, text);
        tenon_out_text(out, paragraph[0] == '-' ? "\\" : "");
        write_scdoc(out, paragraph);
        text += n;
        text += strspn(text, "\n");
        tenon_out_text(out, *text != '\0' ? "\n\n" : "");
    }
}

static void write_commands(struct tenon_out *out)
{
    const struct tenon_command_row *row;

    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        const struct tenon_command *command = row->command;

        tenon_out_printf(out, "## tenon %s [options] %s\n\n", row->name, command->operands);
        write_paragraphs(out, command->about);
        tenon_out_text(out, "\n\n");
        write_options(out, command->options, command->n_options);
        write_options(out, tenon_write_options, tenon_tool_n_write_options(command));
        if (command->no != NULL)
            tenon_out_printf(out, "Exit status 1: %s.\n\n", command->no);
        for (const struct tenon_example *e = command->examples; e != NULL && e->line != NULL; e++) {
            tenon_out_text(out, "\t*");
            write_scdoc(out, e->line);
            tenon_out_printf(out, "*++\n\t%s\n\n", e->text);
        }
    }
}

/* Exit statuses, each with the error codes that lead to it. */
static void write_exits(struct tenon_out *out)
{
    for (size_t i = 0; i < sizeof(exit_texts) / sizeof(exit_texts[0]); i++) {
        const char *between = " (error codes: ";
        bool any = false;

        tenon_out_printf(out, "*%d*\n\t%s", exit_texts[i].status, exit_texts[i].text);
#define X(NAME, id, number, exit_status, text)                                                     \
    if ((exit_status) == exit_texts[i].status && (number) != 0) {                                  \
        tenon_out_text(out, between);                                                              \
        write_scdoc(out, #id);                                                                     \
        between = ", ";                                                                            \
        any = true;                                                                                \
    }
#include "tenon/errors.def"
#undef X
        tenon_out_text(out, any ? ")\n\n" : "\n\n");
    }
}

static bool is_line(const char *line, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(line, text, len) == 0;
}

void tenon_help_page(struct tenon_out *out, const char *page)
{
    while (*page != '\0') {
        size_t n = strcspn(page, "\n");

        if (is_line(page, n, "@commands@"))
            write_commands(out);
        else if (is_line(page, n, "@common-options@"))
            write_options(out, tenon_common_options, tenon_n_common_options);
        else if (is_line(page, n, "@exit-status@"))
            write_exits(out);
        else
            tenon_out_printf(out, "%.*s\n", (int)n, page);
        page += n;
        if (*page == '\n')
            page++;
    }
}
