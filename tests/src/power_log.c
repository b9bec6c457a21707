#include "power_log.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

enum { MOST_NODES = 64, MOST_NAMES = 64, MOST_OPS = 1024, PAGE = 4096, NOTHING = MOST_NODES };

/* A file, a link or a folder, and what it held in the beginning. */
struct node {
    dev_t device;
    ino_t inode;
    mode_t mode;
    unsigned char *bytes;
    size_t n;
};

/* A name in a folder. */
struct name {
    size_t folder, node;
    char text[64];
};

struct names {
    struct name list[MOST_NAMES];
    size_t n;
};

enum op_kind { OP_WRITE, OP_GROW, OP_MODE, OP_NAME, OP_SYNC };

struct op {
    enum op_kind kind;
    size_t node; /* the file or folder that it changes, or that is synced */
    bool failed;
    size_t off, n; /* WRITE, GROW */
    unsigned char *data;
    mode_t mode;
    /* NAME: `name` leads to `target`, or is gone when that is NOTHING; so is `old`, if not empty.
     */
    size_t target;
    char name[64], old[64];
};

struct power_log {
    struct node nodes[MOST_NODES];
    size_t n_nodes;
    struct names first, live; /* in the beginning, and now */
    struct op ops[MOST_OPS];
    size_t n_ops;
    bool rude;
    pthread_mutex_t lock;
};

struct power_state {
    const struct power_log *log;
    bool there[MOST_OPS]; /* the operations that came to the disk */
    struct names names;
    unsigned char *bytes; /* of the file that was read last */
};

/* --- names --- */

/* Its number, or NOTHING. */
static size_t find_name(const struct names *names, size_t folder, const char *text)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->list[i].folder == folder && strcmp(names->list[i].text, text) == 0)
            return i;
    return NOTHING;
}

static size_t node_named(const struct names *names, size_t folder, const char *text)
{
    size_t i = find_name(names, folder, text);

    return i != NOTHING ? names->list[i].node : (size_t)NOTHING;
}

static void set_name(struct names *names, size_t folder, const char *text, size_t node)
{
    size_t i = find_name(names, folder, text);

    if (i == NOTHING && node == NOTHING)
        return;
    if (node == NOTHING) {
        names->list[i] = names->list[--names->n];
        return;
    }
    if (i == NOTHING) {
        i = names->n++;
        ck_assert_uint_lt(i, MOST_NAMES);
        names->list[i].folder = folder;
        snprintf(names->list[i].text, sizeof(names->list[i].text), "%s", text);
    }
    names->list[i].node = node;
}

/* A rename takes the old name away only from the file that it is about. */
static void apply_name(struct names *names, const struct op *op)
{
    if (op->old[0] != '\0' && node_named(names, op->node, op->old) == op->target)
        set_name(names, op->node, op->old, NOTHING);
    set_name(names, op->node, op->name, op->target);
}

/* --- writing down --- */

static size_t add_node(struct power_log *log, const struct stat *info)
{
    ck_assert_uint_lt(log->n_nodes, MOST_NODES);
    log->nodes[log->n_nodes] =
        (struct node){.device = info->st_dev, .inode = info->st_ino, .mode = info->st_mode};
    return log->n_nodes++;
}

/* The newest with that number, which the system may give again to another file. */
static size_t find_node(const struct power_log *log, const struct stat *info)
{
    for (size_t i = log->n_nodes; i > 0; i--)
        if (log->nodes[i - 1].inode == info->st_ino && log->nodes[i - 1].device == info->st_dev)
            return i - 1;
    return NOTHING;
}

static size_t node_of(const struct power_log *log, int fd)
{
    struct stat info;

    ck_assert_int_eq(fstat(fd, &info), 0);
    return find_node(log, &info);
}

static struct op *add_op(struct power_log *log, enum op_kind kind, size_t node)
{
    ck_assert_uint_lt(log->n_ops, MOST_OPS);
    log->ops[log->n_ops] = (struct op){.kind = kind, .node = node};
    return &log->ops[log->n_ops++];
}

