/* Relatives of GGUF that are named, not read: the formats before it, and GGUF with a broken
 * beginning. */
#include "fail.h"
#include "probe.h"

/* Before GGUF: a magic word, for three of them a version word, then hyper-parameters.
 *   ggml  unversioned     ggmf  version 1     ggjt  versions 1 to 3     ggla  adapters
 * The word is stored little-endian, so that a file begins with "lmgg". */
struct legacy_row {
    const char *stored, *word;
    bool versioned;
};

static const struct legacy_row legacy_rows[] = {
    {"lmgg", "ggml", false}, {"fmgg", "ggmf", true}, {"tjgg", "ggjt", true}, {"algg", "ggla", true},
    {"ggml", "ggml", false}, {"ggmf", "ggmf", true}, {"ggjt", "ggjt", true}, {"ggla", "ggla", true},
};

static const struct legacy_row *find_legacy(const struct tenon_probe *probe)
{
    for (size_t i = 0; i < sizeof(legacy_rows) / sizeof(legacy_rows[0]); i++) {
        if (tenon_probe_has(probe, 0, legacy_rows[i].stored, 4))
            return &legacy_rows[i];
    }
    return NULL;
}

static int probe_legacy(const struct tenon_probe *probe)
{
    return find_legacy(probe) != NULL ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_legacy(const struct tenon_probe *probe, struct tenon_error *err)
{
    const struct legacy_row *row = find_legacy(probe);

    if (row == NULL)
        return tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "not a ggml file");
    if (row->versioned)
        tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, 0,
                   "an old '%s' file, version %u, from before GGUF", row->word,
                   (unsigned)tenon_probe_u32(probe, 4));
    else
        tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, 0,
                   "an old '%s' file without a version, from before GGUF", row->word);
    tenon_fail_hint(err, "convert the original checkpoint to GGUF");
    return TENON_ERR_UNSUPPORTED_FEATURE;
}

const struct tenon_format tenon_format_ggml_legacy = {
    .info = {"ggml-legacy", "ggml, ggmf, ggjt and ggla files from before GGUF", "",
             TENON_FORMAT_NAMED},
    .probe = probe_legacy,
    .explain = explain_legacy,
};

static int probe_swapped(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "FUGG") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_swapped(const struct tenon_probe *probe, struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, 0,
               "a GGUF file with its magic bytes reversed, version word %u: written before the "
               "format was released",
               (unsigned)tenon_probe_u32(probe, 4));
    tenon_fail_hint(err, "convert the original checkpoint to GGUF");
    return TENON_ERR_UNSUPPORTED_FEATURE;
}

const struct tenon_format tenon_format_gguf_swapped = {
    .info = {"gguf-swapped", "GGUF with reversed magic, from before its release", "",
             TENON_FORMAT_NAMED},
    .probe = probe_swapped,
    .explain = explain_swapped,
};

/* Where "GGUF" stands when it is not at the beginning but near it, else 0. */
static size_t find_shifted(const struct tenon_probe *probe)
{
    enum { NEAR = 16 };

    for (size_t off = 1; off < NEAR; off++) {
        if (TENON_PROBE_HAS(probe, off, "GGUF"))
            return off;
    }
    return 0;
}

static int probe_damaged(const struct tenon_probe *probe)
{
    if (TENON_PROBE_HAS(probe, 0, "GGUF"))
        return TENON_PROBE_NO;
    if (tenon_probe_has_nocase(probe, 0, "gguf") || find_shifted(probe) != 0)
        return TENON_PROBE_SHAPE + 10;
    return TENON_PROBE_NO;
}

static enum tenon_status explain_damaged(const struct tenon_probe *probe, struct tenon_error *err)
{
    size_t shift = find_shifted(probe);

    if (shift != 0)
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0,
                   "%zu bytes stand before the magic of a GGUF "
                   "file%s",
                   shift,
                   TENON_PROBE_HAS(probe, 0, "\xef\xbb\xbf") ? ", a text byte order mark" : "");
    else
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "the magic of a GGUF file must be upper case");
    tenon_fail_hint(err, "something changed the file as if it were text: download it again");
    return TENON_ERR_NOT_RECOGNISED;
}

const struct tenon_format tenon_format_gguf_damaged = {
    .info = {"gguf-damaged", "GGUF whose magic is shifted or in lower case", "",
             TENON_FORMAT_NAMED},
    .probe = probe_damaged,
    .explain = explain_damaged,
};
