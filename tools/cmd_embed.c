/* tenon embed: token ids to vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed_stage.h"
#include "plot.h"
#include "position_opt.h"
#include "save.h"
#include "target.h"

struct options {
    struct tenon_position_options positions;
    struct tenon_opt_list ids, types, places;
    const char *ids_file, *output, *plot, *pixels, *image;
    uint64_t layer, start, image_token;
    unsigned stage, dtype, pos, sinusoid, side;
    bool force;
};

static const struct options defaults = {.stage = TENON_STAGE_INPUT};

/* By enum tenon_stage, enum tenon_input_positions, and so on. */
static const char *const stage_words[] = {"token", "input", "qk", NULL};
static const char *const pos_words[] = {"auto", "none", "learned", "sinusoidal", "rope", NULL};
static const char *const sinusoid_words[] = {"auto", "interleaved", "half", NULL};
static const enum tenon_sinusoid_form sinusoids[] = {
    TENON_SINUSOID_NONE, TENON_SINUSOID_INTERLEAVED, TENON_SINUSOID_HALF};
static const char *const side_words[] = {"auto", "encoder", "decoder", NULL};
static const enum tenon_part sides[] = {TENON_PART_MAIN, TENON_PART_ENCODER, TENON_PART_DECODER};
static const char *const dtype_words[] = {"F32", "F16", "BF16", NULL};
static const enum tenon_dtype dtypes[] = {TENON_DTYPE_F32, TENON_DTYPE_F16, TENON_DTYPE_BF16};

#define FIELD(name) offsetof(struct options, name)
static const struct tenon_opt options[] = {
    {.name = "ids",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(ids),
     .value = "LIST",
     .flags = TENON_OPT_REPEATED,
     .help = "token ids and ranges a-b, separated by commas or blanks; each LIST is one sequence"},
    {.name = "ids-file",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(ids_file),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "read them from FILE (- for standard input), a sequence a line"},
    {.name = "stage",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(stage),
     .value = "STAGE",
     .choices = stage_words,
     .help = "token: rows of the matrix as they are; input (the default): what enters the first "
             "block; qk: queries and keys of layer 0"},
    {.name = "layer",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(layer),
     .value = "N",
     .max = 0,
     .help = "whose queries and keys: 0, the only one that the embedding alone decides"},
    {.name = "side",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(side),
     .value = "SIDE",
     .choices = side_words,
     .help = "of a model with two: encoder or decoder; auto, the default, is the first that there "
             "is"},
    {.name = "type-ids",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(types),
     .value = "LIST",
     .flags = TENON_OPT_REPEATED,
     .help = "token types, as many as ids; default 0"},
    {.name = "pos",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(pos),
     .value = "KIND",
     .choices = pos_words,
     .help = "which positions the input brings in: auto (the architecture's own), none (nor does "
             "--stage qk rotate), learned, sinusoidal, or rope (rows are rotated head by head, in "
             "place of queries and keys)"},
    {.name = "sinusoidal-layout",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(sinusoid),
     .value = "LAYOUT",
     .choices = sinusoid_words,
     .help = "of --pos sinusoidal: interleaved (sine, cosine, sine ...) or half (sines, then "
             "cosines)"},
    {.name = "start",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(start),
     .value = "N",
     .max = INT32_MAX,
     .help = "the position of each sequence's first token"},
    {.name = "positions",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(places),
     .value = "LIST",
     .flags = TENON_OPT_REPEATED,
     .help =
         "a position for each id; once, or once for each stream (time, height, width) of a model "
         "with several"},
    {.name = "pixels",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(pixels),
     .value = "FILE.npy",
     .flags = TENON_OPT_FILE,
     .help = "a picture for the vision tower: [channels, height, width], normalised already"},
    {.name = "image",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(image),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "the same from a PNG or JPEG file, resized and normalised as preprocessor_config.json "
             "says"},
    {.name = "image-token",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(image_token),
     .value = "ID",
     .min = 1,
     .max = UINT32_MAX,
     .help = "the id that stands for the picture among --ids, instead of the config's"},
    TENON_POSITION_ROWS(struct options),
    {.letter = 'o',
     .name = "output",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(output),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "write a file: .npy, .npz, .safetensors, .json, .csv or .tsv"},
    {.name = "dtype",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(dtype),
     .value = "TYPE",
     .choices = dtype_words,
     .help = "element type in .npy, .npz and .safetensors: F32, F16 or BF16"},
    {.name = "plot",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(plot),
     .value = "FILE.svg",
     .flags = TENON_OPT_FILE,
     .help = "draw the vectors as a heat map"},
    {.name = "force",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(force),
     .help = "replace FILE if it exists"},
};

