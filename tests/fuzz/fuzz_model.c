#include "fuzz_model.h"

#include "tenon/tenon.h"

#include <stdlib.h>
#include <string.h>

/* Reads every byte of a text, so that a sanitizer sees a wrong length. */
static void touch(const char *text, size_t len)
{
    static volatile unsigned char sink;

    for (size_t i = 0; i < len; i++)
        sink = (unsigned char)text[i];
    (void)sink;
}

/* Elements of an array and of the arrays in it, to a depth that is more than readers allow. */
static void walk_array(const struct tenon_meta_entry *entry, int depth)
{
    struct tenon_meta_iter it;
    struct tenon_meta_value value;
    struct tenon_meta_entry inner;

    tenon_meta_iter_init(&it, entry);
    while (tenon_meta_iter_next(&it, &value, &inner)) {
        if (value.type == TENON_META_STRING)
            touch(value.as.str.data, value.as.str.len);
        else if (value.type == TENON_META_ARRAY && depth < 8)
            walk_array(&inner, depth + 1);
    }
}

static void walk_meta(const struct tenon_model *model)
{
    for (size_t i = 0; i < tenon_model_n_meta(model); i++) {
        const struct tenon_meta_entry *entry = tenon_model_meta(model, i);

        touch(entry->key.data, entry->key.len);
        if (entry->type == TENON_META_ARRAY)
            walk_array(entry, 0);
        else if (entry->type == TENON_META_STRING)
            touch(entry->value.as.str.data, entry->value.as.str.len);
    }
}

/* The first and the last elements of each tensor: ranges that were accepted must be readable. */
static void walk_tensors(const struct tenon_model *model)
{
    float values[16];

    for (size_t i = 0; i < tenon_model_n_tensors(model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(model, i);
        struct tenon_error err = {0};
        size_t n = t->n_elements < 8 ? (size_t)t->n_elements : 8;
        enum tenon_status first, last;
        unsigned char byte;

        if (tenon_model_find(model, t->name.data, t->name.len) == NULL)
            abort();
        if (t->bytes > 0 && tenon_tensor_read(model, t, t->bytes - 1, &byte, 1, &err) != TENON_OK)
            abort();
        first = tenon_tensor_decode(model, t, 0, n, values, &err);
        last = tenon_tensor_decode(model, t, t->n_elements - n, n, values, &err);
        if ((first == TENON_OK) != (last == TENON_OK))
            abort();
    }
}

static void walk_findings(const struct tenon_model *model)
{
    for (size_t i = 0; i < tenon_model_n_findings(model); i++) {
        const struct tenon_finding *f = tenon_model_finding(model, i);

        touch(f->message, strlen(f->message));
        touch(f->subject, strlen(f->subject));
    }
}

static void analyse(const struct tenon_model *model)
{
    struct tenon_tying_options options;
    struct tenon_tying *tying = NULL;
    struct tenon_error err = {0};

    tenon_tying_options_init(&options);
    options.threads = 1;
    if (tenon_tying_analyse(model, &options, &tying, &err) == TENON_OK)
        tenon_tying_free(tying);
}

void fuzz_model(const uint8_t *data, size_t size, const char *format)
{
    struct tenon_open_options options;

    tenon_open_options_init(&options);
    options.format = format;
    for (int lenient = 0; lenient < 2; lenient++) {
        struct tenon_model *model = NULL;
        struct tenon_error err = {0};

        options.lenient = options.thorough = lenient != 0;
        if (tenon_model_open_memory(data, size, &options, &model, &err) != TENON_OK) {
            /* What every error owes: a message, and an offset inside the file. */
            if (err.message[0] == '\0' || (err.offset != TENON_NO_OFFSET && err.offset > size))
                abort();
            continue;
        }
        walk_meta(model);
        walk_tensors(model);
        walk_findings(model);
        analyse(model);
        tenon_model_free(model);
    }
}
