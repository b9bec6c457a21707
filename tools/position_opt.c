#include "position_opt.h"

#include <string.h>

#include "report.h"
#include "tenon/input.h"

const char *const tenon_layout_words[] = {"auto", "half", "interleaved", NULL};
const char *const tenon_precision_words[] = {"auto", "exact", "hf", "ggml", NULL};

/* By the indices of the words. */
static const int pairings[] = {-1, TENON_PAIR_HALF, TENON_PAIR_INTERLEAVED};
static const enum tenon_precision precisions[] = {TENON_PRECISION_HF, TENON_PRECISION_EXACT,
                                                  TENON_PRECISION_HF, TENON_PRECISION_GGML};

/* What errors of the library say in front of what is wrong with an override. */
static const char origin[] = "options";

enum tenon_status tenon_position_options_check(const struct tenon_tool *tool,
                                               const struct tenon_position_options *options,
                                               struct tenon_error *err)
{
    if (options->theta > 0 || !tenon_tool_given(tool, "theta"))
        return TENON_OK;
    return tenon_report_fail(err, TENON_ERR_MISUSE, "--theta: a base of 0, more is due");
}

enum tenon_status tenon_position_options_read(const struct tenon_position_options *options,
                                              struct tenon_position_given *given,
                                              struct tenon_error *err)
{
    struct tenon_position_overrides *overrides = &given->overrides;
    enum tenon_status st;

    *given = (struct tenon_position_given){0};
    tenon_position_overrides_init(overrides);
    overrides->origin = origin;
    if (options->theta > 0)
        overrides->theta = options->theta;
    if (options->rotary_dim > 0)
        overrides->rotary_dim = (int64_t)options->rotary_dim;
    if (options->heads > 0)
        overrides->heads = (int64_t)options->heads;
    overrides->pairing = pairings[options->layout];
    if (options->scaling == NULL)
        return TENON_OK;
    st = tenon_settings_parse(options->scaling, strlen(options->scaling), &given->settings, err);
    if (st != TENON_OK) {
        tenon_report_path(err, "--rope-scaling");
        tenon_report_hint(err, "use an object as in a config: "
                               "'{\"rope_type\": \"yarn\", \"factor\": 4}'");
        return st;
    }
    given->scaling = tenon_settings_root(given->settings);
    overrides->rope_scaling = &given->scaling;
    return TENON_OK;
}

void tenon_position_options_blame(const struct tenon_position_options *options,
                                  struct tenon_error *err)
{
    const struct {
        const char *key, *option;
        bool given;
    } rows[] = {
        {"rotary_dim", "--rotary-dim", options->rotary_dim > 0},
        {"rotary_dim", "--heads", options->heads > 0},
        {"head_dim", "--heads", options->heads > 0},
        {"attention.key_length", "--heads", options->heads > 0},
        {"rope_theta", "--theta", options->theta > 0},
    };
    const size_t len = strlen(origin), n = sizeof(rows) / sizeof(rows[0]);
    size_t i = 0;

    if (err->status != TENON_ERR_MISUSE || strncmp(err->message, origin, len) != 0 ||
        strncmp(err->message + len, ": ", 2) != 0)
        return;
    memmove(err->message, err->message + len + 2, strlen(err->message + len + 2) + 1);
    while (i < n && !(rows[i].given && strcmp(rows[i].key, err->subject) == 0))
        i++;
    if (i < n) { /* the option is the key */
        err->kind = NULL;
        err->subject[0] = '\0';
    }
    tenon_report_path(err, i < n                      ? rows[i].option
                           : options->scaling != NULL ? "--rope-scaling"
                                                      : "--rotary-dim");
}

void tenon_position_given_release(struct tenon_position_given *given)
{
    tenon_settings_free(given->settings);
    given->settings = NULL;
}

enum tenon_precision tenon_position_precision(const struct tenon_position_options *options,
                                              const struct tenon_model *model)
{
    if (options->precision == 0 && model != NULL)
        return tenon_model_precision(model);
    return precisions[options->precision];
}

const char *tenon_pairing_name(enum tenon_rope_pairing pairing)
{
    static const char *const names[] = {
        [TENON_PAIR_HALF] = "half",
        [TENON_PAIR_INTERLEAVED] = "interleaved",
        [TENON_PAIR_INTERLEAVED_TO_HALF] = "interleaved to half",
        [TENON_PAIR_REVERSED] = "half, reversed",
        [TENON_PAIR_BLOCK_HALF] = "half inside sections",
        [TENON_PAIR_TILED] = "interleaved, tiled",
    };

    return (size_t)pairing < sizeof(names) / sizeof(names[0]) ? names[pairing] : "unknown";
}
