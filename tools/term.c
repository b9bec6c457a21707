#include "term.h"

#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "opt.h"
#include "out.h"
#include "tenon/text.h"

/* NO_COLOR counts when it is set and not empty (no-color.org). */
static bool wants_color(bool tty)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return tty && (no_color == NULL || no_color[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

/* `*limited` becomes true where COLUMNS asks for it, too. */
static unsigned find_width(int fd, bool tty, bool *limited)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    uint64_t width;

    *limited = tty;
    if (columns != NULL && tenon_opt_u64(columns, NULL, &width) && width >= 20 && width <= 1000) {
        *limited = true;
        return (unsigned)width;
    }
    if (tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

void tenon_term_init(struct tenon_term *term, int fd, enum tenon_color color)
{
    term->tty = isatty(fd) == 1;
    term->color = color == TENON_COLOR_AUTO ? wants_color(term->tty) : color == TENON_COLOR_ALWAYS;
    term->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    term->width = find_width(fd, term->tty, &term->limited);
}

const char *tenon_term_style(const struct tenon_term *term, enum tenon_style style)
{
    static const char *const sequences[] = {
        [TENON_STYLE_PLAIN] = "\033[0m",    [TENON_STYLE_BOLD] = "\033[1m",
        [TENON_STYLE_DIM] = "\033[2m",      [TENON_STYLE_GOOD] = "\033[32m",
        [TENON_STYLE_WARNING] = "\033[33m", [TENON_STYLE_BAD] = "\033[31m",
    };

    return term->color ? sequences[style] : "";
}

/* Code points that do not take one column. Sorted; after Unicode's East Asian Width (wide and
 * full-width) and its combining marks. */
static const struct {
    int32_t first, last;
    unsigned width;
} widths[] = {
    {0x0300, 0x036f, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05bd, 0},   {0x064b, 0x065f, 0},
    {0x0900, 0x0902, 0},   {0x093c, 0x093c, 0},   {0x0941, 0x0948, 0},   {0x094d, 0x094d, 0},
    {0x0e31, 0x0e31, 0},   {0x0e34, 0x0e3a, 0},   {0x0e47, 0x0e4e, 0},   {0x1100, 0x115e, 2},
    {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},
    {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe20, 0xfe2f, 0},
    {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2},
    {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

static unsigned width_of(int32_t codepoint)
{
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        if (codepoint >= widths[i].first && codepoint <= widths[i].last)
            return widths[i].width;
    return 1;
}

unsigned tenon_term_width(const char *text)
{
    size_t len = strlen(text), pos = 0;
    unsigned width = 0;

    while (pos < len) {
        int32_t codepoint = tenon_utf8_next(text, len, &pos);

        width += codepoint < 0x300 ? 1 : width_of(codepoint);
    }
    return width;
}

char *tenon_term_bar(const struct tenon_term *term, char *buf, uint64_t part, uint64_t whole,
                     unsigned width)
{
    const char *full = term->utf8 ? "\u2588" : "#";
    const char *empty = term->utf8 ? "\u2591" : ".";
    unsigned filled = whole == 0 ? 0 : (unsigned)((double)part / (double)whole * width + 0.5);
    char *p = buf;

    if (part > 0 && filled == 0)
        filled = 1;
    if (filled > width)
        filled = width;
    for (unsigned i = 0; i < width; i++) {
        const char *piece = i < filled ? full : empty;
        size_t n = strlen(piece);

        memcpy(p, piece, n);
        p += n;
    }
    *p = '\0';
    return buf;
}

static double now(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void tenon_progress_init(struct tenon_progress *progress, const char *what, bool quiet)
{
    *progress = (struct tenon_progress){
        .what = what,
        .enabled = !quiet && isatty(STDERR_FILENO) == 1,
        .started = now(),
    };
}

char *tenon_progress_line(char *buf, const char *what, uint64_t done, uint64_t total,
                          double seconds)
{
    char have[32], all[32], rate[32];
    double speed = seconds > 0 ? (double)done / seconds : 0;
    double left = speed > 0 && total > done ? (double)(total - done) / speed : 0;
    unsigned long whole = left < 359999 ? (unsigned long)(left + 0.5) : 359999;

    snprintf(buf, 128, "%s %s of %s (%.0f%%), %s/s, %lu:%02lu left", what,
             tenon_out_bytes(have, done), tenon_out_bytes(all, total),
             total > 0 ? 100.0 * (double)done / (double)total : 100.0,
             tenon_out_bytes(rate, (uint64_t)speed), whole / 60, whole % 60);
    return buf;
}

/* Whether the line is on the screen, for a signal handler. */
static volatile sig_atomic_t line_shown;

static const char clear_line[] = "\r\033[K";

bool tenon_progress_show(uint64_t done, uint64_t total, void *user)
{
    struct tenon_progress *progress = user;
    double t;
    char line[128];

    if (!progress->enabled)
        return true;
    t = now();
    if (t - progress->started < 0.5 || t - progress->last < 0.1)
        return true;
    progress->last = t;
    line_shown = 1;
    fprintf(stderr, "%s%s", clear_line,
            tenon_progress_line(line, progress->what, done, total, t - progress->started));
    fflush(stderr);
    return true;
}

void tenon_progress_end(struct tenon_progress *progress)
{
    if (line_shown)
        fputs(clear_line, stderr);
    line_shown = 0;
    progress->enabled = false;
}

void tenon_progress_abort(void)
{
    if (line_shown && write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1) < 0)
        return; /* nothing more can be done in a signal handler */
}