/* The folder of a path, and its last component. */
static size_t split_path(const struct power_log *log, int fd, const char *path, char *name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat info;

    snprintf(name, sizeof(log->ops[0].name), "%s", slash != NULL ? slash + 1 : path);
    if (fd != AT_FDCWD && slash == NULL)
        return node_of(log, fd);
    ck_assert_ptr_nonnull(slash);
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    return stat(folder, &info) == 0 ? find_node(log, &info) : (size_t)NOTHING;
}

/* `name` leads to `target` from now on. */
static void add_name(struct power_log *log, int fd, const char *path, const char *old,
                     size_t target)
{
    char name[sizeof(log->ops[0].name)];
    size_t folder = split_path(log, fd, path, name);
    struct op *op;

    if (folder == NOTHING)
        return;
    op = add_op(log, OP_NAME, folder);
    op->target = target;
    snprintf(op->name, sizeof(op->name), "%s", name);
    snprintf(op->old, sizeof(op->old), "%s", old);
    apply_name(&log->live, op);
}

/* A link or a rename, within a folder. */
static void add_second(struct power_log *log, const struct tenon_io_event *event)
{
    size_t folder = node_of(log, event->fd);
    size_t node;

    if (folder == NOTHING)
        return;
    node = node_named(&log->live, folder, event->name);
    ck_assert_msg(node != NOTHING, "'%s' came from nowhere", event->name);
    add_name(log, event->fd, event->to, event->call == TENON_IO_RENAME ? event->name : "", node);
}

static void add_made(struct power_log *log, const struct tenon_io_event *event)
{
    char name[sizeof(log->ops[0].name)];
    struct stat info;

    if (split_path(log, event->fd, event->name, name) == NOTHING)
        return;
    if (event->call == TENON_IO_MKDIR)
        ck_assert_int_eq(stat(event->name, &info), 0);
    else
        ck_assert_int_eq(fstat(event->made, &info), 0);
    if (event->call == TENON_IO_OPEN && (event->flags & O_EXCL) == 0) {
        log->rude = true;
        return;
    }
    add_name(log, event->fd, event->name, "", add_node(log, &info));
}

/* Page by page, as they come to the disk. */
static void add_write(struct power_log *log, const struct tenon_io_event *event)
{
    size_t node = node_of(log, event->fd), done = 0;

    while (node != NOTHING && done < event->n) {
        size_t off = (size_t)event->off + done, left = event->n - done;
        size_t n = PAGE - off % PAGE < left ? PAGE - off % PAGE : left;
        struct op *op = add_op(log, OP_WRITE, node);

        op->off = off;
        op->n = n;
        op->data = malloc(n);
        ck_assert_ptr_nonnull(op->data);
        if (event->data != NULL)
            memcpy(op->data, (const unsigned char *)event->data + done, n);
        else
            ck_assert_int_eq(pread(event->fd, op->data, n, (off_t)off), (ssize_t)n);
        done += n;
    }
}

static void add_change(struct power_log *log, const struct tenon_io_event *event)
{
    size_t node = node_of(log, event->fd);
    struct op *op;

    if (node == NOTHING)
        return;
    op = add_op(log,
                event->call == TENON_IO_SYNC    ? OP_SYNC
                : event->call == TENON_IO_CHMOD ? OP_MODE
                                                : OP_GROW,
                node);
    op->n = event->n;
    op->mode = event->mode;
    op->failed = event->failed;
}

static void add_removed(struct power_log *log, const struct tenon_io_event *event)
{
    add_name(log, event->fd, event->name, "", NOTHING);
}

static void write_down(const struct tenon_io_event *event, void *user)
{
    static void (*const add[TENON_IO_END])(struct power_log *, const struct tenon_io_event *) = {
        [TENON_IO_OPEN] = add_made,       [TENON_IO_MKDIR] = add_made,
        [TENON_IO_PWRITE] = add_write,    [TENON_IO_COPY] = add_write,
        [TENON_IO_ALLOCATE] = add_change, [TENON_IO_CHMOD] = add_change,
        [TENON_IO_SYNC] = add_change,     [TENON_IO_LINK] = add_second,
        [TENON_IO_RENAME] = add_second,   [TENON_IO_UNLINK] = add_removed,
        [TENON_IO_RMDIR] = add_removed,
    };
    struct power_log *log = user;

    pthread_mutex_lock(&log->lock);
    if (add[event->call] != NULL)
        add[event->call](log, event);
    else
        log->rude = true; /* in order, into a file whose bytes somebody may need */
    pthread_mutex_unlock(&log->lock);
}

