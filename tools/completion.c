/* Completion scripts for shells, from the option tables. */
#include <stdio.h>
#include <string.h>

#include "help.h"

/* Calls `row` for each option of a command that help shows, its own before the common ones. */
typedef void (*option_fn)(struct tenon_out *out, const struct tenon_command_row *row,
                          const struct tenon_opt *opt);

static void each_shown(struct tenon_out *out, const struct tenon_command_row *row,
                       const struct tenon_opt *options, size_t n, option_fn write)
{
    for (size_t i = 0; i < n; i++)
        if ((options[i].flags & TENON_OPT_HIDDEN) == 0)
            write(out, row, &options[i]);
}

static void each_option(struct tenon_out *out, const struct tenon_command_row *row, option_fn write)
{
    each_shown(out, row, row->command->options, row->command->n_options, write);
    each_shown(out, row, tenon_write_options, tenon_tool_n_write_options(row->command), write);
    each_shown(out, row, tenon_common_options, tenon_n_common_options, write);
}

/* Operands that are words of ours, not files: commands for help, shells for completion. */
static bool takes_words(const struct tenon_command_row *row)
{
    return strcmp(row->name, "help") == 0 || strcmp(row->name, "completion") == 0;
}

static void write_words(struct tenon_out *out, const struct tenon_command_row *row)
{
    const struct tenon_command_row *other;

    if (strcmp(row->name, "completion") == 0) {
        tenon_out_text(out, "bash zsh fish");
        return;
    }
    for (size_t i = 0; (other = tenon_command_at(i)) != NULL; i++)
        tenon_out_printf(out, "%s%s", i > 0 ? " " : "", other->name);
}

static void write_choices(struct tenon_out *out, const struct tenon_opt *opt)
{
    for (size_t i = 0; opt->choices[i] != NULL; i++)
        tenon_out_printf(out, "%s%s", i > 0 ? " " : "", opt->choices[i]);
}

static void write_bash_word(struct tenon_out *out, const struct tenon_command_row *row,
                            const struct tenon_opt *opt)
{
    (void)row;
    if (opt->letter != '\0')
        tenon_out_printf(out, " -%c", opt->letter);
    tenon_out_printf(out, " --%s", opt->name);
}

/* What may follow an option that takes a value: words, files, or nothing we could offer. */
static void write_bash_value(struct tenon_out *out, const struct tenon_command_row *row,
                             const struct tenon_opt *opt)
{
    if (opt->kind == TENON_OPT_FLAG)
        return;
    tenon_out_printf(out, "        %s,--%s", row->name, opt->name);
    if (opt->letter != '\0')
        tenon_out_printf(out, " | %s,-%c", row->name, opt->letter);
    tenon_out_text(out, ")\n");
    if (opt->kind == TENON_OPT_CHOICE) {
        tenon_out_text(out, "            COMPREPLY=($(compgen -W \"");
        write_choices(out, opt);
        tenon_out_text(out, "\" -- \"$current\"))\n            return\n");
    } else if ((opt->flags & TENON_OPT_FILE) != 0) {
        tenon_out_text(
            out, "            COMPREPLY=($(compgen -f -- \"$current\"))\n            return\n");
    } else {
        tenon_out_text(out, "            return\n");
    }
    tenon_out_text(out, "            ;;\n");
}

void tenon_completion_bash(struct tenon_out *out)
{
    const struct tenon_command_row *row;

    tenon_out_text(out, "# bash completion for tenon, made by 'tenon completion bash'\n\n"
                        "_tenon() {\n"
                        "    local current=${COMP_WORDS[COMP_CWORD]}\n"
                        "    local previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                        "    local command=${COMP_WORDS[1]}\n"
                        "    local options= words=\n\n"
                        "    COMPREPLY=()\n"
                        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                        "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++)
        tenon_out_printf(out, "%s ", row->name);
    tenon_out_text(out, "--help --version\" -- \"$current\"))\n"
                        "        return\n"
                        "    fi\n"
                        "    case \"$command,$previous\" in\n");
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++)
        each_option(out, row, write_bash_value);
    tenon_out_text(out, "    esac\n    case \"$command\" in\n");
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        tenon_out_printf(out, "        %s)\n            options=\"", row->name);
        each_option(out, row, write_bash_word);
        tenon_out_text(out, "\"\n");
        if (takes_words(row)) {
            tenon_out_text(out, "            words=\"");
            write_words(out, row);
            tenon_out_text(out, "\"\n");
        }
        tenon_out_text(out, "            ;;\n");
    }
    tenon_out_text(out, "    esac\n"
                        "    case \"$current\" in\n"
                        "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
                        "        *)\n"
                        "            if [ -n \"$words\" ]; then\n"
                        "                COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                        "            else\n"
                        "                COMPREPLY=($(compgen -f -- \"$current\"))\n"
                        "            fi\n"
                        "            ;;\n"
                        "    esac\n"
                        "}\n\n"
                        "complete -o filenames -F _tenon tenon\n");
}

