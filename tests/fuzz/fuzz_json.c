/* The strict reader and the tree must agree on what is JSON; every token must lie in the text. */
#include "json_tree.h"

#include "fuzz_model.h"

#include <stdlib.h>

#define MOST_DEPTH 64

static void check_token(const struct tenon_json_token *token, const char *text, size_t size)
{
    char *copy;

    if (token->offset > size || token->raw.len > size)
        abort();
    if (token->type != TENON_JSON_KEY && token->type != TENON_JSON_STRING)
        return;
    if (token->raw.data < text || token->raw.data + token->raw.len > text + size)
        abort();
    copy = malloc(token->raw.len + 1);
    if (copy != NULL && tenon_json_unescape(token, copy) > token->raw.len)
        abort();
    free(copy);
}

/* Whether the strict reader accepts the text, with the numbers of Python that the tree takes, too.
 */
static bool pull(const char *text, size_t size)
{
    struct tenon_json json;
    struct tenon_json_token token = {.type = TENON_JSON_NULL};
    struct tenon_error err = {0};

    tenon_json_init(&json, text, size, MOST_DEPTH);
    tenon_json_allow_nonfinite(&json);
    while (token.type != TENON_JSON_END) {
        if (tenon_json_next(&json, &token, &err) != TENON_OK) {
            if (err.offset > size)
                abort();
            return false;
        }
        check_token(&token, text, size);
    }
    return true;
}

static size_t count_nodes(const struct tenon_json_node *node)
{
    size_t n = 1;

    for (node = tenon_json_node_first(node); node != NULL; node = tenon_json_node_next(node))
        n += count_nodes(node);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct tenon_json_node *root = NULL;
    struct tenon_error err = {0};
    bool strict = pull(text, size);
    enum tenon_status status = tenon_json_tree_parse(text, size, MOST_DEPTH, &root, &err);

    if (status == TENON_OK && (!strict || count_nodes(root) == 0))
        abort();
    /* The tree refuses more: duplicate keys, \u0000, numbers that are too long. */
    if (status != TENON_OK && err.message[0] == '\0')
        abort();
    tenon_json_node_free(root);
    return 0;
}