/* --- the beginning --- */

static void read_bytes(struct node *node, const char *path)
{
    ssize_t got;
    int fd;

    node->bytes = malloc(node->n + 1);
    ck_assert_ptr_nonnull(node->bytes);
    if (S_ISLNK(node->mode)) {
        got = readlink(path, (char *)node->bytes, node->n + 1);
    } else {
        fd = open(path, O_RDONLY);
        ck_assert_int_ge(fd, 0);
        got = read(fd, node->bytes, node->n);
        close(fd);
    }
    ck_assert_int_eq(got, (ssize_t)node->n);
}

static size_t read_node(struct power_log *log, const char *path)
{
    struct stat info;
    size_t node;

    ck_assert_int_eq(lstat(path, &info), 0);
    node = find_node(log, &info);
    if (node != NOTHING) /* a second name */
        return node;
    node = add_node(log, &info);
    if (S_ISDIR(info.st_mode))
        return node;
    log->nodes[node].n = (size_t)info.st_size;
    read_bytes(&log->nodes[node], path);
    return node;
}

static void read_folder(struct power_log *log, const char *path, size_t folder)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    char below[PATH_MAX];

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL) {
        size_t node;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        node = read_node(log, below);
        set_name(&log->first, folder, entry->d_name, node);
        if (S_ISDIR(log->nodes[node].mode))
            read_folder(log, below, node);
    }
    closedir(dir);
}

struct power_log *power_log_begin(const char *folder)
{
    struct power_log *log = calloc(1, sizeof(*log));

    ck_assert_ptr_nonnull(log);
    pthread_mutex_init(&log->lock, NULL);
    read_folder(log, folder, read_node(log, folder));
    log->live = log->first;
    tenon_io_watch(write_down, log);
    return log;
}

void power_log_end(struct power_log *log)
{
    (void)log;
    tenon_io_watch(NULL, NULL);
}

void power_log_free(struct power_log *log)
{
    for (size_t i = 0; i < log->n_ops; i++)
        free(log->ops[i].data);
    for (size_t i = 0; i < log->n_nodes; i++)
        free(log->nodes[i].bytes);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

size_t power_log_length(const struct power_log *log)
{
    return log->n_ops;
}

bool power_log_is_rude(const struct power_log *log)
{
    return log->rude;
}

size_t power_log_names(const struct power_log *log)
{
    return log->first.n;
}

void power_log_forget_syncs(struct power_log *log, bool folders)
{
    size_t n = 0;

    for (size_t i = 0; i < log->n_ops; i++)
        if (log->ops[i].kind != OP_SYNC ||
            (S_ISDIR(log->nodes[log->ops[i].node].mode) != 0) != folders)
            log->ops[n++] = log->ops[i];
    log->n_ops = n;
}

/* --- the end --- */

/* Whether operation `i` is on the disk for sure when the power goes after `at`. */
static bool is_safe(const struct power_log *log, size_t i, size_t at)
{
    for (size_t k = i + 1; k < at; k++)
        if (log->ops[k].kind == OP_SYNC && log->ops[k].node == log->ops[i].node)
            return !log->ops[k].failed;
    return false;
}

/* What may be there or not. */
struct loose {
    size_t ops[MOST_OPS];
    size_t n;
};

static void list_loose(const struct power_log *log, size_t at, struct power_state *state,
                       struct loose *loose)
{
    loose->n = 0;
    for (size_t i = 0; i < at; i++) {
        if (log->ops[i].kind == OP_SYNC)
            continue;
        state->there[i] = is_safe(log, i, at);
        if (!state->there[i])
            loose->ops[loose->n++] = i;
    }
}

static void look_at(struct power_state *state, size_t at, power_look_fn look, void *user)
{
    const struct power_log *log = state->log;

    state->names = log->first;
    for (size_t i = 0; i < at; i++)
        if (log->ops[i].kind == OP_NAME && state->there[i])
            apply_name(&state->names, &log->ops[i]);
    look(state, user);
}

/* The same numbers every time (a linear congruence with Knuth's constants). */
static unsigned draw(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 40);
}

