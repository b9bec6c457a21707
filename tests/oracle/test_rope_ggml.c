/* The ggml profile of rotations against ggml's own operators, value by value: every mode, partial
 * heads, scalings, divisors, positions to beyond 131071. The processor libraries stand beside the
 * library of TENON_ORACLE_GGML, one for each instruction set; all that run here are asked.
 *
 * Both sides call the C library's powf, cosf, sinf and logf, so one built without fused
 * multiply-add gives the same bits. In one with it, compilers fuse where the sources have a product
 * and a sum: the last step then rounds once instead of twice, and so does the mixing of yarn's
 * angles, whose last bit is worth more the longer the angle is. */
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggml_decoders.h"
#include "tenon/rope.h"

enum { SKIPPED = 77, N_TOKENS = 12, MAX_HEAD = 256, ARENA = 1 << 22 };

/* Numbers of ggml.h. */
enum { TYPE_F32 = 0, TYPE_I32 = 26 };
enum { MODE_NORMAL = 0, MODE_NEOX = 2, MODE_MROPE = 8, MODE_VISION = 24, MODE_IMROPE = 40 };

struct init_params {
    size_t bytes;
    void *memory;
    bool no_data;
};

/* Arguments of a rotation as the operators want them, from n_dims on. */
struct operators {
    void *(*init)(struct init_params params);
    void (*release)(void *context);
    void *(*new_1d)(void *context, int type, int64_t n);
    void *(*new_3d)(void *context, int type, int64_t a, int64_t b, int64_t c);
    void *(*rope)(void *context, void *x, void *positions, void *divisors, int n_dims, int mode,
                  int n_ctx, float base, float scale, float ext, float attn, float fast,
                  float slow);
    void *(*multi)(void *context, void *x, void *positions, void *divisors, int n_dims,
                   int *sections, int mode, int n_ctx, float base, float scale, float ext,
                   float attn, float fast, float slow);
    void *(*set_offset)(void *x, int offset);
    void *(*new_graph)(void *context);
    void (*expand)(void *graph, void *x);
    void *(*data)(const void *x);
};

struct processor {
    int (*score)(void);
    int (*compute)(void *context, void *graph, int threads);
};

struct sum {
    unsigned long long same, close, far;
    double worst; /* in ulps of what was turned */
};

/* ISO C has no conversion from object to function pointers; POSIX makes them alike. */
static bool find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);

    memcpy(out, &symbol, sizeof(symbol));
    if (symbol == NULL)
        printf("the library has no %s\n", name);
    return symbol != NULL;
}

static bool find_operators(void *library, struct operators *o)
{
    return find(library, "ggml_init", &o->init) && find(library, "ggml_free", &o->release) &&
           find(library, "ggml_new_tensor_1d", &o->new_1d) &&
           find(library, "ggml_new_tensor_3d", &o->new_3d) &&
           find(library, "ggml_rope_ext", &o->rope) &&
           find(library, "ggml_rope_multi", &o->multi) &&
           find(library, "ggml_rope_set_offset", &o->set_offset) &&
           find(library, "ggml_new_graph", &o->new_graph) &&
           find(library, "ggml_build_forward_expand", &o->expand) &&
           find(library, "ggml_get_data", &o->data);
}

/* --- what is turned --- */

struct shape {
    const char *name;
    int mode;
    uint32_t head, rotary;
    double theta;
    enum tenon_rope_scaling scaling;
    double factor, original;
    bool trailing, divided;
    uint32_t sections[4];
};

