/* What people should know about a conversion before it is carried out. */
#include "plan_convert.h"

/* Numbers of tensors that something happened to. */
struct tally {
    size_t shared, unpacked, cast;
};

static struct tally count(const struct tenon_conversion *c)
{
    struct tally tally = {0};

    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);
        const struct tenon_choice *choice = &c->choices[i];

        if (choice->drop)
            continue;
        tally.shared += t->shares != TENON_NO_INDEX;
        tally.unpacked += choice->unpack;
        tally.cast += choice->dtype != (enum tenon_dtype)t->dtype;
    }
    return tally;
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static enum tenon_status note_tensors(struct tenon_conversion *c, const struct tally *tally,
                                      struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (tally->cast != 0)
        st = tenon_plan_add_note(c->plan, err, "%zu tensor%s get another element type", tally->cast,
                                 plural(tally->cast));
    if (st == TENON_OK && tally->unpacked != 0)
        st = tenon_plan_add_note(c->plan, err,
                                 "%zu of codes with scales beside them become numbers; the scales "
                                 "are left out",
                                 tally->unpacked);
    if (st == TENON_OK && tally->shared != 0)
        st = tenon_plan_add_note(c->plan, err,
                                 "%zu tensor%s that used the bytes of another get a copy",
                                 tally->shared, plural(tally->shared));
    return st;
}

enum tenon_status tenon_convert_notes(struct tenon_conversion *c, struct tenon_error *err)
{
    struct tally tally = count(c);
    enum tenon_status st = note_tensors(c, &tally, err);

    if (st == TENON_OK && c->to == &tenon_containers[TENON_CONTAINER_GGUF] && c->from != c->to &&
        tenon_model_dialect(c->model) != TENON_DIALECT_GGUF && tenon_model_n_tensors(c->model) != 0)
        st = tenon_plan_add_note(c->plan, err,
                                 "names are kept: this is a container of the same tensors, not a "
                                 "model that llama.cpp would load");
    if (st == TENON_OK && !c->folder && tenon_model_is_directory(c->model) &&
        tenon_model_n_side_files(c->model) != 0)
        st = tenon_plan_add_note(c->plan, err, "config and tokenizer stay behind");
    return st;
}