static enum tenon_status read_ids(const struct options *o, struct tenon_ids *ids,
                                  struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < o->ids.n; i++)
        st = tenon_ids_add(ids, o->ids.items[i], 0, err);
    if (st == TENON_OK && o->ids_file != NULL)
        st = tenon_ids_read(ids, o->ids_file, err);
    if (st != TENON_OK || ids->n > 0)
        return st;
    tenon_report_fail(err, TENON_ERR_MISUSE, "no token ids are given");
    tenon_report_hint(err, "use --ids 1,5,100-110, or --ids-file FILE");
    return TENON_ERR_MISUSE;
}

static enum tenon_status write_file(const struct options *o, const struct tenon_vectors *vectors,
                                    struct tenon_error *err)
{
    struct tenon_save save;
    enum tenon_status st = tenon_save_begin(&save, o->output, o->force, err);

    if (st == TENON_OK)
        st = tenon_vectors_write(o->output, vectors, &save.out, err);
    if (st == TENON_OK)
        st = tenon_save_commit(&save, err);
    tenon_save_release(&save);
    return st;
}

/* --- options that would do nothing --- */

#define ROTATION "length theta rotary-dim heads rope-layout rope-scaling"

static const char as_they_are[] = "--stage token gives rows as they are";

/* What can be told from the command line alone. */
static enum tenon_status check_options(const struct tenon_tool *tool, struct tenon_error *err)
{
    const struct options *o = tool->options;
    const bool picture = o->pixels != NULL || o->image != NULL;
    const bool alone = picture && o->ids.n == 0 && o->ids_file == NULL;
    const bool qk = o->stage == TENON_STAGE_QK, none = o->pos == TENON_INPUT_NONE;
    const bool rotates = qk ? !none : o->pos == TENON_INPUT_ROPE;
    const struct {
        bool idle;
        const char *names, *why;
    } rules[] = {
        {!picture, "image-token", "it goes with --pixels or --image"},
        {alone, "side type-ids pos sinusoidal-layout start positions image-token " ROTATION,
         "a picture alone has no token ids"},
        {o->stage == TENON_STAGE_TOKEN && o->pos != TENON_INPUT_NONE, "pos", as_they_are},
        {o->stage == TENON_STAGE_TOKEN, "sinusoidal-layout " ROTATION, as_they_are},
        {qk && none, ROTATION, "--pos none rotates nothing"},
        {!rotates, ROTATION, "nothing is rotated without --stage qk or --pos rope"},
        {o->places.n > 0, "start", "--positions says where all tokens are"},
        {o->output == NULL, "dtype", "no file is written, name one with -o"},
    };
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].idle)
            st = tenon_tool_refuse(tool, rules[i].names, rules[i].why, err);
    if (st == TENON_OK && qk && o->pos == TENON_INPUT_ROPE)
        st = tenon_report_fail(
            err, TENON_ERR_MISUSE,
            "--pos rope rotates the input, --stage qk queries and keys: not both");
    return st == TENON_OK ? tenon_position_options_check(tool, &o->positions, err) : st;
}

