/* Changing tensors of a plan in ways that no builder would. */
#ifndef TENON_TESTS_SPELL_OUT_H
#define TENON_TESTS_SPELL_OUT_H

#include <check.h>

#include "plan_build.h"

/* From then on the plan has tensor `i` in full: what is changed there counts, but for its file, its
 * offset and `apart`, and for its type also where records keep it. Freed with the plan. */
static inline struct tenon_plan_tensor *plan_spell_out(struct tenon_plan *plan, size_t i)
{
    struct tenon_plan_tensor *full = tenon_arena_alloc(&plan->arena, 1, sizeof(*full));

    ck_assert_ptr_nonnull(full);
    *full = tenon_plan_tensor(plan, i);
    plan->tensors[i].of.full = full;
    plan->tensors[i].name = NULL;
    plan->tensors[i].model = TENON_PLAN_FULL;
    return full;
}

#endif