static const struct shape shapes[] = {
    {"norm", MODE_NORMAL, 128, 128, 1e4, TENON_ROPE_DEFAULT, 1, 0, false, false, {0}},
    {"norm partial", MODE_NORMAL, 80, 32, 5e5, TENON_ROPE_DEFAULT, 1, 0, false, false, {0}},
    {"norm trailing", MODE_NORMAL, 192, 64, 1e4, TENON_ROPE_DEFAULT, 1, 0, true, false, {0}},
    {"norm linear", MODE_NORMAL, 128, 128, 1e4, TENON_ROPE_LINEAR, 3, 0, false, false, {0}},
    {"norm divided", MODE_NORMAL, 128, 128, 5e5, TENON_ROPE_DEFAULT, 1, 0, false, true, {0}},
    {"norm yarn", MODE_NORMAL, 128, 64, 1e4, TENON_ROPE_YARN, 40, 4096, false, false, {0}},
    {"neox", MODE_NEOX, 128, 128, 1e6, TENON_ROPE_DEFAULT, 1, 0, false, false, {0}},
    {"neox odd pairs", MODE_NEOX, 100, 90, 1e4, TENON_ROPE_DEFAULT, 1, 0, false, false, {0}},
    {"neox trailing", MODE_NEOX, 96, 64, 1e4, TENON_ROPE_DEFAULT, 1, 0, true, false, {0}},
    {"neox divided", MODE_NEOX, 96, 96, 1e4, TENON_ROPE_LINEAR, 2, 0, false, true, {0}},
    {"neox yarn", MODE_NEOX, 128, 128, 1e6, TENON_ROPE_YARN, 4, 32768, false, false, {0}},
    {"gpt-oss", MODE_NEOX, 64, 64, 150000, TENON_ROPE_YARN, 32, 4096, false, false, {0}},
    {"mrope", MODE_MROPE, 128, 128, 1e6, TENON_ROPE_DEFAULT, 1, 0, false, false, {16, 24, 24, 0}},
    {"mrope 4", MODE_MROPE, 128, 128, 1e4, TENON_ROPE_LINEAR, 2, 0, false, false, {16, 16, 16, 16}},
    {"mrope yarn",
     MODE_MROPE,
     128,
     64,
     1e4,
     TENON_ROPE_YARN,
     8,
     8192,
     false,
     false,
     {8, 12, 12, 0}},
    {"imrope", MODE_IMROPE, 128, 128, 5e6, TENON_ROPE_DEFAULT, 1, 0, false, false, {24, 20, 20, 0}},
    {"imrope 64",
     MODE_IMROPE,
     256,
     64,
     1e7,
     TENON_ROPE_DEFAULT,
     1,
     0,
     false,
     false,
     {11, 11, 10, 0}},
    {"vision", MODE_VISION, 80, 80, 1e4, TENON_ROPE_DEFAULT, 1, 0, false, false, {20, 20, 0, 0}},
};

static const int32_t places[N_TOKENS] = {0,    1,     2,      17,     100,     1000,
                                         4095, 32767, 131071, 524287, 1048575, 16777217};

static struct tenon_rope rope_of(const struct shape *s, const float *divisors)
{
    struct tenon_rope rope;

    tenon_rope_init(&rope);
    rope.scaling = s->scaling;
    rope.pairing = s->mode == MODE_NORMAL ? TENON_PAIR_INTERLEAVED : TENON_PAIR_HALF;
    rope.head_dim = s->head;
    rope.rotary_dim = s->rotary;
    rope.trailing = s->trailing;
    rope.theta = s->theta;
    rope.factor = s->factor;
    if (s->original > 0)
        rope.original = s->original;
    if (s->divided) {
        rope.freq_factors = divisors;
        rope.n_freq_factors = s->rotary / 2;
    }
    memcpy(rope.sections, s->sections, sizeof(rope.sections));
    rope.n_sections = 4;
    rope.axes = s->mode == MODE_MROPE    ? TENON_AXES_CHUNKED
                : s->mode == MODE_IMROPE ? TENON_AXES_INTERLEAVED
                : s->mode == MODE_VISION ? TENON_AXES_BLOCKS
                                         : TENON_AXES_ONE;
    return rope;
}

/* The streams of a token: different ones, so that a wrong stream shows. */
static int32_t place_of(size_t token, size_t stream)
{
    return places[(token + 5 * stream) % N_TOKENS];
}

/* Numbers without a pattern, from -4 to 4, always the same. */
static float value_at(uint32_t i)
{
    uint32_t x = i * 2654435761u;

    x ^= x >> 15;
    x *= 2246822519u;
    return (float)(x >> 8) / (1 << 21) - 4;
}

