#include "out_json.h"

#include <math.h>
#include <string.h>

#include "tenon/text.h"

static void write_string(struct tenon_out *out, const char *text, size_t len)
{
    size_t pos = 0, clean = 0; /* [clean, pos) needs no escape */

    tenon_out_text(out, "\"");
    while (pos < len) {
        size_t start = pos;
        int32_t c = tenon_utf8_next(text, len, &pos);

        if (tenon_codepoint_safe(c) && c != '"' && c != '\\')
            continue;
        tenon_out_write(out, text + clean, start - clean);
        clean = pos;
        if (c < 0)
            tenon_out_printf(out, "\\ufffd%02x", (unsigned char)text[start]);
        else if (c == '"' || c == '\\')
            tenon_out_printf(out, "\\%c", (char)c);
        else if (c == '\n' || c == '\t' || c == '\r')
            tenon_out_printf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < 0x10000)
            tenon_out_printf(out, "\\u%04x", (unsigned)c);
        else
            tenon_out_printf(out, "\\u%04x\\u%04x", 0xd800u + ((unsigned)(c - 0x10000) >> 10),
                             0xdc00u + ((unsigned)(c - 0x10000) & 0x3ff));
    }
    tenon_out_write(out, text + clean, len - clean);
    tenon_out_text(out, "\"");
}

/* What stands before a value: comma, line break, indentation, key. */
static void begin_value(struct tenon_json *json, const char *key)
{
    if (json->depth > 0) {
        bool flat = json->level[json->depth - 1].flat;
        bool filled = json->level[json->depth - 1].filled;

        if (filled)
            tenon_out_text(json->out, flat ? ", " : ",");
        if (!flat)
            tenon_out_printf(json->out, "\n%*s", (int)(2 * json->depth), "");
        json->level[json->depth - 1].filled = true;
    }
    if (key != NULL) {
        write_string(json->out, key, strlen(key));
        tenon_out_text(json->out, ": ");
    }
}

static void begin_level(struct tenon_json *json, const char *key, const char *brackets, bool flat)
{
    begin_value(json, key);
    flat = flat || json->flat || (json->depth > 0 && json->level[json->depth - 1].flat);
    tenon_out_write(json->out, brackets, 1);
    json->level[json->depth].close = brackets[1];
    json->level[json->depth].filled = false;
    json->level[json->depth].flat = flat;
    json->depth++;
}

void tenon_json_object(struct tenon_json *json, const char *key)
{
    begin_level(json, key, "{}", false);
}

void tenon_json_object_flat(struct tenon_json *json, const char *key)
{
    begin_level(json, key, "{}", true);
}

void tenon_json_array(struct tenon_json *json, const char *key)
{
    begin_level(json, key, "[]", false);
}

void tenon_json_array_flat(struct tenon_json *json, const char *key)
{
    begin_level(json, key, "[]", true);
}

void tenon_json_end(struct tenon_json *json)
{
    json->depth--;
    if (json->level[json->depth].filled && !json->level[json->depth].flat)
        tenon_out_printf(json->out, "\n%*s", (int)(2 * json->depth), "");
    tenon_out_write(json->out, &json->level[json->depth].close, 1);
    if (json->depth == 0)
        tenon_out_text(json->out, "\n");
}

void tenon_json_document(struct tenon_json *json, const char *schema)
{
    tenon_json_object(json, NULL);
    tenon_json_text(json, "schema", schema);
}

void tenon_json_null(struct tenon_json *json, const char *key)
{
    begin_value(json, key);
    tenon_out_text(json->out, "null");
}

void tenon_json_bool(struct tenon_json *json, const char *key, bool value)
{
    begin_value(json, key);
    tenon_out_text(json->out, value ? "true" : "false");
}

void tenon_json_u64(struct tenon_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    tenon_out_printf(json->out, "%llu", (unsigned long long)value);
}

void tenon_json_i64(struct tenon_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    tenon_out_printf(json->out, "%lld", (long long)value);
}

static void write_number(struct tenon_json *json, const char *key, double value, bool single)
{
    const char *quote = isfinite(value) ? "" : "\"";
    char buf[32];

    begin_value(json, key);
    tenon_out_printf(json->out, "%s%s%s", quote, tenon_out_number(buf, value, single), quote);
}

void tenon_json_f64(struct tenon_json *json, const char *key, double value)
{
    write_number(json, key, value, false);
}

void tenon_json_f32(struct tenon_json *json, const char *key, float value)
{
    write_number(json, key, value, true);
}

void tenon_json_text(struct tenon_json *json, const char *key, const char *text)
{
    if (text == NULL)
        tenon_json_null(json, key);
    else
        tenon_json_str(json, key, (struct tenon_str){text, strlen(text)});
}

void tenon_json_str(struct tenon_json *json, const char *key, struct tenon_str text)
{
    begin_value(json, key);
    write_string(json->out, text.data, text.len);
}

void tenon_json_hash(struct tenon_json *json, const char *key, uint64_t high, uint64_t low)
{
    begin_value(json, key);
    tenon_out_text(json->out, "\"");
    tenon_out_hash(json->out, high, low);
    tenon_out_text(json->out, "\"");
}

void tenon_json_known(struct tenon_json *json, const char *key, int64_t value)
{
    if (value < 0)
        tenon_json_null(json, key);
    else
        tenon_json_i64(json, key, value);
}

void tenon_json_offset(struct tenon_json *json, const char *key, uint64_t offset)
{
    if (offset == TENON_NO_OFFSET)
        tenon_json_null(json, key);
    else
        tenon_json_u64(json, key, offset);
}