/* Sample number `number`: none, all, one alone, all but one, the first few as a journal has them,
 * each with any bytes; then whatever comes. */
static void choose(struct power_state *state, const struct loose *loose, size_t number,
                   unsigned long long *seed)
{
    const struct power_log *log = state->log;
    size_t kind = number < 5 * loose->n ? number % 5 : 5, which = number / 5 % loose->n;
    unsigned density = draw(seed) % 7 + 1;

    for (size_t i = 0; i < loose->n; i++) {
        bool names = log->ops[loose->ops[i]].kind == OP_NAME;
        bool *there = &state->there[loose->ops[i]];

        switch (kind) {
        case 0:
            *there = i == which;
            break;
        case 1:
            *there = i != which;
            break;
        case 2:
            *there = names && i <= which;
            break;
        case 3:
            *there = !names || i <= which;
            break;
        case 4:
            *there = names ? i <= which : draw(seed) % 2 != 0;
            break;
        default:
            *there = draw(seed) % 8 < density;
        }
    }
}

size_t power_log_cut(const struct power_log *log, size_t at, size_t most, power_look_fn look,
                     void *user)
{
    struct power_state state = {.log = log};
    struct loose loose;
    unsigned long long seed = at;
    size_t n = most, every = 0;

    list_loose(log, at, &state, &loose);
    if (loose.n < 8 * sizeof(n) - 1 && (size_t)1 << loose.n <= most)
        every = n = (size_t)1 << loose.n;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < loose.n && (every != 0 || i < 2); k++)
            state.there[loose.ops[k]] = every != 0 ? (i >> k & 1) != 0 : i != 0;
        if (every == 0 && i >= 2)
            choose(&state, &loose, i - 2, &seed);
        look_at(&state, at, look, user);
    }
    free(state.bytes);
    return n;
}

const char *power_state_name(const struct power_state *state, size_t i, bool *was_there)
{
    const struct name *name = &state->names.list[i];

    if (i >= state->names.n)
        return NULL;
    *was_there = node_named(&state->log->first, name->folder, name->text) == name->node;
    return name->text;
}

/* The file or folder of a path in the folder. */
static size_t walk(const struct power_state *state, const char *path)
{
    size_t node = 0;

    while (node != NOTHING && *path != '\0') {
        char text[64];
        size_t len = strcspn(path, "/");

        snprintf(text, sizeof(text), "%.*s", (int)len, path);
        node = node_named(&state->names, node, text);
        path += len + (path[len] == '/');
    }
    return node;
}

/* Makes room for `n` bytes of a file: those that nobody wrote are zeros. */
static void grow(struct power_state *state, struct power_file *file, size_t n)
{
    if (n <= file->n)
        return;
    state->bytes = realloc(state->bytes, n);
    ck_assert_ptr_nonnull(state->bytes);
    memset(state->bytes + file->n, 0, n - file->n);
    file->bytes = state->bytes;
    file->n = n;
}

bool power_state_read(struct power_state *state, const char *path, struct power_file *out)
{
    const struct power_log *log = state->log;
    size_t number = walk(state, path);
    struct power_file file = {0};

    if (number == NOTHING)
        return false;
    grow(state, &file, log->nodes[number].n);
    if (file.n > 0)
        memcpy(state->bytes, log->nodes[number].bytes, file.n);
    file.mode = log->nodes[number].mode & 0777;
    for (size_t i = 0; i < log->n_ops; i++) {
        const struct op *op = &log->ops[i];

        if (op->node != number || !state->there[i])
            continue;
        if (op->kind == OP_MODE)
            file.mode = op->mode;
        if (op->kind == OP_GROW || op->kind == OP_WRITE)
            grow(state, &file, op->off + op->n);
        if (op->kind == OP_WRITE)
            memcpy(state->bytes + op->off, op->data, op->n);
    }
    *out = file;
    return true;
}
