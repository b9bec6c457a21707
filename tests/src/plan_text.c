#include "plan_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tenon/dtype.h"

static char text[4096];
static size_t used;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text + used, sizeof(text) - used, format, args);
    va_end(args);
    if (n > 0)
        used += (size_t)n;
    if (used >= sizeof(text))
        used = sizeof(text) - 1;
}

const char *plan_tensors(const struct tenon_plan *plan)
{
    used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < tenon_plan_n_tensors(plan); i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);
        const struct tenon_plan_source *sources = tenon_plan_sources(&t);
        bool scaled = false;

        put("%s%.*s:%s=", i > 0 ? " " : "", (int)t.name.len, t.name.data,
            tenon_dtype_name(t.dtype));
        for (size_t s = 0; s < t.n_sources; s++) {
            struct tenon_str name = sources[s].tensor->name;

            scaled = scaled || sources[s].logical;
            put("%s%.*s", s > 0 ? "+" : "", (int)name.len, name.data);
        }
        if (t.combine == TENON_COMBINE_MEAN)
            put("~");
        for (size_t s = 0; s < t.n_steps; s++)
            put("%s", t.steps[s].kind == TENON_STEP_TRANSPOSE ? "T" : "?");
        put("%s", scaled ? "*" : "");
        if (t.file > 0)
            put("@%u", t.file + 1);
    }
    return text;
}

const char *plan_metas(const struct tenon_plan *plan, size_t file)
{
    const struct tenon_plan_file *f = tenon_plan_file(plan, file);

    used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < f->n_metas; i++) {
        const struct tenon_meta_entry *e = &f->metas[i];
        int64_t number = 0;

        put("%s%.*s=", i > 0 ? " " : "", (int)e->key.len, e->key.data);
        if (e->type == TENON_META_STRING)
            put("%.*s", (int)e->value.as.str.len, e->value.as.str.data);
        else if (e->type == TENON_META_ARRAY)
            put("%s[%" PRIu64 "]", tenon_meta_type_name(e->item), e->count);
        else if (tenon_meta_value_int(&e->value, &number))
            put("%" PRId64, number);
        else
            put("%s", tenon_meta_type_name(e->type));
    }
    return text;
}