/* The same, once it is known what the model has. */
static enum tenon_status check_use(const struct tenon_tool *tool, const struct tenon_input *input,
                                   struct tenon_error *err)
{
    const struct options *o = tool->options;
    const struct tenon_positions *positions = input != NULL ? tenon_input_positions(input) : NULL;
    const struct tenon_rope_use *use =
        positions != NULL ? tenon_positions_rope(positions, 0) : NULL;
    const bool axes = use != NULL && use->rope.axes != TENON_AXES_ONE;

    if (o->places.n > 1 && !axes)
        return tenon_report_fail(err, TENON_ERR_MISUSE,
                                 "%zu lists of positions, but these tokens have one position each",
                                 o->places.n);
    if (positions != NULL && use == NULL)
        return tenon_tool_refuse(tool, ROTATION, "layer 0 of this model does not rotate", err);
    return TENON_OK;
}

/* What is wrong with a rotation is wrong with the options where they say how it is stretched. */
static enum tenon_status check_scaling(const struct tenon_input_options *given,
                                       const struct tenon_input *input, struct tenon_error *err)
{
    const struct tenon_rope_use *use =
        input != NULL ? tenon_positions_rope(tenon_input_positions(input), 0) : NULL;
    struct tenon_rope_table table;
    enum tenon_status st;

    if (given->overrides.rope_scaling == NULL || use == NULL)
        return TENON_OK;
    st = tenon_rope_table_init(&table, &use->rope, given->precision, given->length, err);
    if (st == TENON_OK)
        tenon_rope_table_release(&table);
    if (st == TENON_OK || st == TENON_ERR_NO_MEMORY)
        return st;
    tenon_report_path(err, "--rope-scaling");
    err->status = TENON_ERR_MISUSE;
    return err->status;
}

/* --- the run --- */

/* Everything that a run owns. */
struct embed_run {
    struct tenon_tool *tool;
    const struct options *o;
    struct tenon_model *model;
    struct tenon_position_given given;
    struct tenon_ids ids, types, places[TENON_ROPE_MAX_SECTIONS];
    struct tenon_stage_run stage;
    struct tenon_picture_rows picture;
    uint64_t *places_alone; /* of a picture's tokens */
    struct tenon_vectors vectors;
};

/* Numbers that go with the ids, below `limit`. */
static enum tenon_status read_list(const char *text, uint64_t limit, struct tenon_ids *out,
                                   struct tenon_error *err)
{
    enum tenon_status st;

    out->rows = limit;
    st = tenon_ids_add(out, text, 0, err);
    if (st != TENON_OK) /* they are read as ids are, but are none */
        tenon_report_hint(err,
                          "--positions and --type-ids take whole numbers and ranges, as --ids");
    return st;
}

static enum tenon_status read_tokens(struct embed_run *r, struct tenon_stage_tokens *tokens,
                                     struct tenon_error *err)
{
    const struct options *o = r->o;
    enum tenon_status st;

    r->ids.rows = r->stage.embed.rows;
    r->ids.matrix = tenon_model_path(r->model);
    st = read_ids(o, &r->ids, err);
    for (size_t i = 0; st == TENON_OK && i < o->types.n; i++)
        st = read_list(o->types.items[i], UINT32_MAX, &r->types, err);
    if (st == TENON_OK && o->places.n > TENON_ROPE_MAX_SECTIONS)
        st = tenon_report_fail(err, TENON_ERR_MISUSE, "%zu lists of positions, at most %d are used",
                               o->places.n, TENON_ROPE_MAX_SECTIONS);
    for (size_t i = 0; st == TENON_OK && i < o->places.n; i++) {
        st = read_list(o->places.items[i], INT32_MAX, &r->places[i], err);
        tokens->positions[i] = &r->places[i];
    }
    tokens->ids = &r->ids;
    tokens->types = o->types.n > 0 ? &r->types : NULL;
    tokens->n_streams = o->places.n;
    tokens->start = o->start;
    return st;
}

/* The longest sequence, which scalings that depend on the length follow: up to the last position,
 * where positions are given. */
