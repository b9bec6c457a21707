/* Runs the program as a `.test` file says, and compares what it does: see README.md here.
 *
 *     run_case PROGRAM MANUAL_PAGE CASE.test
 *
 * Works in a fresh folder below the current one, which is removed afterwards. */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gen.h"
#include "json_check.h"

enum { WORDS = 64, LINE = 4096, SAMPLES = 32 };

/* How the program's standard streams are set up. */
enum stdout_kind { STDOUT_KEPT, STDOUT_CLOSED, STDOUT_FULL, STDOUT_NONE };

/* One step: a run and what it must do. */
struct step {
    char *argv[WORDS + 2];
    int argc;
    char *env[WORDS];
    int n_env;
    struct gen_bytes stdin_text;
    enum stdout_kind stdout_kind;
    bool interrupt, any_bytes, no_stderr, ran;
    struct gen_bytes out, err; /* what came */
    int status;
};

static const char *program, *page, *case_path;
static int line_number, failures;
static char folder[64];
static struct step step;
static struct {
    char *name, *path;
    struct gen_files files;
} samples[SAMPLES];
static size_t n_samples;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void
complain(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s:%d: ", case_path, line_number);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    failures++;
}

static void show(const char *what, const struct gen_bytes *bytes)
{
    fprintf(stderr, "--- %s, %zu bytes:\n", what, bytes->n);
    for (size_t i = 0; i < bytes->n && i < 4000; i++) {
        unsigned char c = bytes->data[i];

        if (c == '\n' || (c >= 0x20 && c < 0x7f) || c >= 0x80)
            fputc(c, stderr);
        else
            fprintf(stderr, "\\x%02x", c);
    }
    fprintf(stderr, "---\n");
}

/* Ends the test for a mistake in the test itself. */
static void die(const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", case_path, line_number, what);
    exit(2);
}

static char *copy(const char *text)
{
    char *p = strdup(text);

    if (p == NULL)
        die("out of memory");
    return p;
}

/* --- samples and input files --- */

static char *sample_path(const char *name)
{
    char path[512];
    const struct gen_sample *sample;

    for (size_t i = 0; i < n_samples; i++)
        if (strcmp(samples[i].name, name) == 0)
            return samples[i].path;
    sample = gen_sample_find(name, strlen(name));
    if (sample == NULL || n_samples == SAMPLES)
        die("no such sample");
    gen_sample_make(sample, &samples[n_samples].files);
    if (mkdir(name, 0700) != 0)
        die("cannot make a folder");
    gen_files_write(&samples[n_samples].files, name, path, sizeof(path));
    samples[n_samples].name = copy(name);
    samples[n_samples].path = copy(path);
    return samples[n_samples++].path;
}

/* A file from the language of corrupt_*.def, under the name that stands first. */
static void make_recipe(const char *text)
{
    size_t len = strcspn(text, " ");
    struct gen_files files = {0};
    char name[256], path[512];

    snprintf(name, sizeof(name), "%.*s", (int)len, text);
    gen_recipe_make(text + len + strspn(text + len, " "), &files);
    gen_files_write(&files, ".", path, sizeof(path));
    if (rename(path, name) != 0)
        die("cannot name the file of a recipe");
    gen_files_release(&files);
}

/* --- words of a line --- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \n \t \\ \xHH; what comes back may hold NUL only as the end. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p != '\\') {
            *to++ = *p;
        } else if (*++p == 'x' && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            *to++ = (char)(hex(p[1]) * 16 + hex(p[2]));
            p += 2;
        } else {
            *to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
        }
    }
    *to = '\0';
}

/* Splits at blanks; 'quoted words' keep theirs; %name is the path of a sample; escapes work. */
static void split_words(char *line, char **words, int *n)
{
    char *p = line;

    for (*n = 0;; (*n)++) {
        char *start, quote = '\0';

        p += strspn(p, " ");
        if (*p == '\0')
            return;
        if (*n == WORDS)
            die("too many words");
        if (*p == '\'')
            quote = *p++;
        start = p;
        p += strcspn(p, quote != '\0' ? "'" : " ");
        if (*p != '\0')
            *p++ = '\0';
        unescape(start);
        words[*n] = start[0] == '%' ? copy(sample_path(start + 1)) : copy(start);
    }
}

