/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/clock.h"
#include "engine/image.h"
#include "engine/log.h"
#include "engine/mem.h"
#include "engine/recording.h"
#include "engine/storetool.h"
#include "engine/fields.h"
#include "engine/symbols.h"
#include "tracer/backend.h"
#include "tracer/start.h"

static const struct backend *const backends[] = {&backend_ptrace, &backend_valgrind};

static const struct backend *find_backend(const char *name, struct error *e)
{
    if (!name || strcmp(name, "auto") == 0)
        return backends[0];
    struct buf known = {0};
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        if (strcmp(name, backends[i]->name) == 0) {
            buf_free(&known);
            return backends[i];
        }
        buf_printf(&known, " %s", backends[i]->name);
    }
    error_set(e, "there is no backend %s; there are: auto%s", name, buf_string(&known));
    buf_free(&known);
    return NULL;
}

void record_status_text(int status, char *text, int size)
{
    if (WIFSIGNALED(status))
        snprintf(text, (size_t)size, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, (size_t)size, "exited with status %d", WEXITSTATUS(status));
}

/* ---- what is left out of the data ---- */

/* SQLite's own files beside a session. */
static const char *const session_suffixes[] = {"", "-journal", "-wal", "-shm"};

/* While the image is captured: where the session would be, if it is in the data directory. */
struct capture {
    struct files *files;
    char *session; /* its path from the data directory, NULL when it is elsewhere */
};

static bool skip(void *data, uint64_t dev, uint64_t ino, const char *path)
{
    struct capture *c = data;
    size_t n = c->session ? strlen(c->session) : 0;
    if (c->session && strncmp(path, c->session, n) == 0)
        for (size_t i = 0; i < sizeof session_suffixes / sizeof *session_suffixes; i++)
            if (strcmp(path + n, session_suffixes[i]) == 0) {
                files_exclude(c->files, dev, ino);
                return true;
            }
    return files_excluded(c->files, dev, ino);
}

static void captured(void *data, const struct image_name *name)
{
    struct capture *c = data;
    files_add(c->files, name->dev, name->ino, name->file, name->kind);
    files_set_mode(c->files, name->file, name->mode);
    if (name->parent)
        files_name(c->files, name->parent, name->name, name->file);
}

/* The session's path from the data directory, or NULL. Its folder exists, it may not. */
static char *session_below(const char *session, const char *root)
{
    char *copy = xstrdup(session), *below = NULL;
    char *slash = strrchr(copy, '/');
    const char *base = slash ? slash + 1 : copy;
    const char *folder = slash ? (slash == copy ? "/" : copy) : ".";
    if (slash)
        *slash = '\0';
    char *real = realpath(folder, NULL);
    size_t n = strlen(root);
    if (real && strcmp(real, root) == 0)
        below = xstrdup(base);
    else if (real && strncmp(real, root, n) == 0 && real[n] == '/')
        below = xasprintf("%s/%s", real + n + 1, base);
    free(real);
    free(copy);
    return below;
}

/* Standard output may go to a file inside the data directory: that is what the program tells the
 * world, not what it stores. */
static void exclude_streams(struct files *files)
{
    for (int fd = 1; fd <= 2; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
            files_exclude(files, st.st_dev, st.st_ino);
    }
}

static bool capture_image(struct recording *recording, struct files *files, const char *session,
                          struct error *e)
{
    struct capture c = {files, session_below(session, files_root(files))};
    struct image_options options = {.skip = skip, .captured = captured, .data = &c};
    exclude_streams(files);
    struct stat st;
    if (stat(session, &st) == 0)
        files_exclude(files, st.st_dev, st.st_ino);
    bool done = image_capture(recording, files_root(files), &options, e);
    free(c.session);
    return done;
}

/* ---- facts about the run ---- */

/* As a shell would take it back. */
static void quote(struct buf *out, const char *word)
{
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_@%+=:,./-") == strlen(word)) {
        buf_text(out, word);
        return;
    }
    buf_char(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_text(out, "'\\''");
        else
            buf_char(out, *word);
    buf_char(out, '\'');
}

static void quote_all(struct buf *out, char **argv)
{
    for (char **arg = argv; *arg; arg++) {
        if (arg > argv)
            buf_char(out, ' ');
        quote(out, *arg);
    }
}

char *record_stores_command(const struct record_options *options, struct error *e)
{
    struct storetool tool;
    if (!storetool_find(&tool, e))
        return NULL;
    struct buf command = {0};
    buf_text(&command, "flotsam record --backend valgrind -o ");
    quote(&command, options->session);
    buf_text(&command, " --dir ");
    quote(&command, options->dir);
    buf_text(&command, " -- ");
    quote_all(&command, options->argv);
    char *text = xstrdup(buf_string(&command));
    buf_free(&command);
    return text;
}