static double count_longest(const struct embed_run *r)
{
    size_t longest = 0, begin = 0;
    double last = 0;

    for (size_t i = 0; r->o->places.n > 0 && i < r->places[0].n; i++)
        last = (double)r->places[0].ids[i] > last ? (double)r->places[0].ids[i] : last;
    if (r->o->places.n > 0)
        return last + 1;
    for (size_t s = 0; s < r->ids.n_sequences; begin = r->ids.ends[s++])
        if (r->ids.ends[s] - begin > longest)
            longest = r->ids.ends[s] - begin;
    return (double)(longest + r->o->start);
}

/* Puts the picture among the ids. */
static enum tenon_status place_picture(struct embed_run *r, struct tenon_error *err)
{
    enum tenon_status st = tenon_picture_rows_token(&r->picture, r->model, r->o->image_token, err);

    if (st == TENON_OK)
        st = tenon_picture_rows_place(&r->picture, &r->ids, err);
    r->stage.picture = &r->picture;
    return st;
}

static bool is_all_zero(const struct tenon_ids *types)
{
    size_t i = 0;

    while (i < types->n && types->ids[i] == 0)
        i++;
    return i == types->n;
}

static enum tenon_status begin_stage(struct embed_run *r, struct tenon_error *err)
{
    const struct options *o = r->o;
    struct tenon_input_options input;
    struct tenon_stage_tokens tokens = {0};
    enum tenon_status st = tenon_position_options_read(&o->positions, &r->given, err);

    if (st != TENON_OK)
        return st;
    tenon_input_options_init(&input);
    input.precision = tenon_position_precision(&o->positions, r->model);
    input.side = sides[o->side];
    input.positions = (enum tenon_input_positions)o->pos;
    input.sinusoid = sinusoids[o->sinusoid];
    input.overrides = r->given.overrides;
    input.overrides.rotary = o->pos == TENON_INPUT_ROPE;
    r->stage.stage = (enum tenon_stage)o->stage;
    /* The ids are needed for the length, and the matrix for the ids. */
    st = tenon_input_matrix(r->model, input.side, &r->stage.embed, err);
    if (st == TENON_OK)
        st = read_tokens(r, &tokens, err);
    if (st == TENON_OK && o->stage == TENON_STAGE_TOKEN && !is_all_zero(&r->types))
        st = tenon_tool_refuse(r->tool, "type-ids", as_they_are, err);
    if (st == TENON_OK && r->picture.rows != NULL)
        st = place_picture(r, err);
    input.length = o->positions.length > 0 ? (double)o->positions.length : count_longest(r);
    if (st == TENON_OK)
        st = tenon_stage_begin(&r->stage, r->model, &input, err);
    if (st != TENON_OK)
        tenon_position_options_blame(&o->positions, err);
    if (st == TENON_OK)
        st = check_use(r->tool, r->stage.input, err);
    if (st == TENON_OK)
        st = check_scaling(&input, r->stage.input, err);
    r->vectors.dtype = dtypes[o->dtype];
    if (st == TENON_OK && r->stage.picture != NULL &&
        r->picture.width != tenon_input_width(r->stage.input))
        st = tenon_report_fail(err, TENON_ERR_MISMATCH,
                               "tokens of the picture have %zu values before the tower's first "
                               "block, those of the text %zu: they do not go together there",
                               r->picture.width, tenon_input_width(r->stage.input));
    return st == TENON_OK ? tenon_stage_fill(&r->stage, &tokens, &r->vectors, err) : st;
}

/* --- a picture --- */

/* A picture without text. */
static enum tenon_status begin_picture(struct embed_run *r, struct tenon_error *err)
{
    struct tenon_vectors_kind kind = {.name = "embeddings",
                                      .heads = 1,
                                      .cols = r->picture.width,
                                      .rows = tenon_picture_rows_get,
                                      .user = &r->picture};
    enum tenon_status st = tenon_picture_rows_alone(&r->picture, &r->ids, err);

