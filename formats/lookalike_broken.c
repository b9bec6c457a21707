/* Files that were never finished, or are only a piece of one. */
#include <inttypes.h>

#include "fail.h"
#include "probe.h"

static int probe_empty(const struct tenon_probe *probe)
{
    return probe->size == 0 ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_empty(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    tenon_fail(err, TENON_ERR_TRUNCATED, 0, "an empty file");
    tenon_fail_hint(err, "the download or the writer was interrupted: get it again");
    return TENON_ERR_TRUNCATED;
}

const struct tenon_format tenon_format_empty = {
    .info = {"empty", "empty file", "", TENON_FORMAT_NAMED},
    .probe = probe_empty,
    .explain = explain_empty,
};

/* How many zero bytes the probe begins with. */
static size_t count_zeros(const struct tenon_probe *probe)
{
    size_t n = 0;

    while (n < probe->n && probe->bytes[n] == 0)
        n++;
    return n;
}

/* A writer that leaves room for the header and fills it in last, and was stopped before. */
static int probe_blank(const struct tenon_probe *probe)
{
    enum { PLAUSIBLE = 8 };
    size_t zeros = count_zeros(probe);

    return zeros >= PLAUSIBLE || (zeros != 0 && zeros == probe->size) ? TENON_PROBE_SHAPE
                                                                      : TENON_PROBE_NO;
}

static enum tenon_status explain_blank(const struct tenon_probe *probe, struct tenon_error *err)
{
    size_t zeros = count_zeros(probe);

    tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0,
               "begins with %zu zero bytes%s where the header should be", zeros,
               zeros == TENON_PROBE_BYTES ? " or more" : "");
    tenon_fail_hint(err, "whatever wrote the file was interrupted before its header: write or "
                         "download it again");
    return TENON_ERR_NOT_RECOGNISED;
}

const struct tenon_format tenon_format_blank = {
    .info = {"blank", "file whose header was never written", "", TENON_FORMAT_NAMED},
    .probe = probe_blank,
    .explain = explain_blank,
};

static int probe_raw_part(const struct tenon_probe *probe)
{
    return tenon_name_is_raw_part(probe->name) ? TENON_PROBE_NAME : TENON_PROBE_NO;
}

static enum tenon_status explain_raw_part(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0,
               "by its name one part of a file that was cut into pieces");
    tenon_fail_hint(err, "join the parts in order with 'cat', and open the result");
    return TENON_ERR_NOT_RECOGNISED;
}

const struct tenon_format tenon_format_raw_part = {
    .info = {"raw-part", "piece of a file that was cut by bytes", "", TENON_FORMAT_NAMED},
    .probe = probe_raw_part,
    .explain = explain_raw_part,
};
