/* The positions of a folder that holds a config and next to nothing else, for tests of what configs
 * mean. One file includes it and has these names to itself. */
#ifndef TENON_TESTS_RESOLVED_H
#define TENON_TESTS_RESOLVED_H

#include <check.h>

#include "folder.h"
#include "tenon/position.h"

static char dir[512];
static struct tenon_model *model;
static struct tenon_positions *positions;
static struct tenon_error err;

static void set_up(void)
{
    folder_make(dir);
    folder_shard(dir, "model.safetensors", "w", 1);
    model = NULL;
    positions = NULL;
    err = (struct tenon_error){0};
}

static void tear_down(void)
{
    tenon_positions_free(positions);
    tenon_model_free(model);
    folder_remove(dir);
}

static enum tenon_status resolve(const char *config)
{
    struct tenon_error why = {0};

    tenon_positions_free(positions);
    tenon_model_free(model);
    model = NULL;
    positions = NULL;
    err = (struct tenon_error){0};
    folder_text(dir, "config.json", config);
    ck_assert_msg(tenon_model_open(dir, NULL, &model, &why) == TENON_OK, "%s", why.message);
    return tenon_positions_resolve(model, NULL, &positions, &err);
}

#endif