/* --- running --- */

static void set_stdout(enum stdout_kind kind, int fd)
{
    int fds[2];

    if (kind == STDOUT_NONE) {
        close(1);
        return;
    }
    if (kind == STDOUT_FULL) {
        fd = open("/dev/full", O_WRONLY);
    } else if (kind == STDOUT_CLOSED) {
        if (pipe(fds) != 0)
            _exit(126);
        close(fds[0]);
        fd = fds[1];
    }
    if (fd < 0 || dup2(fd, 1) != 1)
        _exit(126);
}

static void run_child(int out, int err)
{
    int in = open("../.stdin", O_RDONLY);
    int fds[2];

    if (step.interrupt && pipe(fds) == 0)
        in = fds[0]; /* the write end stays open in this process: reading waits */
    if (in < 0 || dup2(in, 0) != 0 || dup2(err, 2) != 2)
        _exit(126);
    set_stdout(step.stdout_kind, out);
    if (out > 2)
        close(out);
    if (err > 2)
        close(err);
    if (step.no_stderr)
        close(2);
    for (int i = 0; i < step.n_env; i++)
        putenv(step.env[i]);
    execv(program, step.argv);
    _exit(127);
}

static void read_back(const char *path, struct gen_bytes *out)
{
    FILE *file = fopen(path, "rb");
    char buf[8192];
    size_t n;

    if (file == NULL)
        die("cannot read back what the program wrote");
    while ((n = fread(buf, 1, sizeof(buf), file)) > 0)
        gen_raw(out, buf, n);
    fclose(file);
}

static void write_file(const char *path, const struct gen_bytes *bytes)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(bytes->data, 1, bytes->n, file) != bytes->n || fclose(file) != 0)
        die("cannot write an input file");
}

static void run_step(void)
{
    int out, err, status = 0;
    pid_t pid;

    if (step.ran || step.argc == 0)
        return;
    step.ran = true;
    write_file("../.stdin", &step.stdin_text);
    out = open("../.stdout", O_RDWR | O_CREAT | O_TRUNC, 0600);
    err = open("../.stderr", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || err < 0)
        die("cannot create files for the output");
    pid = fork();
    if (pid == 0)
        run_child(out, err);
    if (step.interrupt) {
        nanosleep(&(struct timespec){0, 300000000}, NULL);
        kill(pid, SIGINT);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        die("cannot run the program");
    close(out);
    close(err);
    step.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    read_back("../.stdout", &step.out);
    read_back("../.stderr", &step.err);
}

static void show_step(void)
{
    fprintf(stderr, "$");
    for (int i = 0; i < step.argc; i++)
        fprintf(stderr, " %s", i == 0 ? "tenon" : step.argv[i]);
    fprintf(stderr, "\nstatus %d\n", step.status);
    show("stdout", &step.out);
    show("stderr", &step.err);
}

static void check_safe(const char *what, const struct gen_bytes *bytes)
{
    size_t at;

    if (!step.any_bytes && !text_is_safe((const char *)bytes->data, bytes->n, &at))
        complain("%s: an unsafe character at byte %zu", what, at);
}

static void finish_step(void)
{
    int before = failures;

    run_step();
    if (!step.ran)
        return;
    check_safe("stdout", &step.out);
    check_safe("stderr", &step.err);
    if (failures > before)
        show_step();
    for (int i = 0; i < step.argc; i++)
        free(step.argv[i]);
    for (int i = 0; i < step.n_env; i++)
        free(step.env[i]);
    gen_bytes_release(&step.out);
    gen_bytes_release(&step.err);
    gen_bytes_release(&step.stdin_text);
    memset(&step, 0, sizeof(step));
}

/* --- expectations --- */

static bool contains(const struct gen_bytes *bytes, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; n <= bytes->n && i <= bytes->n - n; i++)
        if (memcmp(bytes->data + i, text, n) == 0)
            return true;
    return false;
}

