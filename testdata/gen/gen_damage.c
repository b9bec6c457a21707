/* The list of damage, from ../corrupt_*.def. */
#include "gen.h"

#include <string.h>

/* What the columns may say: no particular byte; do not look; other bounds than the usual. */
#define NONE            UINT64_MAX
#define ANY             GEN_ANY
#define WITHIN(ms, kib) ((uint64_t)(ms) << 32 | (kib))

#define X(id, recipe, status, offset, subject, bounds)                                             \
    {#id, recipe, #status, offset, subject, bounds},
const struct gen_damage gen_damages[] = {
#include "corrupt_folder.def"
#include "corrupt_gguf.def"
#include "corrupt_json.def"
#include "corrupt_output.def"
#include "corrupt_reports.def"
#include "corrupt_safetensors.def"
};
#undef X
const size_t gen_n_damages = sizeof(gen_damages) / sizeof(gen_damages[0]);

const struct gen_damage *gen_damage_find(const char *id)
{
    for (size_t i = 0; i < gen_n_damages; i++) {
        if (strcmp(gen_damages[i].id, id) == 0)
            return &gen_damages[i];
    }
    return NULL;
}