/* --- ggml's answer --- */

struct task {
    const struct shape *shape;
    const struct tenon_rope_table *table;
    const float *divisors, *x;
    float *out;
};

static void *turn(const struct operators *o, void *context, const struct task *t, void *x)
{
    const struct tenon_rope_ggml *g = &t->table->ggml;
    const struct shape *s = t->shape;
    bool several = s->mode >= MODE_MROPE;
    int n_dims = (int)(s->mode == MODE_VISION ? s->rotary / 2 : s->rotary);
    void *positions = o->new_1d(context, TYPE_I32, several ? 4 * N_TOKENS : N_TOKENS);
    int32_t *p = o->data(positions);
    void *divisors = NULL;
    int sections[4];

    for (size_t i = 0; i < (several ? 4 : 1) * (size_t)N_TOKENS; i++)
        p[i] = place_of(i % N_TOKENS, i / N_TOKENS);
    for (int i = 0; i < 4; i++)
        sections[i] = (int)s->sections[i];
    if (s->divided) {
        divisors = o->new_1d(context, TYPE_F32, s->rotary / 2);
        memcpy(o->data(divisors), t->divisors, s->rotary / 2 * sizeof(float));
    }
    if (several)
        return o->multi(context, x, positions, divisors, n_dims, sections, s->mode,
                        (int)s->original, g->freq_base, g->freq_scale, g->ext_factor,
                        g->attn_factor, 32, 1);
    x = o->rope(context, x, positions, divisors, n_dims, s->mode, (int)s->original, g->freq_base,
                g->freq_scale, g->ext_factor, g->attn_factor, 32, 1);
    return s->trailing ? o->set_offset(x, (int)(s->head - s->rotary)) : x;
}

static bool ask(const struct operators *o, const struct processor *cpu, const struct task *t)
{
    struct init_params params = {ARENA, NULL, false};
    void *context = o->init(params), *x, *graph;
    size_t bytes = (size_t)t->shape->head * N_TOKENS * sizeof(float);
    bool done;

    if (context == NULL)
        return false;
    x = o->new_3d(context, TYPE_F32, t->shape->head, 1, N_TOKENS);
    memcpy(o->data(x), t->x, bytes);
    x = turn(o, context, t, x);
    graph = o->new_graph(context);
    o->expand(graph, x);
    done = cpu->compute(context, graph, 1) == 0;
    if (done)
        memcpy(t->out, o->data(x), bytes);
    o->release(context);
    return done;
}

/* --- ours, and the comparison --- */

/* What one rounding less may change of a channel: an ulp of the products, and of a mixed angle. */
static double allowed(const struct task *t, uint32_t channel, double size, double position)
{
    const struct tenon_rope_table *table = t->table;
    uint32_t first = t->shape->trailing ? t->shape->head - t->shape->rotary : 0;
    uint32_t place = channel - first, n = table->n_pairs;
    uint32_t pair = t->shape->mode == MODE_NORMAL ? place / 2 : place % n;
    double angle = 0;

    if (channel < first || place >= 2 * n)
        return 0; /* does not turn */
    if (t->shape->scaling == TENON_ROPE_YARN)
        angle = 2 * position * table->inv_freq[pair];
    return (2 + angle) * ldexp(1, -23) * size * table->attention_factor;
}

static void compare_token(const struct task *t, size_t token, bool fused, struct sum *sum)
{
    const struct tenon_rope_table *table = t->table;
    const float *x = t->x + token * t->shape->head, *theirs = t->out + token * t->shape->head;
    double cosines[MAX_HEAD], sines[MAX_HEAD], positions[4], most = 0;
    float ours[MAX_HEAD];

    for (size_t a = 0; a < 4; a++) {
        positions[a] = place_of(token, a);
        most = fmax(most, positions[a]);
    }
    tenon_rope_angles(table, positions, cosines, sines);
    tenon_rope_apply_f32(table, cosines, sines, x, ours);
    for (uint32_t i = 0; i < t->shape->head; i++) {
        double size = 4 * sqrt(2), difference = fabs((double)ours[i] - (double)theirs[i]);
        bool is_same = memcmp(&ours[i], &theirs[i], sizeof(float)) == 0;

        sum->same += is_same;
        if (is_same)
            continue;
        sum->worst = fmax(sum->worst, difference / ldexp(size, -23));
        if (fused && difference <= allowed(t, i, size, most)) {
            sum->close++;
        } else if (sum->far++ == 0) {
            printf("%s, position %d, channel %u: %.9g, ggml has %.9g\n", t->shape->name,
                   place_of(token, 0), i, (double)ours[i], (double)theirs[i]);
        }
    }
}