static void expect_equal(const char *what, const struct gen_bytes *got,
                         const struct gen_bytes *want)
{
    if (got->n == want->n && (got->n == 0 || memcmp(got->data, want->data, got->n) == 0))
        return;
    complain("%s is not as expected", what);
    show("expected", want);
    show("found", got);
}

static void expect_status(const char *text)
{
    int wanted = strcmp(text, "SIGINT") == 0 ? -SIGINT : atoi(text);

    run_step();
    if (step.status == wanted)
        return;
    complain("status %d, expected %s", step.status, text);
    show_step();
}

static void expect_part(const struct gen_bytes *got, char *text, bool wanted)
{
    run_step();
    if (text[0] == '\'' && text[strlen(text) - 1] == '\'') {
        text[strlen(text) - 1] = '\0';
        text++;
    }
    unescape(text);
    if (contains(got, text) == wanted)
        return;
    complain("%s '%s'", wanted ? "does not contain" : "contains", text);
    show_step();
}

/* No line of standard output has more characters. */
static void expect_width(size_t most)
{
    size_t width = 0, widest = 0;

    run_step();
    for (size_t i = 0; i < step.out.n; i++) {
        unsigned char c = step.out.data[i];

        if (c == '\n')
            width = 0;
        else if ((c & 0xc0) != 0x80) /* UTF-8: not inside a character */
            width++;
        widest = width > widest ? width : widest;
    }
    if (widest <= most)
        return;
    complain("a line of %zu characters, at most %zu expected", widest, most);
    show_step();
}

static bool page_has(const char *key)
{
    static char text[200000];
    char wanted[128];

    if (text[0] == '\0') {
        FILE *file = fopen(page, "r");

        if (file == NULL || fread(text, 1, sizeof(text) - 1, file) == 0)
            die("cannot read the manual page");
        fclose(file);
    }
    snprintf(wanted, sizeof(wanted), "*%s*", key);
    return strstr(text, wanted) != NULL;
}

/* The document's keys are exactly `words`, and the manual page explains each. */
static void compare_keys(const struct json_check *check, char **words, int n)
{
    for (size_t k = 0; k < check->n_keys; k++) {
        int i = 0;

        while (i < n && strcmp(words[i], check->keys[k]) != 0)
            i++;
        if (i == n)
            complain("key '%s' is not expected", check->keys[k]);
        if (!page_has(check->keys[k]))
            complain("key '%s' is not in the manual page", check->keys[k]);
    }
    for (int i = 0; i < n; i++) {
        size_t k = 0;

        while (k < check->n_keys && strcmp(words[i], check->keys[k]) != 0)
            k++;
        if (k == check->n_keys)
            complain("key '%s' is missing", words[i]);
    }
}

static void expect_json(const struct gen_bytes *got, size_t n_documents, char *text)
{
    struct json_check check;
    char *words[WORDS];
    int n;

    run_step();
    json_check(&check, (const char *)got->data, got->n, n_documents);
    if (check.problem != NULL) {
        complain("not JSON: %s at byte %zu", check.problem, check.at);
        show_step();
    }
    split_words(text, words, &n);
    if (n > 0)
        compare_keys(&check, words, n);
    for (int i = 0; i < n; i++)
        free(words[i]);
    json_check_release(&check);
}

/* "NAME HEX": the file begins with these bytes. The file is then removed. */
static void expect_bytes(char *text)
{
    struct gen_bytes got = {0};
    char *p = text + strcspn(text, " ");

    run_step();
    *p++ = '\0';
    read_back(text, &got);
    for (size_t i = 0; *p != '\0'; i++, p += 2) {
        p += strspn(p, " ");
        if (i >= got.n || hex(p[0]) * 16 + hex(p[1]) != got.data[i]) {
            complain("byte %zu is not %.2s", i, p);
            show("file", &got);
            break;
        }
    }
    gen_bytes_release(&got);
    unlink(text);
}

