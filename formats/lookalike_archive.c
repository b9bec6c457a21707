/* Archives and compressed files: the model may be inside. */
#include "fail.h"
#include "probe.h"

static enum tenon_status fail_archive(struct tenon_error *err, const char *what)
{
    tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "%s, not a model file", what);
    tenon_fail_hint(err, "unpack it first");
    return TENON_ERR_NOT_RECOGNISED;
}

/* Below the kinds of zip archive that have names of their own. */
static int probe_zip(const struct tenon_probe *probe)
{
    if (TENON_PROBE_HAS(probe, 0, "PK\x03\x04") || TENON_PROBE_HAS(probe, 0, "PK\x05\x06"))
        return TENON_PROBE_MAGIC - 10;
    return TENON_PROBE_NO;
}

static enum tenon_status explain_zip(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_archive(err, "a zip archive without the members of a PyTorch checkpoint or npz");
}

const struct tenon_format tenon_format_zip = {
    .info = {"zip", "zip archive", ".zip", TENON_FORMAT_NAMED},
    .probe = probe_zip,
    .explain = explain_zip,
};

static int probe_gzip(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "\x1f\x8b\x08") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_gzip(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_archive(err, "a gzip file");
}

const struct tenon_format tenon_format_gzip = {
    .info = {"gzip", "gzip file", ".gz .tgz", TENON_FORMAT_NAMED},
    .probe = probe_gzip,
    .explain = explain_gzip,
};

static int probe_seven_zip(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "7z\xbc\xaf\x27\x1c") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_seven_zip(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_archive(err, "a 7z archive");
}

const struct tenon_format tenon_format_seven_zip = {
    .info = {"7z", "7z archive", ".7z", TENON_FORMAT_NAMED},
    .probe = probe_seven_zip,
    .explain = explain_seven_zip,
};

static int probe_tar(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 257, "ustar") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_tar(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_archive(err, "a tar archive");
}

const struct tenon_format tenon_format_tar = {
    .info = {"tar", "tar archive", ".tar", TENON_FORMAT_NAMED},
    .probe = probe_tar,
    .explain = explain_tar,
};

static int probe_xz(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0,
                           "\xfd"
                           "7zXZ")
               ? TENON_PROBE_MAGIC
               : TENON_PROBE_NO;
}

static enum tenon_status explain_xz(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_archive(err, "an xz file");
}

const struct tenon_format tenon_format_xz = {
    .info = {"xz", "xz file", ".xz", TENON_FORMAT_NAMED},
    .probe = probe_xz,
    .explain = explain_xz,
};

static int probe_zstd(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "\x28\xb5\x2f\xfd") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_zstd(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_archive(err, "a zstd file");
}

const struct tenon_format tenon_format_zstd = {
    .info = {"zstd", "zstd file", ".zst", TENON_FORMAT_NAMED},
    .probe = probe_zstd,
    .explain = explain_zstd,
};
