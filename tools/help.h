/* Help, manual page section and completion scripts, all made from the option tables. */
#ifndef TENON_TOOLS_HELP_H
#define TENON_TOOLS_HELP_H

#include "tool.h"

/* The overview: usage, commands by group, common options. */
void tenon_help_program(struct tenon_out *out, const struct tenon_term *term);

/* Usage, what it does, options, exit status, examples. */
void tenon_help_command(struct tenon_out *out, const struct tenon_term *term,
                        const struct tenon_command_row *row);

/* Copies the manual page source `page`, replacing the lines @commands@, @common-options@ and
 * @exit-status@ with scdoc text made from the tables. */
void tenon_help_page(struct tenon_out *out, const char *page);

/* The completion script of a shell. */
void tenon_completion_bash(struct tenon_out *out);
void tenon_completion_zsh(struct tenon_out *out);
void tenon_completion_fish(struct tenon_out *out);

#endif
