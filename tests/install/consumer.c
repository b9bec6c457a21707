/* A program of somebody else's: built against the installed library and its pkg-config file only.
 *
 *     consumer MODEL ID
 *
 * prints what the model is and the row of one token. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/tenon.h>

static int fail(const struct tenon_error *err)
{
    fprintf(stderr, "%s: %s\n", tenon_status_id(err->status), err->message);
    return tenon_status_exit(err->status);
}

int main(int argc, char **argv)
{
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_embed embed;
    float *row = NULL;
    uint64_t id;
    int status = 0;

    if (argc != 3)
        return 2;
    id = strtoull(argv[2], NULL, 10);
    if (tenon_model_open(argv[1], NULL, &model, &err) != TENON_OK)
        return fail(&err);
    if (tenon_embed_init(&embed, model, &err) != TENON_OK) {
        status = fail(&err);
        goto out;
    }
    row = calloc(embed.cols, sizeof(*row));
    if (row == NULL || tenon_embed_rows(&embed, &id, 1, row, &err) != TENON_OK) {
        status = fail(&err);
        goto out;
    }
    printf("%s %s, %zu tensors, row %llu of %llu:", tenon_version(), tenon_model_format(model),
           tenon_model_n_tensors(model), (unsigned long long)id, (unsigned long long)embed.rows);
    for (uint64_t i = 0; i < embed.cols && i < 4; i++)
        printf(" %g", (double)row[i]);
    printf("\n");
out:
    free(row);
    tenon_model_free(model);
    return status;
}
