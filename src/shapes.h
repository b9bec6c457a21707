/* Shapes, of which the tensors of a model share a few: each is kept once, as long as there are no
 * more than about a thousand. What comes after those is kept for its tensor alone, so that any
 * file costs linear time and no memory beyond its own numbers. */
#ifndef TENON_SHAPES_H
#define TENON_SHAPES_H

#include "mem.h"

/* Zero-initialise, release once; shapes stay in the arena. */
struct tenon_shapes {
    struct tenon_shape *slots;
};

/* A copy of `n` dims in `arena`, perhaps one that was asked for before; `n` is not 0. NULL when
 * memory is gone. */
const uint64_t *tenon_shapes_keep(struct tenon_shapes *shapes, struct tenon_arena *arena,
                                  const uint64_t *dims, uint32_t n);

void tenon_shapes_release(struct tenon_shapes *shapes);

#endif