static void describe_start(struct recording *recording, const struct record_options *options,
                           const struct backend *backend, const char *root)
{
    struct buf program = {0};
    quote_all(&program, options->argv);
    char cwd[PATH_MAX], started[64];
    time_t now = time(NULL);
    struct tm utc;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    recording_meta(recording, "program", buf_string(&program));
    recording_meta(recording, "directory", root);
    recording_meta(recording, "cwd", getcwd(cwd, sizeof cwd) ? cwd : "");
    recording_meta(recording, "backend", backend->name);
    recording_meta(recording, "started", started);
    recording_meta(recording, "flotsam", FLOTSAM_VERSION);
    buf_free(&program);
}

static void describe_end(struct recording *recording, const struct record_result *result,
                         double seconds)
{
    char text[128];
    record_status_text(result->status, text, sizeof text);
    recording_meta(recording, "status", text);
    snprintf(text, sizeof text, "%d", result->status);
    recording_meta(recording, "exit", text);
    snprintf(text, sizeof text, "%.3f", seconds);
    recording_meta(recording, "seconds", text);
    if (!result->streamed)
        return;
    snprintf(text, sizeof text, "%" PRIu64, result->streamed);
    recording_meta(recording, "streamed", text);
}

/* The data directory's real path; the program may leave its own working directory. */
static char *find_root(const char *dir, struct error *e)
{
    struct stat st;
    char *root = realpath(dir, NULL);
    if (!root)
        error_errno(e, "data directory %s (make it first, or give another with --dir)", dir);
    else if (stat(root, &st) != 0)
        error_errno(e, "cannot reach the data directory %s", root);
    else if (!S_ISDIR(st.st_mode))
        error_set(e, "%s is not a directory: --dir takes the folder that holds the data", dir);
    else
        return root;
    free(root);
    return NULL;
}

/* Symbols are a convenience: the trace stands without them. */
static void capture_symbols(const struct record_options *options)
{
    struct error why;
    if (symbols_capture(options->session, &why) && fields_capture(options->session, &why))
        return;
    log_error(SYMBOLS, "%s", why.text);
    options->say(why.text);
}

/* Only a data directory that is removed and made again is followed. */
static void say_whether_it_moved(const struct record_options *options, struct recording *recording,
                                 struct files *files)
{
    static const char text[] =
        "another directory took the place of the data directory; what happened there is missing";
    struct stat st;
    const char *root = files_root(files);
    if (stat(root, &st) != 0 || files_find(files, &st) == FILE_ROOT)
        return;
    recording_notice(recording, text, root);
    options->say(text);
}

static void say_what_is_missing(const struct record_options *options,
                                const struct record_result *result)
{
    if (result->unseen)
        options->say("a process may not be looked into, because its program cannot be read or "
                     "protects itself: its calls are missing in this trace; record as root");
    if (!result->stores_missing)
        return;
    char *text = xasprintf("the program maps files of the data directory to write to them (%" PRIu64
                           " mapping%s): stores to memory are no system calls and are missing in "
                           "this trace",
                           result->mappings, result->mappings == 1 ? "" : "s");
    options->say(text);
    free(text);
}

static bool record_into(struct recording *recording, const struct record_options *options,
                        const struct backend *backend, const char *root,
                        struct record_result *result, struct error *e)
{
    uint64_t started = clock_now();
    struct files *files = files_new(recording, root);
    bool ran = capture_image(recording, files, options->session, e);
    if (ran) {
        describe_start(recording, options, backend, root);
        ran = backend->run(options, recording, files, result, e);
    }
    if (ran)
        say_whether_it_moved(options, recording, files);
    files_free(files);
    if (!ran) {
        recording_abandon(recording, true);
        return false;
    }
    result->events = recording_events(recording);
    say_what_is_missing(options, result);
    describe_end(recording, result,
                 (double)(clock_now() - started) / (double)NANOSECONDS_PER_SECOND);
    if (!recording_finish(recording, e))
        return false;
    capture_symbols(options);
    return true;
}

bool record_run(const struct record_options *options, struct record_result *result, struct error *e)
{
    *result = (struct record_result){0};
    const struct backend *backend = find_backend(options->backend, e);
    char *root = backend && backend->ready(e) ? find_root(options->dir, e) : NULL;
    /* Before the session is touched: a typing mistake must not cost an old one. */
    char *program = root ? start_find_program(options->argv[0], e) : NULL;
    bool done = false;
    struct recording *recording;
    if (program && recording_create(&recording, options->session, e)) {
        result->carried = recording_carried(recording);
        /* The program may remove the working directory. */
        struct record_options absolute = *options;
        char *session = realpath(options->session, NULL);
        if (session)
            absolute.session = session;
        done = record_into(recording, &absolute, backend, root, result, e);
        free(session);
    }
    free(program);
    free(root);
    return done;
}