/* `text` inside single quotes of a shell, without the characters in `special`, which the
 * completion systems would interpret. */
static void write_quoted(struct tenon_out *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            tenon_out_text(out, "'\\''");
        else if (strchr(special, *text) != NULL)
            tenon_out_printf(out, "\\%c", *text);
        else
            tenon_out_write(out, text, 1);
    }
}

static void write_zsh_option(struct tenon_out *out, const struct tenon_command_row *row,
                             const struct tenon_opt *opt)
{
    const char *star = (opt->flags & TENON_OPT_REPEATED) != 0 ? "*" : "";

    (void)row;
    if (opt->letter != '\0')
        tenon_out_printf(out, "                '(-%c --%s)'{-%c,--%s}'", opt->letter, opt->name,
                         opt->letter, opt->name);
    else
        tenon_out_printf(out, "                '%s--%s", star, opt->name);
    tenon_out_printf(out, "%s[", opt->kind != TENON_OPT_FLAG && opt->letter == '\0' ? "=" : "");
    write_quoted(out, opt->help, "[]\\:");
    tenon_out_text(out, "]");
    if (opt->kind != TENON_OPT_FLAG)
        tenon_out_printf(out, ":%s:", opt->value);
    if (opt->kind == TENON_OPT_CHOICE) {
        tenon_out_text(out, "(");
        write_choices(out, opt);
        tenon_out_text(out, ")");
    } else if ((opt->flags & TENON_OPT_FILE) != 0) {
        tenon_out_text(out, "_files");
    }
    tenon_out_text(out, "' \\\n");
}

void tenon_completion_zsh(struct tenon_out *out)
{
    const struct tenon_command_row *row;

    tenon_out_text(out, "#compdef tenon\n"
                        "# zsh completion for tenon, made by 'tenon completion zsh'\n\n"
                        "_tenon() {\n"
                        "    local -a commands\n"
                        "    commands=(\n");
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        tenon_out_printf(out, "        '%s:", row->name);
        write_quoted(out, row->summary, ":\\");
        tenon_out_text(out, "'\n");
    }
    tenon_out_text(out, "    )\n"
                        "    if (( CURRENT == 2 )); then\n"
                        "        _describe command commands\n"
                        "        return\n"
                        "    fi\n"
                        "    local command=$words[2]\n"
                        "    shift words\n"
                        "    (( CURRENT-- ))\n"
                        "    case $command in\n");
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        tenon_out_printf(out, "        %s)\n            _arguments -s \\\n", row->name);
        each_option(out, row, write_zsh_option);
        if (takes_words(row)) {
            tenon_out_text(out, "                '*:word:(");
            write_words(out, row);
            tenon_out_text(out, ")'\n            ;;\n");
        } else {
            tenon_out_text(out, "                '*:model:_files'\n            ;;\n");
        }
    }
    tenon_out_text(out, "    esac\n}\n\n_tenon \"$@\"\n");
}

static void write_fish_option(struct tenon_out *out, const struct tenon_command_row *row,
                              const struct tenon_opt *opt)
{
    tenon_out_printf(out, "complete -c tenon -n '__fish_seen_subcommand_from %s' -l %s", row->name,
                     opt->name);
    if (opt->letter != '\0')
        tenon_out_printf(out, " -s %c", opt->letter);
    if (opt->kind == TENON_OPT_CHOICE) {
        tenon_out_text(out, " -x -a '");
        write_choices(out, opt);
        tenon_out_text(out, "'");
    } else if (opt->kind != TENON_OPT_FLAG) {
        tenon_out_text(out, (opt->flags & TENON_OPT_FILE) != 0 ? " -r -F" : " -x");
    }
    tenon_out_text(out, " -d '");
    write_quoted(out, opt->help, "\\");
    tenon_out_text(out, "'\n");
}

void tenon_completion_fish(struct tenon_out *out)
{
    const struct tenon_command_row *row;

    tenon_out_text(out, "# fish completion for tenon, made by 'tenon completion fish'\n\n");
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        tenon_out_printf(out, "complete -c tenon -n __fish_use_subcommand -f -a %s -d '",
                         row->name);
        write_quoted(out, row->summary, "\\");
        tenon_out_text(out, "'\n");
    }
    for (size_t i = 0; (row = tenon_command_at(i)) != NULL; i++) {
        if (takes_words(row)) {
            tenon_out_printf(out, "complete -c tenon -n '__fish_seen_subcommand_from %s' -f -a '",
                             row->name);
            write_words(out, row);
            tenon_out_text(out, "'\n");
        }
        each_option(out, row, write_fish_option);
    }
}
