/* Opening a model: what is it, who reads it, and do its parts fit together. */
#include "open.h"

#include <string.h>

#include "fail.h"
#include "gguf_hparams.h"
#include "hf.h"
#include "probe.h"

static const char *find_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Reads the first bytes and asks the probes. */
static enum tenon_status detect_source(const struct tenon_source *source,
                                       const struct tenon_format **out, struct tenon_error *err)
{
    unsigned char bytes[TENON_PROBE_BYTES];
    struct tenon_probe probe = {.bytes = bytes,
                                .size = tenon_source_size(source),
                                .name = find_name(tenon_source_path(source))};
    enum tenon_status st = tenon_source_read_some(source, 0, bytes, sizeof(bytes), &probe.n, err);

    return st == TENON_OK ? tenon_format_detect(&probe, out, err) : st;
}

/* The format that the caller asked for by name. */
static enum tenon_status find_asked(const char *name, const struct tenon_format **out,
                                    struct tenon_error *err)
{
    const struct tenon_format *format = tenon_format_find(name);

    if (format == NULL || format->read == NULL)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          format == NULL ? "there is no format '%s'"
                                         : "the format '%s' is recognised but not read",
                          name);
    *out = format;
    return TENON_OK;
}

enum tenon_status tenon_add_source(struct tenon_model *model, struct tenon_source *source,
                                   const struct tenon_format *format, uint32_t *out_file,
                                   struct tenon_error *err)
{
    enum tenon_status st = tenon_model_add_file(model, source, out_file, err);

    if (st == TENON_OK)
        tenon_model_edit_file(model, *out_file)->format = format->info.name;
    return st;
}

enum tenon_status tenon_open_member(struct tenon_model *model, const char *path,
                                    const struct tenon_format *format, uint32_t *out_file,
                                    struct tenon_error *err)
{
    struct tenon_source *source = NULL;
    const struct tenon_format *found = NULL;
    enum tenon_status st = tenon_source_open_file(path, &source, err);

    if (st != TENON_OK)
        return st;
    st = detect_source(source, &found, err);
    if (st == TENON_OK && found != format)
        st = tenon_fail(err, TENON_ERR_MISMATCH, 0, "is %s, the set it belongs to is %s",
                        found->info.name, format->info.name);
    if (st == TENON_OK)
        return tenon_add_source(model, source, format, out_file, err);
    tenon_fail_path(err, path);
    tenon_source_free(source);
    return st;
}

/* Finds the format of `source`, which is freed on failure and handed over otherwise. */
static enum tenon_status open_any(struct tenon_model *model, struct tenon_source *source,
                                  bool alone, struct tenon_error *err)
{
    const char *asked = tenon_model_options(model)->format;
    const struct tenon_format *format = NULL;
    enum tenon_status st;
    uint32_t file;

    st = asked != NULL ? find_asked(asked, &format, err) : detect_source(source, &format, err);
    if (st != TENON_OK) {
        tenon_fail_path(err, tenon_source_path(source));
        tenon_source_free(source);
        return st;
    }
    tenon_model_set_format(model, format->info.name);
    if (format->open != NULL && !alone)
        return format->open(model, source, err);
    st = tenon_add_source(model, source, format, &file, err);
    return st == TENON_OK ? format->read(model, file, err) : st;
}

enum tenon_status tenon_open_path(struct tenon_model *model, const char *path,
                                  struct tenon_error *err)
{
    struct tenon_source *source = NULL;
    enum tenon_status st;

    if (tenon_hf_is_directory(path))
        return tenon_hf_open_directory(model, path, err);
    st = tenon_source_open_file(path, &source, err);
    return st == TENON_OK ? open_any(model, source, false, err) : st;
}

/* A piece of a file that was cut by bytes looks truncated: say so instead. */
static void explain_piece(const char *path, enum tenon_status st, struct tenon_error *err)
{
    if (err == NULL || st != TENON_ERR_TRUNCATED || !tenon_name_is_raw_part(find_name(path)))
        return;
    err->hint[0] = '\0';
    tenon_fail_hint(err, "by its name a part of a file cut in pieces: join them with 'cat'");
}

/* What comes after reading, for every input alike. */
static enum tenon_status finish_model(struct tenon_model *model, struct tenon_error *err)
{
    const struct tenon_format *format = tenon_format_find(tenon_model_format(model));
    enum tenon_status st = tenon_gguf_read_texts(model, err);

    if (st == TENON_OK)
        st = tenon_model_finish(model, err);
    if (st == TENON_OK && format != NULL && format->check != NULL)
        st = format->check(model, err);
    return st;
}

enum tenon_status tenon_model_open(const char *path, const struct tenon_open_options *options,
                                   struct tenon_model **out_model, struct tenon_error *err)
{
    struct tenon_model *model = NULL;
    enum tenon_status st = tenon_model_new(path, options, &model, err);

    if (st == TENON_OK)
        st = tenon_open_path(model, path, err);
    if (st == TENON_OK)
        st = finish_model(model, err);
    if (st == TENON_OK) {
        *out_model = model;
        model = NULL;
    }
    tenon_fail_path(err, path);
    explain_piece(path, st, err);
    tenon_model_free(model);
    return st;
}

enum tenon_status tenon_model_open_memory(const void *bytes, size_t n_bytes,
                                          const struct tenon_open_options *options,
                                          struct tenon_model **out_model, struct tenon_error *err)
{
    static const char path[] = "(memory)";
    struct tenon_model *model = NULL;
    struct tenon_source *source = NULL;
    enum tenon_status st = tenon_model_new(path, options, &model, err);

    if (st == TENON_OK)
        st = tenon_source_open_memory(bytes, n_bytes, path, &source, err);
    if (st == TENON_OK)
        st = open_any(model, source, true, err);
    if (st == TENON_OK)
        st = finish_model(model, err);
    if (st == TENON_OK) {
        *out_model = model;
        model = NULL;
    }
    tenon_fail_path(err, path);
    tenon_model_free(model);
    return st;
}
