/* What a configuration says, by name: the values of a Hugging Face config and of GGUF metadata,
 * asked for in one way. */
#ifndef TENON_SETTINGS_H
#define TENON_SETTINGS_H

#include "tenon/model.h"

TENON_BEGIN_DECLS

enum tenon_setting_kind {
    TENON_SETTING_NONE = 0, /* nothing is said, or null */
    TENON_SETTING_BOOL = 1,
    TENON_SETTING_NUMBER = 2,
    TENON_SETTING_STRING = 3,
    TENON_SETTING_LIST = 4,
    TENON_SETTING_OBJECT = 5
};

struct tenon_setting_node;

/* One value; borrowed from the model or the settings it was got from. Which member counts follows
 * from `kind`; the others are zero and empty. */
struct tenon_setting {
    enum tenon_setting_kind kind;
    bool boolean;
    double number;
    struct tenon_str text;
    size_t count;                          /* of a list's items or an object's members */
    const struct tenon_setting_node *node; /* private: where items and members are */
    const struct tenon_meta_entry *array;  /* private: the same for GGUF metadata */
};

/* The value at `path`, names separated by dots ("rope_parameters.full_attention.rope_theta").
 *
 * In a Hugging Face config the language model's own section (text_config and the like) is asked
 * first, then the top level. In GGUF metadata `path` is first taken behind the architecture's name
 * ("rope.freq_base" finds "llama.rope.freq_base"), then as it is. False, and `*out` all zero, when
 * nothing is said there, or null. */
TENON_API bool tenon_model_setting(const struct tenon_model *model, const char *path,
                                   struct tenon_setting *out);

/* Item `i` of a list, or member `i` of an object, in file order; false beyond the last one and for
 * items that are null. `out_key` (may be NULL) gets a member's name. */
TENON_API bool tenon_setting_item(const struct tenon_setting *setting, size_t i,
                                  struct tenon_setting *out, struct tenon_str *out_key);

/* The value at `path` below an object; false as above. */
TENON_API bool tenon_setting_member(const struct tenon_setting *object, const char *path,
                                    struct tenon_setting *out);

/* Whether the key stands there, but says null: at a path of the model, and at one below an object.
 */
TENON_API bool tenon_setting_is_null(const struct tenon_model *model, const char *path);
TENON_API bool tenon_setting_has_null(const struct tenon_setting *object, const char *path);

/* A number, a number that is whole and fits, a boolean, a string that equals `word`: false (and
 * `*out` untouched) for anything else. */
TENON_API bool tenon_setting_number(const struct tenon_setting *setting, double *out);
TENON_API bool tenon_setting_int(const struct tenon_setting *setting, int64_t *out);
TENON_API bool tenon_setting_bool(const struct tenon_setting *setting, bool *out);
TENON_API bool tenon_setting_is(const struct tenon_setting *setting, const char *word);

/* "null", "a number", "an object" ..., for messages. */
TENON_API const char *tenon_setting_kind_name(enum tenon_setting_kind kind);

/* Settings of their own, such as what stands on a command line. */
struct tenon_settings;

/* Parses `len` bytes of JSON, whose value tenon_settings_root gives; to be freed with
 * tenon_settings_free. Fails with CORRUPT, NAME_CLASH, LIMIT or NO_MEMORY; offsets count from the
 * start of the text. */
TENON_API TENON_MUST_USE enum tenon_status tenon_settings_parse(const char *json, size_t len,
                                                                struct tenon_settings **out,
                                                                struct tenon_error *err);
TENON_API struct tenon_setting tenon_settings_root(const struct tenon_settings *settings);
TENON_API void tenon_settings_free(struct tenon_settings *settings);

TENON_END_DECLS

#endif
