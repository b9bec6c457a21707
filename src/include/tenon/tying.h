/* Is the output projection the input embedding?
 *
 * The verdict comes from what is stored, then from the family's rules; what a config declares is
 * reported beside it. In the order in which they are decided:
 *
 *   one matrix    absent where the family, its config or a record in the metadata makes it serve as
 *                 both (also when it is the output that is stored), headless where no output is
 *                 expected, else missing. In GGUF there is no flag: the architecture decides.
 *   shape         incompatible when a matrix is empty, no matrix, or of another width
 *   storage       shared when both names stand for one range of one file
 *   bytes         identical when type, shape and every byte are equal
 *   values        equal; quantized when each difference is within what rounding to the two element
 *                 types explains (a float32 matrix and its BF16 rounding are that, too; two
 *                 matrices of one plain type never are); scaled when one factor other than 1
 *                 explains all, within rounding; partial when at least half of the common rows are
 *                 equal (but for rounding), also when the row counts differ; else different, or
 *                 incompatible when the row counts differ as well */
#ifndef TENON_TYING_H
#define TENON_TYING_H

#include "tenon/model.h"

TENON_BEGIN_DECLS

enum tenon_verdict {
    TENON_VERDICT_NONE = 0,
#define X(id, number, name, tied, meaning) TENON_VERDICT_##id = number,
#include "tenon/verdicts.def"
#undef X
};

/* What a loader would do with the checkpoint. */
enum tenon_loader_action {
    TENON_LOADER_UNKNOWN = 0,
    TENON_LOADER_TIES,
    TENON_LOADER_KEEPS_BOTH,
    TENON_LOADER_DROPS_OUTPUT,
    TENON_LOADER_RANDOM_OUTPUT,
    TENON_LOADER_REFUSES
};

enum tenon_tristate { TENON_NO = 0, TENON_YES = 1, TENON_SILENT = 2 };

/* How two matrices compare, row by row. Counts and sums are over rows present in both. */
struct tenon_evidence {
    bool valid;     /* false when nothing was compared: the rest means nothing */
    bool by_values; /* false when only bytes were compared */
    uint64_t rows;  /* compared */
    uint64_t cols;
    uint64_t equal_rows;
    uint64_t first_differing_row; /* UINT64_MAX when none */
    double max_abs_diff;
    double rel_l2; /* |out - in| / |in|, Frobenius */
    double cosine;
    double scale; /* best c with out = c x in */
};

struct tenon_tying_options {
    unsigned threads; /* 0: as many as the machine has processors */
    bool groups;      /* look for equal tensors in the whole model; reads all that are of one size
                       * and type */
    uint64_t most_bytes; /* 0, or: when the two matrices have more bytes than this they are not
                          * read, and a verdict that would take reading is TENON_VERDICT_NONE */
    bool values;         /* compare values where bytes differ (reads both matrices) */
    bool no_hashes;      /* leave the hashes of the two matrices out: less is read */
};

/* The answer. Owned by the caller of tenon_tying_analyse, freed by tenon_tying_free. */
struct tenon_tying {
    enum tenon_verdict verdict;
    bool tied;
    enum tenon_tristate declared;
    const char *declared_by; /* "config.json: tie_word_embeddings"; NULL when silent */
    bool consistent;         /* false when declared tied but not so, declared untied but one is not
                              * stored, or missing; where nothing is declared, the default of the
                              * family counts; a flag that means something else never does */
    const struct tenon_tensor *input;  /* NULL when there is none */
    const struct tenon_tensor *output; /* NULL when there is none */
    bool has_input_hash, has_output_hash;
    uint64_t input_hash[2], output_hash[2]; /* XXH3-128 of the bytes: high, low */
    struct tenon_evidence evidence;
    uint64_t saving_bytes; /* what tying saves here, or would */
    uint64_t saving_parameters;
    double saving_fraction; /* of all parameters, with both matrices counted */
    enum tenon_loader_action transformers_v4, transformers_v5, llama_cpp;
    const uint32_t *group_members; /* tensor indices, group after group */
    const size_t *group_ends;      /* n_groups ends into group_members */
    size_t n_groups;
    const char *const *notes; /* sentences for people, terminated, sanitised */
    size_t n_notes;
};

/* Both groups and values are looked at, on all processors. */
TENON_API void tenon_tying_options_init(struct tenon_tying_options *options);

/* Analyses `model`, which must outlive the answer. `options` may be NULL. Takes about 1 MiB for
 * each thread, whatever the size of the matrices; the figures do not depend on how many. Fails with
 * IO, TRUNCATED or NO_MEMORY, or NOT_FOUND when the model has neither an input nor an output
 * matrix. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_tying_analyse(const struct tenon_model *model, const struct tenon_tying_options *options,
                    struct tenon_tying **out_tying, struct tenon_error *err);

/* NULL is fine. */
TENON_API void tenon_tying_free(struct tenon_tying *tying);

TENON_API const char *tenon_verdict_name(enum tenon_verdict verdict);
TENON_API const char *tenon_verdict_meaning(enum tenon_verdict verdict);
TENON_API const char *tenon_loader_action_name(enum tenon_loader_action action);

TENON_END_DECLS

#endif
