/* Options as tables: one row drives parsing, usage, help, manual page and completion. */
#ifndef TENON_TOOLS_OPT_H
#define TENON_TOOLS_OPT_H

#include "tenon/error.h"

/* What a row's value is, and the type of the field that receives it. */
enum tenon_opt_kind {
    TENON_OPT_FLAG,   /* bool */
    TENON_OPT_TEXT,   /* const char *, borrowed from argv; NULL when not given */
    TENON_OPT_NUMBER, /* uint64_t from `min` to `max`: decimal, or hexadecimal after 0x */
    TENON_OPT_SIZE,   /* uint64_t, bytes: "4096", "64MiB" (powers of 1024), "5GB" (of 1000) */
    TENON_OPT_REAL,   /* double, finite, not negative */
    TENON_OPT_CHOICE  /* unsigned, index of the word in `choices`; case does not matter */
};

enum tenon_opt_flags {
    TENON_OPT_HIDDEN = 1u << 0,   /* works, but no help, page or completion mentions it */
    TENON_OPT_REPEATED = 1u << 1, /* a TEXT that may come again; the field is a tenon_opt_list */
    TENON_OPT_FILE = 1u << 2      /* the value is a path: completion offers files */
};

struct tenon_opt {
    char letter;      /* short form, 0 when there is none */
    const char *name; /* long form, without dashes */
    enum tenon_opt_kind kind;
    size_t field;               /* offsetof in the struct that holds the values */
    const char *value;          /* what the help calls the value, "N"; NULL for flags */
    const char *help;           /* one sentence, lower case, no period */
    const char *const *choices; /* ends with NULL */
    uint64_t min, max;
    unsigned flags;
};

/* All values of a repeated option, in order; the strings are borrowed from argv. */
struct tenon_opt_list {
    const char **items;
    size_t n;
};

/* Rows and the struct they fill, which holds the defaults beforehand. At most 64 rows. */
struct tenon_opt_table {
    const struct tenon_opt *options;
    size_t n;
    void *values;
    uint64_t given; /* bit i: row i was on the command line */
};

#define TENON_OPT_TABLES 3

/* A command line to take apart. Zero-initialise, fill in `tables` and `stop_at_operand`. */
struct tenon_opt_parse {
    struct tenon_opt_table tables[TENON_OPT_TABLES];
    bool stop_at_operand;  /* leave the first operand and all after it alone */
    const char **operands; /* what is no option, in order; owned, the strings are argv's */
    size_t n_operands;
    size_t n_used; /* arguments taken from argv */
};

/* Takes `argv[0] ... argv[n - 1]` (no program name) apart: options may stand anywhere up to "--".
 * Never exits or prints. On failure (MISUSE with subject, message and hint, or NO_MEMORY) the
 * values set so far stay. Release `parse` in any case. */
TENON_MUST_USE enum tenon_status tenon_opt_parse(struct tenon_opt_parse *parse,
                                                 const char *const *argv, size_t n,
                                                 struct tenon_error *err);

/* Frees operands and lists. */
void tenon_opt_release(struct tenon_opt_parse *parse);

/* The text of one value into a number, for option values and id lists alike: false when it is
 * not wholly a number or does not fit. `end` (may be NULL) gets the first character not used and
 * then need not be the terminator. */
bool tenon_opt_u64(const char *text, const char **end, uint64_t *out);

/* "64MiB", "5GB", "4096" into bytes. */
bool tenon_opt_size(const char *text, uint64_t *out);

/* The word of `words` (n of them) that is nearest to `text`, by insertions, deletions, changes
 * and swaps of neighbours; NULL when none is near enough to be meant. */
const char *tenon_opt_nearest(const char *text, const char *const *words, size_t n);

#endif
