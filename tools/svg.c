#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tenon/text.h"

/* Ticks of an axis at most; digits of their numbers. */
enum { MOST_TICKS = 8 };

static void write_escaped(struct tenon_out *out, const char *text)
{
    char safe[512];

    tenon_text_sanitise(safe, sizeof(safe), text, strlen(text));
    for (const char *c = safe; *c != '\0'; c++) {
        if (*c == '&')
            tenon_out_text(out, "&amp;");
        else if (*c == '<')
            tenon_out_text(out, "&lt;");
        else if (*c == '>')
            tenon_out_text(out, "&gt;");
        else
            tenon_out_write(out, c, 1);
    }
}

void tenon_svg_begin(struct tenon_out *out, double width, double height, const char *title)
{
    tenon_out_printf(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                     "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
                     width, height, width, height);
    write_escaped(out, title);
    tenon_out_text(out, "</title>\n");
    tenon_svg_rect(out, 0, 0, width, height, "#ffffff");
}

void tenon_svg_end(struct tenon_out *out)
{
    tenon_out_text(out, "</svg>\n");
}

double tenon_svg_place(const struct tenon_svg_axis *axis, double value)
{
    double low = axis->low, high = axis->high, share;

    if (value < low)
        value = low;
    if (value > high)
        value = high;
    if (axis->log) {
        low = log10(low);
        high = log10(high);
        value = log10(value);
    }
    share = high > low ? (value - low) / (high - low) : 0;
    return axis->from + share * (axis->to - axis->from);
}

void tenon_svg_text(struct tenon_out *out, double x, double y, const char *anchor, const char *text)
{
    tenon_out_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    write_escaped(out, text);
    tenon_out_text(out, "</text>\n");
}

void tenon_svg_rect(struct tenon_out *out, double x, double y, double width, double height,
                    const char *color)
{
    tenon_out_printf(out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n", x,
                     y, width, height, color);
}

/* A step of 1, 2 or 5 times a power of ten that gives at most MOST_TICKS ticks. */
static double choose_step(double span)
{
    double step = pow(10, floor(log10(span / MOST_TICKS)));

    if (span / step > MOST_TICKS)
        step *= 2;
    if (span / step > MOST_TICKS)
        step *= 2.5;
    if (span / step > MOST_TICKS)
        step *= 2;
    return step;
}

static void draw_tick(struct tenon_out *out, const struct tenon_svg_panel *panel, bool is_x,
                      double value)
{
    const struct tenon_svg_axis *axis = is_x ? &panel->x : &panel->y;
    double at = tenon_svg_place(axis, value);
    char text[32];

    snprintf(text, sizeof(text), "%g", fabs(value) < 1e-12 ? 0 : value);
    if (is_x) {
        tenon_out_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#dddddd\" fill=\"none\"/>\n",
                         at, panel->y.from, panel->y.to);
        tenon_svg_text(out, at, panel->y.from + 16, "middle", text);
    } else {
        tenon_out_printf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#dddddd\" fill=\"none\"/>\n",
                         panel->x.from, at, panel->x.to);
        tenon_svg_text(out, panel->x.from - 6, at + 4, "end", text);
    }
}

/* Powers of ten on a logarithmic axis, round steps on a linear one. */
static void draw_ticks(struct tenon_out *out, const struct tenon_svg_panel *panel, bool is_x)
{
    const struct tenon_svg_axis *axis = is_x ? &panel->x : &panel->y;
    double step;

    if (!(axis->high > axis->low) || !isfinite(axis->high - axis->low))
        return;
    if (axis->log) {
        for (double p = ceil(log10(axis->low) - 1e-9); p <= log10(axis->high) + 1e-9; p++)
            draw_tick(out, panel, is_x, pow(10, p));
        return;
    }
    step = choose_step(axis->high - axis->low);
    for (double k = ceil(axis->low / step - 1e-9); k * step <= axis->high + step * 1e-9; k++)
        draw_tick(out, panel, is_x, k * step);
}

void tenon_svg_frame(struct tenon_out *out, const struct tenon_svg_panel *panel)
{
    double middle = (panel->x.from + panel->x.to) / 2;
    double side = (panel->y.from + panel->y.to) / 2;

    draw_ticks(out, panel, true);
    draw_ticks(out, panel, false);
    tenon_out_printf(out,
                     "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" "
                     "stroke=\"#444444\"/>\n",
                     panel->x.from, panel->y.to, panel->x.to - panel->x.from,
                     panel->y.from - panel->y.to);
    tenon_svg_text(out, middle, panel->y.to - 10, "middle", panel->title);
    tenon_svg_text(out, middle, panel->y.from + 36, "middle", panel->x.label);
    tenon_out_printf(out, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">\n",
                     panel->x.from - 52, side);
    tenon_svg_text(out, 0, 0, "middle", panel->y.label);
    tenon_out_text(out, "</g>\n");
}

void tenon_svg_line(struct tenon_out *out, const struct tenon_svg_panel *panel, const double *x,
                    const double *y, size_t n, const char *color, const char *dash)
{
    bool drawing = false;

    tenon_out_text(out, "<path d=\"");
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            drawing = false;
            continue;
        }
        tenon_out_printf(out, "%c%.2f %.2f", drawing ? 'L' : 'M', tenon_svg_place(&panel->x, x[i]),
                         tenon_svg_place(&panel->y, y[i]));
        drawing = true;
    }
    tenon_out_printf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"", color);
    if (dash != NULL)
        tenon_out_printf(out, " stroke-dasharray=\"%s\"", dash);
    tenon_out_text(out, "/>\n");
}

void tenon_svg_level(struct tenon_out *out, const struct tenon_svg_panel *panel, double y,
                     const char *name)
{
    double at = tenon_svg_place(&panel->y, y);

    tenon_out_printf(out,
                     "<path d=\"M%.1f %.1fH%.1f\" fill=\"none\" stroke=\"" TENON_SVG_GREY
                     "\" stroke-dasharray=\"5 4\"/>\n",
                     panel->x.from, at, panel->x.to);
    tenon_svg_text(out, panel->x.from + 6, at - 4, "start", name);
}

char *tenon_svg_diverging(char *buf, double value)
{
    /* The ends are the darkest; between them every channel is linear. */
    static const double low[3] = {33, 102, 172}, high[3] = {178, 24, 43};
    const double *end = value < 0 ? low : high;
    double share = fmin(fabs(value), 1);
    unsigned rgb[3];

    if (isnan(value)) {
        memcpy(buf, "#999999", 8);
        return buf;
    }
    for (size_t i = 0; i < 3; i++)
        rgb[i] = (unsigned)lround(255 + share * (end[i] - 255)) & 0xff;
    snprintf(buf, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    return buf;
}
