/* Pictures as SVG text: a canvas, axes, lines. Everything is in pixels from the top left. */
#ifndef TENON_TOOLS_SVG_H
#define TENON_TOOLS_SVG_H

#include "out.h"

/* Colours that are told apart by people who see red and green alike (Okabe and Ito). */
#define TENON_SVG_BLUE   "#0072b2"
#define TENON_SVG_ORANGE "#d55e00"
#define TENON_SVG_GREEN  "#009e73"
#define TENON_SVG_GREY   "#777777"

/* One direction of a panel: values from `low` to `high` over pixels `from` to `to`. */
struct tenon_svg_axis {
    double low, high, from, to;
    bool log; /* base 10; low must be above 0 */
    const char *label;
};

struct tenon_svg_panel {
    struct tenon_svg_axis x, y;
    const char *title;
};

/* The document's beginning, white, with a title for readers of the text; and its end. */
void tenon_svg_begin(struct tenon_out *out, double width, double height, const char *title);
void tenon_svg_end(struct tenon_out *out);

/* Where a value lies; values outside are moved to the nearer edge. */
double tenon_svg_place(const struct tenon_svg_axis *axis, double value);

/* Frame, title, labels, ticks and numbers. */
void tenon_svg_frame(struct tenon_out *out, const struct tenon_svg_panel *panel);

/* A line through `n` points; points that are no finite numbers interrupt it. `dash` may be NULL. */
void tenon_svg_line(struct tenon_out *out, const struct tenon_svg_panel *panel, const double *x,
                    const double *y, size_t n, const char *color, const char *dash);

/* A level line across the panel with its name at the right. */
void tenon_svg_level(struct tenon_out *out, const struct tenon_svg_panel *panel, double y,
                     const char *name);

/* Text whose middle (`anchor` "middle"), beginning ("start") or end ("end") is at x; any text, from
 * files too: what could disturb is escaped. */
void tenon_svg_text(struct tenon_out *out, double x, double y, const char *anchor,
                    const char *text);

void tenon_svg_rect(struct tenon_out *out, double x, double y, double width, double height,
                    const char *color);

/* Blue for -1, white for 0, red for 1: "#rrggbb" into `buf` of 8 bytes; grey for NaN. */
char *tenon_svg_diverging(char *buf, double value);

#endif