static bool compare_shape(const struct operators *o, const struct processor *cpu,
                          const struct shape *s, bool fused, struct sum *sum)
{
    static float x[MAX_HEAD * N_TOKENS], out[MAX_HEAD * N_TOKENS], divisors[MAX_HEAD / 2];
    struct tenon_rope_table table;
    struct task task = {s, &table, divisors, x, out};
    struct tenon_error err = {0};
    struct tenon_rope rope;
    bool done;

    for (uint32_t i = 0; i < MAX_HEAD * N_TOKENS; i++)
        x[i] = value_at(i);
    for (uint32_t i = 0; i < MAX_HEAD / 2; i++) /* as for Llama 3, and one that stands still */
        divisors[i] = i < 20 ? 1 : i < 26 ? 1 + (float)(i - 19) * 1.1f : i == 40 ? 1e30f : 8;
    rope = rope_of(s, divisors);
    if (tenon_rope_table_init(&table, &rope, TENON_PRECISION_GGML, 0, &err) != TENON_OK) {
        printf("%s: %s\n", s->name, err.message);
        return false;
    }
    done = ask(o, cpu, &task);
    for (size_t token = 0; done && token < N_TOKENS; token++)
        compare_token(&task, token, fused, sum);
    tenon_rope_table_release(&table);
    return done;
}

/* One processor library; false when it differs. */
static bool compare_library(const struct operators *o, const char *folder, const char *name,
                            unsigned *n_asked)
{
    struct processor cpu;
    struct sum sum = {0};
    int (*has_fma)(void);
    bool fine = true;
    char path[2048];
    void *library;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !find(library, "ggml_backend_score", &cpu.score) ||
        !find(library, "ggml_graph_compute_with_ctx", &cpu.compute) ||
        !find(library, "ggml_cpu_has_fma", &has_fma)) {
        printf("%s: cannot be asked\n", name);
        return true;
    }
    if (cpu.score() <= 0) {
        printf("%s: not for this processor\n", name);
        return true;
    }
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        fine = compare_shape(o, &cpu, &shapes[i], has_fma() != 0, &sum) && fine;
    (*n_asked)++;
    printf("%s: %llu values the same, %llu one rounding apart, %llu beyond; at most %.2f ulp\n",
           name, sum.same, sum.close, sum.far, sum.worst);
    return fine && sum.far == 0 && sum.same > 0;
}

static bool is_processor_library(const char *name)
{
    size_t len = strlen(name);

    return strncmp(name, "libggml-cpu", 11) == 0 && len > 3 && strcmp(name + len - 3, ".so") == 0;
}

int main(void)
{
    void *library = ggml_library_open();
    struct operators operators;
    struct dirent *entry;
    bool fine = true;
    unsigned n_asked = 0;
    char folder[1024];
    DIR *dir;

    if (library == NULL)
        return SKIPPED;
    snprintf(folder, sizeof(folder), "%s", getenv("TENON_ORACLE_GGML"));
    if (strrchr(folder, '/') == NULL || !find_operators(library, &operators))
        return SKIPPED;
    *strrchr(folder, '/') = '\0';
    dir = opendir(folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (is_processor_library(entry->d_name))
            fine = compare_library(&operators, folder, entry->d_name, &n_asked) && fine;
    if (dir != NULL)
        closedir(dir);
    if (n_asked == 0) {
        printf("no processor library beside it runs here\n");
        return SKIPPED;
    }
    return fine ? 0 : 1;
}