    if (st != TENON_OK)
        return st;
    r->places_alone = tenon_tool_alloc(r->ids.n, sizeof(*r->places_alone), err);
    if (r->places_alone == NULL)
        return TENON_ERR_NO_MEMORY;
    memcpy(r->places_alone, r->ids.ids, r->ids.n * sizeof(*r->places_alone));
    r->vectors = (struct tenon_vectors){.stage = "input",
                                        .ids = &r->ids,
                                        .positions = r->places_alone,
                                        .source = "what enters the vision tower's first block",
                                        .dtype = dtypes[r->o->dtype]};
    tenon_vectors_add(&r->vectors, &kind);
    return TENON_OK;
}

static enum tenon_status begin(struct embed_run *r, struct tenon_error *err)
{
    const struct options *o = r->o;
    const struct tenon_picture_source source = {o->pixels, o->image,
                                                tenon_position_precision(&o->positions, r->model)};
    enum tenon_status st;

    if (o->pixels == NULL && o->image == NULL)
        return begin_stage(r, err);
    if (o->stage != TENON_STAGE_INPUT)
        return tenon_report_fail(err, TENON_ERR_MISUSE, "pictures have the stage 'input' only");
    st = tenon_picture_rows_make(&r->picture, r->model, &source, err);
    if (st != TENON_OK)
        return st;
    return o->ids.n > 0 || o->ids_file != NULL ? begin_stage(r, err) : begin_picture(r, err);
}

/* --- the picture --- */

static const char *label_row(void *user, uint64_t row, char buf[32])
{
    const struct tenon_vectors *v = user;
    uint64_t id = row / v->heads[0];

    if (v->short_names[0] != NULL)
        snprintf(buf, 32, "%llu %s%llu", (unsigned long long)v->ids->ids[id], v->short_names[0],
                 (unsigned long long)(row % v->heads[0]));
    else
        snprintf(buf, 32, "%llu", (unsigned long long)v->ids->ids[id]);
    return buf;
}

static enum tenon_status add_heat(void *user, uint64_t i, const float *values,
                                  struct tenon_error *err)
{
    (void)err;
    tenon_heat_add(user, i, values);
    return TENON_OK;
}

static enum tenon_status save_plot(struct embed_run *r, struct tenon_error *err)
{
    const struct tenon_array *array = &r->vectors.arrays[0];
    struct tenon_heat heat = {0};
    struct tenon_save save = {.out = {.fd = -1}};
    char title[320];
    enum tenon_status st =
        tenon_heat_init(&heat, tenon_array_n_rows(array), tenon_array_row(array), err);

    snprintf(title, sizeof(title), "%s: %s", tenon_model_path(r->model), r->vectors.source);
    if (st == TENON_OK)
        st = tenon_array_each(array, add_heat, &heat, err);
    if (st == TENON_OK)
        st = tenon_save_begin(&save, r->o->plot, r->o->force, err);
    if (st == TENON_OK) {
        tenon_heat_draw(&heat, title, label_row, &r->vectors, &save.out);
        st = tenon_save_commit(&save, err);
    }
    tenon_save_release(&save);
    tenon_heat_release(&heat);
    return st;
}

static enum tenon_status write_result(struct embed_run *r, struct tenon_error *err)
{
    const struct options *o = r->o;
    struct tenon_tool *tool = r->tool;
    enum tenon_status st = TENON_OK;

    if (o->output != NULL)
        st = write_file(o, &r->vectors, err);
    if (st == TENON_OK && o->plot != NULL)
        st = save_plot(r, err);
    if (st == TENON_OK && tool->common.json)
        return tenon_vectors_json(&tool->out, &r->vectors, o->output, err);
    if (st == TENON_OK && o->output == NULL && o->plot == NULL)
        return tenon_vectors_text(&tool->out, &tool->term, &r->vectors, err);
    if (st == TENON_OK && o->output != NULL && tool->common.verbose)
        tenon_tool_note(tool, "%zu vector%s written to %s", r->ids.n, r->ids.n == 1 ? "" : "s",
                        o->output);
    return st;
}

