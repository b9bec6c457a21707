/* What lies beside weights: config and tokenizer. */
#include "hf.h"

#include "fail.h"
#include "hf_config.h"
#include "hf_side.h"
#include "hf_tokenizer.h"

static enum tenon_status apply_config(void *user, const char *text, size_t len,
                                      struct tenon_error *err)
{
    struct tenon_model *model = user;
    struct tenon_json_node *root = NULL;
    enum tenon_status st =
        tenon_json_tree_parse(text, len, tenon_model_options(model)->limits.json_depth, &root, err);

    if (st == TENON_OK && tenon_json_node_type(root) != TENON_JSON_OBJECT)
        st = tenon_fail(err, TENON_ERR_CORRUPT, 0, "must be an object, not %s",
                        tenon_json_type_name(tenon_json_node_type(root)));
    if (st == TENON_OK)
        st = tenon_hf_config_apply(model, root, err);
    tenon_json_node_free(root);
    return st;
}

enum tenon_status tenon_hf_read_beside(struct tenon_model *model, const char *prefix,
                                       struct tenon_error *err)
{
    const struct tenon_hf_side config = {.model = model,
                                         .prefix = prefix,
                                         .name = "config.json",
                                         .limit = TENON_JSON_TREE_BYTES,
                                         .apply = apply_config,
                                         .user = model};
    enum tenon_status st = tenon_hf_read_side(&config, NULL, err);

    return st == TENON_OK ? tenon_hf_read_tokenizer(model, prefix, err) : st;
}
