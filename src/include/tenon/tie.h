/* Plans that store the one matrix of a tied model once, or twice. */
#ifndef TENON_TIE_H
#define TENON_TIE_H

#include "tenon/plan.h"

TENON_BEGIN_DECLS

/* Whose values the one matrix gets. */
enum tenon_keep {
    TENON_KEEP_BEST = 0,   /* the wider or more precise copy; of equal ones the input */
    TENON_KEEP_INPUT = 1,  /* the input embedding */
    TENON_KEEP_OUTPUT = 2, /* the output projection */
    TENON_KEEP_MEAN = 3    /* of both, in the input's dtype */
};

struct tenon_tie_options {
    enum tenon_keep keep;
    bool lossy;       /* also matrices that are not the same (scaled, partial, different) */
    bool force;       /* also what the reference loader of the family would not open */
    unsigned threads; /* for comparing the matrices; 0: as many as there are processors */
};

struct tenon_untie_options {
    enum tenon_dtype dtype; /* of the copy that is added; TENON_DTYPE_UNKNOWN: as the original */
    bool force;             /* as above */
    unsigned threads;
};

TENON_API void tenon_tie_options_init(struct tenon_tie_options *options);
TENON_API void tenon_untie_options_init(struct tenon_untie_options *options);

/* Plans to write `model`, with its one matrix stored once, to `target`: a file; for a split set the
 * name of one of its files or of a single one, from which those of the set are made; for a folder a
 * folder. The matrix stands under the input's name (the output's where the family wants that), the
 * config's flag becomes true, wherever it stands in it, and the index follows.
 *
 * What is tied already gives a plan that copies, and tenon_plan_is_empty is true. Without
 * `options->lossy` nothing is lost but the less precise of two copies that differ by rounding
 * alone. What tenon_plan_untie made becomes what it was before, byte for byte.
 *
 * `options` may be NULL. Reads both matrices to compare them. Fails with CANNOT_REPRESENT and the
 * reason where the verdict (tying.h) or the family forbids it, NOT_FOUND where there is no matrix,
 * MISUSE for options that do not go together, and as tenon_tying_analyse. */
TENON_API TENON_MUST_USE enum tenon_status tenon_plan_tie(const struct tenon_model *model,
                                                          const char *target,
                                                          const struct tenon_tie_options *options,
                                                          struct tenon_plan **out_plan,
                                                          struct tenon_error *err);

/* The other way: both matrices are stored, and the config's flag becomes false. Where both are
 * stored already, the flag alone is the work; where that is false, too, the plan copies and is
 * empty. Fails likewise. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_plan_untie(const struct tenon_model *model, const char *target,
                 const struct tenon_untie_options *options, struct tenon_plan **out_plan,
                 struct tenon_error *err);

TENON_END_DECLS

#endif