/* What a user may not expect. */
static void say_choices(struct embed_run *r)
{
    const struct tenon_input *input = r->stage.input;
    const struct tenon_positions *positions;
    const struct tenon_rope_use *use;
    double length;
    size_t beyond;

    if (input == NULL)
        return;
    beyond = tenon_input_beyond_tokenizer(input, r->ids.ids, r->ids.n);
    if (beyond > 0)
        tenon_tool_note(r->tool, "%zu of the ids are rows that the tokenizer has no token for",
                        beyond);
    positions = tenon_input_positions(input);
    use = tenon_positions_rope(positions, 0);
    if (use == NULL || r->o->pos == TENON_INPUT_NONE ||
        (r->o->stage != TENON_STAGE_QK && r->o->pos != TENON_INPUT_ROPE))
        return;
    length = r->o->positions.length > 0 ? (double)r->o->positions.length : count_longest(r);
    if (use->rope.scaling == TENON_ROPE_LONGROPE || use->rope.scaling == TENON_ROPE_DYNAMIC)
        tenon_tool_note(r->tool, "%s scaling for sequences of %.0f position%s; see --length",
                        tenon_rope_scaling_name(use->rope.scaling), length, length == 1 ? "" : "s");
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct embed_run r = {.tool = tool, .o = o};
    const struct tenon_targets targets = {
        o->output, o->plot, {o->ids_file, o->pixels, o->image}, o->force};
    struct tenon_error err = {0};
    enum tenon_status st = check_options(tool, &err);

    if (st == TENON_OK)
        st = tenon_vectors_check(o->output, dtypes[o->dtype], &err);
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &r.model, &err);
    if (st == TENON_OK)
        st = tenon_targets_check(&targets, r.model, &err);
    if (st == TENON_OK)
        st = begin(&r, &err);
    if (st == TENON_OK) {
        say_choices(&r);
        st = write_result(&r, &err);
    }
    tenon_stage_release(&r.stage);
    tenon_picture_rows_release(&r.picture);
    free(r.places_alone);
    tenon_position_given_release(&r.given);
    for (size_t i = 0; i < TENON_ROPE_MAX_SECTIONS; i++)
        tenon_ids_release(&r.places[i]);
    tenon_ids_release(&r.types);
    tenon_ids_release(&r.ids);
    tenon_model_free(r.model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon embed model.gguf --ids 1,5,100-110", "what enters the first block, as a table"},
    {"tenon embed model.gguf --ids 1,5 --stage token", "rows of the matrix as they are"},
    {"tenon embed models/llama --ids 1,5 --stage qk --positions 0,4095",
     "queries and keys of layer 0, rotated"},
    {"tenon embed model.gguf --ids-file prompt.ids -o prompt.npy", "a NumPy file"},
    {"tenon embed models/clip --image cat.png -o cat.npy", "the patches of a picture"},
    {"tenon embed model.gguf --ids 0-99 --plot rows.svg", "a picture"},
    {"echo '1 2 3' | tenon embed models/llama --ids-file - --json", "JSON, ids from a pipe"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_embed = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Looks token ids up in the input embedding and does with the rows what the "
             "architecture does "
             "before its first block: scaling, positions, token types, projection, normalisation. "
             "--stage "
             "token stops before that; --stage qk goes on to the queries and keys of layer 0, "
             "after norm, "
             "projection and rotation: rotary positions show there, not in the input.\n"
             "Several sequences of equal length give an array of three dimensions [sequences, ids, "
             "width], "
             "otherwise it has two [ids, width]; queries and keys have one more, for heads.\n"
             "A picture (--pixels, --image) becomes the tokens that enter its tower's first block: "
             "patches, "
             "class token, registers, positions, norm. Among --ids it takes the place of the id "
             "that stands "
             "for it, where text and picture have one width there.\n"
             "An output file appears whole or not at all, and replaces nothing without --force.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .defaults = &defaults,
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