/* --- outputs that are compared with other files --- */

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void compare_files(const char *a, const char *b)
{
    struct gen_bytes left = {0}, right = {0};

    read_back(a, &left);
    read_back(b, &right);
    if (left.n != right.n || (left.n > 0 && memcmp(left.data, right.data, left.n) != 0))
        complain("%s and %s differ", a, b);
    gen_bytes_release(&left);
    gen_bytes_release(&right);
}

/* Every file of folder `a` is the same in `b`; `deep` false: is there. */
static void compare_folder(const char *a, const char *b, bool deep)
{
    DIR *dir = opendir(a);
    struct dirent *entry;

    if (dir == NULL)
        complain("no folder %s", a);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char left[512], right[512];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(left, sizeof(left), "%s/%s", a, entry->d_name);
        snprintf(right, sizeof(right), "%s/%s", b, entry->d_name);
        if (access(right, F_OK) != 0)
            complain("%s is not there", right);
        else if (deep)
            compare_files(left, right);
    }
    if (dir != NULL)
        closedir(dir);
}

/* "A B": two files, or two folders, hold the same bytes. */
static void expect_same(char *text)
{
    char *words[WORDS];
    int n;

    run_step();
    split_words(text, words, &n);
    if (n != 2)
        die("same needs two names");
    if (is_folder(words[0])) {
        compare_folder(words[0], words[1], true);
        compare_folder(words[1], words[0], false);
    } else {
        compare_files(words[0], words[1]);
    }
    for (int i = 0; i < n; i++)
        free(words[i]);
}

/* --- the file --- */

static FILE *case_file;

/* The lines that follow and begin with "| ", without that; escapes work. */
static void read_block(struct gen_bytes *out)
{
    char line[LINE];
    long place;

    for (place = ftell(case_file); fgets(line, sizeof(line), case_file) != NULL;
         place = ftell(case_file)) {
        if (line[0] != '|')
            break;
        line_number++;
        unescape(line);
        gen_text(out, line[1] == ' ' ? line + 2 : line + 1);
    }
    fseek(case_file, place, SEEK_SET);
}

static void expect_block(const char *what, char *name)
{
    struct gen_bytes want = {0}, file = {0};
    int first_line = line_number;

    run_step();
    read_block(&want);
    if (name != NULL)
        read_back(name, &file);
    line_number = first_line;
    expect_equal(what,
                 name != NULL                  ? &file
                 : strcmp(what, "stdout") == 0 ? &step.out
                                               : &step.err,
                 &want);
    if (name != NULL)
        unlink(name);
    gen_bytes_release(&want);
    gen_bytes_release(&file);
}

static void set_up_file(char *name)
{
    struct gen_bytes bytes = {0};

    read_block(&bytes);
    unescape(name);
    write_file(name, &bytes);
    gen_bytes_release(&bytes);
}

static void begin_step(char *rest)
{
    finish_step();
    step.argv[0] = copy("tenon");
    split_words(rest, step.argv + 1, &step.argc);
    step.argc++;
}

