/* What the terminal can do: colour, width, and the progress line. */
#ifndef TENON_TOOLS_TERM_H
#define TENON_TOOLS_TERM_H

#include "tenon/api.h"

enum tenon_color { TENON_COLOR_AUTO, TENON_COLOR_ALWAYS, TENON_COLOR_NEVER };

enum tenon_style {
    TENON_STYLE_PLAIN, /* ends any other */
    TENON_STYLE_BOLD,
    TENON_STYLE_DIM,
    TENON_STYLE_GOOD,    /* green */
    TENON_STYLE_WARNING, /* yellow */
    TENON_STYLE_BAD      /* red */
};

/* Facts about one output stream. */
struct tenon_term {
    bool tty;
    bool color;
    bool utf8;      /* block characters can be shown */
    unsigned width; /* columns; 80 when it is no terminal */
    bool limited;   /* by a terminal, or COLUMNS: lines of tables should not be longer */
};

/* Looks at descriptor `fd` and at NO_COLOR, TERM, COLUMNS and the locale. */
void tenon_term_init(struct tenon_term *term, int fd, enum tenon_color color);

/* The sequence that begins `style`, "" without colour. */
const char *tenon_term_style(const struct tenon_term *term, enum tenon_style style);

/* Columns that `text` (UTF-8 without controls) takes: 2 for wide East Asian characters and
 * pictures, 0 for combining marks. */
unsigned tenon_term_width(const char *text);

/* A bar of `width` columns of which `part` of `whole` is filled, into `buf` of 4 * width + 1
 * bytes. A part that is not zero always shows. */
char *tenon_term_bar(const struct tenon_term *term, char *buf, uint64_t part, uint64_t whole,
                     unsigned width);

/* One line on standard error while work goes on: only on a terminal, only after half a second,
 * at most ten times a second. Zero-initialise; for use as a tenon_progress_fn. */
struct tenon_progress {
    const char *what; /* "hashing" */
    bool enabled;
    double started, last; /* seconds of the monotonic clock; 0: not begun */
};

/* Enabled when standard error is a terminal and the user did not ask for quiet. */
void tenon_progress_init(struct tenon_progress *progress, const char *what, bool quiet);

/* A tenon_progress_fn whose `user` is the struct; never asks to stop. */
bool tenon_progress_show(uint64_t done, uint64_t total, void *user);

/* The line that would be shown after `seconds`: "hashing 1.20 GB of 1.71 GB (70%), 5.10 GB/s,
 * 0:01 left". `buf` holds 128 bytes. */
char *tenon_progress_line(char *buf, const char *what, uint64_t done, uint64_t total,
                          double seconds);

/* Clears the line; there is no more until the next init. */
void tenon_progress_end(struct tenon_progress *progress);

/* Clears it, whoever shows it. Safe in a signal handler. */
void tenon_progress_abort(void);

#endif
