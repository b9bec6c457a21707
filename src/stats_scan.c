/* Runs of values: lanes for the common case, one by one where something is not finite. */
#include "stats_scan.h"

#include <math.h>

#include "cpu.h"
#include "stats_lanes.h"
#if TENON_HAVE_X86_VARIANTS
#include "x86/stats_avx2.h"
#endif

void tenon_scan_init(struct tenon_scan *scan)
{
    *scan = (struct tenon_scan){.min = (double)INFINITY, .max = -(double)INFINITY};
}

void tenon_scan_merge(struct tenon_scan *a, const struct tenon_scan *b)
{
    double n_a = (double)a->finite, n_b = (double)b->finite;

    a->nan += b->nan;
    a->inf += b->inf;
    a->zero += b->zero;
    if (b->finite == 0)
        return;
    if (a->finite == 0) {
        a->mean = b->mean;
        a->m2 = b->m2;
    } else {
        double delta = b->mean - a->mean;

        a->mean += delta * (n_b / (n_a + n_b));
        a->m2 += b->m2 + delta * delta * (n_a * n_b / (n_a + n_b));
    }
    a->min = b->min < a->min ? b->min : a->min;
    a->max = b->max > a->max ? b->max : a->max;
    a->finite += b->finite;
}

/* Sums over distances from a pivot, turned into mean and sum of squares. */
static void settle(struct tenon_scan *scan, double sum, double square, double pivot)
{
    double n = (double)scan->finite;

    if (scan->finite == 0)
        return;
    scan->mean = pivot + sum / n;
    scan->m2 = square - sum * (sum / n);
    if (scan->m2 < 0)
        scan->m2 = 0; /* rounding, when all values are equal or nearly so */
}

void tenon_scan_f64(struct tenon_scan *out, const double *values, size_t n)
{
    double pivot = 0, sum = 0, square = 0;

    tenon_scan_init(out);
    for (size_t i = 0; i < n; i++) {
        double x = values[i], d;

        if (isnan(x)) {
            out->nan++;
            continue;
        }
        if (isinf(x)) {
            out->inf++;
            continue;
        }
        if (out->finite++ == 0)
            pivot = x;
        d = x - pivot;
        sum += d;
        square += d * d;
        out->zero += x == 0;
        out->min = x < out->min ? x : out->min;
        out->max = x > out->max ? x : out->max;
    }
    settle(out, sum, square, pivot);
}

/* The same for float32, one by one. */
static void scan_slowly(struct tenon_scan *out, const float *values, size_t n)
{
    struct tenon_scan one;

    tenon_scan_init(out);
    for (size_t i = 0; i < n; i++) {
        double x = (double)values[i];

        tenon_scan_f64(&one, &x, 1);
        tenon_scan_merge(out, &one);
    }
}

void tenon_scan_lanes(struct tenon_scan *out, const float *values, size_t n,
                      tenon_scan_lanes_fn run)
{
    struct tenon_lanes l = {0};
    double pivot = n != 0 ? (double)values[0] : 0, sum = 0, square = 0;
    size_t whole = n - n % TENON_LANES;
    struct tenon_scan tail;

    tenon_scan_init(out);
    for (int k = 0; k < TENON_LANES; k++) {
        l.min[k] = INFINITY;
        l.max[k] = -INFINITY;
    }
    run(&l, values, whole, pivot);
    for (int k = 0; k < TENON_LANES; k++) {
        if (l.top[k] >= TENON_INF_BITS) {
            scan_slowly(out, values, n);
            return;
        }
        sum += l.sum[k];
        square += l.square[k];
        out->zero += (uint64_t)l.zero[k];
        out->min = (double)l.min[k] < out->min ? (double)l.min[k] : out->min;
        out->max = (double)l.max[k] > out->max ? (double)l.max[k] : out->max;
    }
    out->finite = whole;
    settle(out, sum, square, pivot);
    scan_slowly(&tail, values + whole, n - whole);
    tenon_scan_merge(out, &tail);
}

static void run_lanes(struct tenon_lanes *lanes, const float *values, size_t n, double pivot)
{
    tenon_lanes_run(lanes, values, n, pivot);
}

void tenon_scan_f32(struct tenon_scan *out, const float *values, size_t n)
{
    tenon_scan_lanes(out, values, n, run_lanes);
}

#if TENON_HAVE_X86_VARIANTS
static void scan_f32_avx2(struct tenon_scan *out, const float *values, size_t n)
{
    tenon_scan_lanes(out, values, n, tenon_lanes_run_avx2);
}
#endif

tenon_scan_f32_fn tenon_scan_choose(unsigned cpu_flags)
{
#if TENON_HAVE_X86_VARIANTS
    if ((cpu_flags & TENON_CPU_AVX2) != 0)
        return scan_f32_avx2;
#endif
    (void)cpu_flags;
    return tenon_scan_f32;
}