static void obey(char *word, char *rest)
{
    if (strcmp(word, "args") == 0)
        begin_step(rest);
    else if (strcmp(word, "file") == 0)
        set_up_file(rest);
    else if (strcmp(word, "recipe") == 0)
        make_recipe(rest);
    else if (strcmp(word, "link") == 0 && symlink(rest, "link") == 0)
        return;
    else if (strcmp(word, "env") == 0)
        step.env[step.n_env++] = copy(rest);
    else if (strcmp(word, "stdin") == 0)
        read_block(&step.stdin_text);
    else if (strcmp(word, "stdout-closed") == 0)
        step.stdout_kind = STDOUT_CLOSED;
    else if (strcmp(word, "stdout-full") == 0)
        step.stdout_kind = STDOUT_FULL;
    else if (strcmp(word, "stdout-none") == 0)
        step.stdout_kind = STDOUT_NONE;
    else if (strcmp(word, "stderr-none") == 0)
        step.no_stderr = true;
    else if (strcmp(word, "interrupt") == 0)
        step.interrupt = true;
    else if (strcmp(word, "any-bytes") == 0)
        step.any_bytes = true;
    else if (strcmp(word, "status") == 0)
        expect_status(rest);
    else if (strcmp(word, "stdout") == 0 || strcmp(word, "stderr") == 0)
        expect_block(word, NULL);
    else if (strcmp(word, "output") == 0)
        expect_block(word, rest);
    else if (strcmp(word, "output-bytes") == 0)
        expect_bytes(rest);
    else if (strcmp(word, "same") == 0)
        expect_same(rest);
    else if (strcmp(word, "stdout-width") == 0)
        expect_width((size_t)atoi(rest));
    else if (strcmp(word, "stdout-has") == 0)
        expect_part((run_step(), &step.out), rest, true);
    else if (strcmp(word, "stdout-lacks") == 0)
        expect_part((run_step(), &step.out), rest, false);
    else if (strcmp(word, "stderr-has") == 0)
        expect_part((run_step(), &step.err), rest, true);
    else if (strcmp(word, "json") == 0)
        expect_json((run_step(), &step.out), 1, rest);
    else if (strcmp(word, "json-error") == 0)
        expect_json((run_step(), &step.err), 1, rest);
    else
        die("unknown word");
}

static void read_case(void)
{
    char line[LINE];

    while (fgets(line, sizeof(line), case_file) != NULL) {
        char *rest;

        line_number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        rest = line + strcspn(line, " ");
        if (*rest != '\0')
            *rest++ = '\0';
        obey(line, rest);
    }
    finish_step();
}

/* Removes a folder that the program wrote. */
static void remove_folder(const char *name)
{
    DIR *dir = opendir(name);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
        if (strstr(entry->d_name, ".tmp") != NULL)
            complain("left behind: %s", path);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(name);
}

/* Removes what the test made. Whatever else is there, the program left behind. */
static void clean_up(void)
{
    struct dirent *entry;
    DIR *dir;

    for (size_t i = 0; i < n_samples; i++) {
        gen_files_remove(&samples[i].files, samples[i].name);
        if (rmdir(samples[i].name) != 0)
            complain("left behind in the folder of %s", samples[i].name);
        gen_files_release(&samples[i].files);
        free(samples[i].name);
        free(samples[i].path);
    }
    dir = opendir(".");
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strstr(entry->d_name, ".tmp") != NULL)
            complain("left behind: %s", entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (is_folder(entry->d_name))
            remove_folder(entry->d_name);
        else
            unlink(entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
}

int main(int argc, char **argv)
{
    static const char *const variables[] = {"NO_COLOR", "TENON_CPU_MASK", "COLUMNS", "TERM"};

    if (argc != 4)
        return 2;
    program = realpath(argv[1], NULL); /* none is ever freed: they last as long as the test */
    page = realpath(argv[2], NULL);
    case_path = realpath(argv[3], NULL);
    if (program == NULL || page == NULL || case_path == NULL)
        return 2;
    case_file = fopen(case_path, "r");
    snprintf(folder, sizeof(folder), "case.%ld", (long)getpid());
    if (case_file == NULL || mkdir(folder, 0700) != 0)
        return 2;
    /* The inner folder is where the program runs; its streams lie beside it. */
    if (chdir(folder) != 0 || mkdir("in", 0700) != 0 || chdir("in") != 0)
        return 2;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    setenv("LC_ALL", "C", 1);
    read_case();
    clean_up();
    fclose(case_file);
    if (chdir("..") != 0 || rmdir("in") != 0)
        complain("the program left files behind");
    unlink(".stdin");
    unlink(".stdout");
    unlink(".stderr");
    if (chdir("..") != 0 || rmdir(folder) != 0)
        complain("the folder of the test is not empty");
    return failures > 0;
}
