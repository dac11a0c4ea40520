/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/calls.h"
#include "engine/fix.h"
#include "engine/mem.h"

enum {
    READ_SIZE = 64 * 1024,
    /* A worker that is asked to end ends its checkers first; when it does not, it is killed. */
    STOP_TRIES = 100,
    STOP_PAUSE_MS = 10,
    COMPLAINT_MAX = 512, /* of its last words */
};

struct worker {
    pid_t pid;
    int socket;
    int complaints; /* a file in memory: its standard error */
    struct buf unsent, received;
    size_t taken; /* bytes of received that were handed on */
    size_t seen;  /* bytes of it up to which there is no further end of a line */
    uint32_t jobs;
    bool ended; /* nothing more comes from it */
    char *died;
};

/* ---- starting ---- */

/* In the child: becomes the worker, with nothing open but what it talks by. */
static void become(const char *program, const char *session, int socket, int complaints,
                   pid_t parent)
{
    char *const argv[] = {(char *)"flotsam", (char *)"worker", (char *)(uintptr_t)session, NULL};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* keys of the terminal are not for it */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) /* it died before that */
        _exit(1);
    dup2(socket, STDIN_FILENO);
    dup2(socket, STDOUT_FILENO);
    dup2(complaints, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execv(program, argv);
    static const char cannot[] = "it cannot be executed\n";
    if (write(STDERR_FILENO, cannot, sizeof cannot - 1) < 0)
        _exit(126);
    _exit(127);
}

bool worker_start(struct worker **out, const char *session, const char *program, struct error *e)
{
    int pair[2];
    /* A name that looks like an option would be one. */
    char *path = *session == '/' ? xstrdup(session) : xasprintf("./%s", session);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(path);
        return error_errno(e, "no socket for the process that checks");
    }
    int complaints = memfd_create("flotsam-worker", MFD_CLOEXEC);
    pid_t parent = getpid(), pid = complaints >= 0 ? fork() : -1;
    if (pid == 0)
        become(program ? program : "/proc/self/exe", path, pair[1], complaints, parent);
    close(pair[1]);
    free(path);
    if (pid < 0) {
        error_errno(e, "cannot start the process that checks");
        close(pair[0]);
        if (complaints >= 0)
            close(complaints);
        return false;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    struct worker *w = xcalloc(1, sizeof *w);
    *w = (struct worker){.pid = pid, .socket = pair[0], .complaints = complaints};
    *out = w;
    return true;
}

/* ---- ending ---- */

/* The last line that it wrote to standard error; "" when there is none. */
static void last_words(const struct worker *w, char *out, size_t size)
{
    off_t end = lseek(w->complaints, 0, SEEK_END);
    off_t from = end > (off_t)size - 1 ? end - (off_t)size + 1 : 0;
    ssize_t n = pread(w->complaints, out, size - 1, from);
    out[n > 0 ? n : 0] = '\0';
    size_t length = strlen(out);
    while (length && out[length - 1] == '\n')
        out[--length] = '\0';
    const char *line = strrchr(out, '\n');
    if (line)
        memmove(out, line + 1, strlen(line + 1) + 1);
}

/* Notes how it ended, once it has. */
static bool reap(struct worker *w, bool wait)
{
    int status;
    char words[COMPLAINT_MAX];
    if (w->died)
        return true;
    if (waitpid(w->pid, &status, wait ? 0 : WNOHANG) != w->pid)
        return false;
    last_words(w, words, sizeof words);
    if (WIFSIGNALED(status))
        w->died = xasprintf("the process that checks was killed by signal %d (%s)",
                            WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        w->died = xasprintf("the process that checks ended with status %d%s%s", WEXITSTATUS(status),
                            *words ? ": " : "", words);
    return true;
}

const char *worker_died(const struct worker *w)
{
    return w->died;
}

void worker_stop(struct worker *w)
{
    if (!w)
        return;
    shutdown(w->socket, SHUT_RDWR);
    bool gone = reap(w, false);
    for (int i = 0; i < STOP_TRIES && !gone; i++) {
        poll(NULL, 0, STOP_PAUSE_MS);
        gone = reap(w, false);
    }
    if (!gone) {
        kill(w->pid, SIGKILL);
        reap(w, true);
    }
    close(w->socket);
    close(w->complaints);
    buf_free(&w->unsent);
    buf_free(&w->received);
    free(w->died);
    free(w);
}

/* ---- asking ---- */

pid_t worker_pid(const struct worker *w)
{
    return w->pid;
}

int worker_fd(const struct worker *w)
{
    return w->socket;
}

bool worker_has_unsent(const struct worker *w)
{
    return w->unsent.n > 0 && !w->ended;
}

static void send_unsent(struct worker *w)
{
    while (worker_has_unsent(w)) {
        ssize_t n = send(w->socket, w->unsent.at, w->unsent.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0)
            return; /* later; or never, which reading tells */
        memmove(w->unsent.at, w->unsent.at + n, w->unsent.n - (size_t)n);
        w->unsent.n -= (size_t)n;
    }
}

static void ask(struct worker *w, json_t *request)
{
    char *line = json_dumps(request, JSON_COMPACT);
    if (line) {
        buf_text(&w->unsent, line);
        buf_char(&w->unsent, '\n');
    }
    free(line);
    json_decref(request);
    send_unsent(w);
}

static json_t *request(const char *what)
{
    json_t *out = json_object();
    json_object_set_new(out, "do", json_string(what));
    return out;
}

static void set_text(json_t *o, const char *key, const char *text)
{
    if (text)
        json_object_set_new(o, key, json_string(text));
}

static void set_number(json_t *o, const char *key, uint64_t number)
{
    if (number <= INT64_MAX)
        json_object_set_new(o, key, json_integer((json_int_t)number));
}

static json_t *job_request(struct worker *w, const char *what, const struct fix *fixes, size_t n)
{
    json_t *out = request(what), *list = json_array();
    set_number(out, "job", ++w->jobs);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:s, s:I}", "after", (json_int_t)fixes[i].after, "file",
                            (json_int_t)fixes[i].file, "call", call_name(fixes[i].call), "store",
                            (json_int_t)fixes[i].store));
    json_object_set_new(out, "fixes", list);
    return out;
}

uint32_t worker_check(struct worker *w, const struct worker_check *check)
{
    json_t *out = job_request(w, "check", check->fixes, check->fix_count);
    set_text(out, "model", check->model);
    set_text(out, "strategy", check->strategy);
    set_text(out, "checker", check->checker);
    set_number(out, "budget", check->budget);
    set_number(out, "seed", check->seed);
    set_number(out, "jobs", check->jobs > 0 ? (uint64_t)check->jobs : 0);
    if (check->timeout != 0)
        json_object_set_new(out, "timeout", json_real(check->timeout));
    ask(w, out);
    return w->jobs;
}

uint32_t worker_test(struct worker *w, const struct worker_state *state)
{
    json_t *out = job_request(w, "test", state->fixes, state->fix_count), *lost = json_array();
    for (size_t i = 0; i < state->lost_count; i++)
        json_array_append_new(lost, json_integer(state->lost[i]));
    if (state->last != NO_OP)
        set_number(out, "last", state->last);
    json_object_set_new(out, "lost", lost);
    set_number(out, "told_until", state->told_until);
    set_text(out, "model", state->model);
    set_text(out, "checker", state->checker);
    if (state->timeout > 0)
        json_object_set_new(out, "timeout", json_real(state->timeout));
    ask(w, out);
    return w->jobs;
}

void worker_pause(struct worker *w)
{
    ask(w, request("pause"));
}

void worker_resume(struct worker *w)
{
    ask(w, request("resume"));
}

void worker_halt(struct worker *w)
{
    ask(w, request("halt"));
}

/* ---- hearing ---- */

static const char *const event_names[] = {[WORKER_NOTHING] = "",
#define X(id, name) [WORKER_##id] = name,
                                          WORKER_EVENTS(X)
#undef X
};

static uint64_t number_of(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));
    return n < 0 ? 0 : (uint64_t)n;
}

static uint32_t number_or_none(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_integer(value) ? (uint32_t)json_integer_value(value) : NO_OP;
}

static double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void read_progress(const json_t *o, struct worker_event *out)
{
    out->counts = (struct explore_counts){.enumerated = number_of(o, "enumerated"),
                                          .distinct = number_of(o, "distinct"),
                                          .tested = number_of(o, "tested"),
                                          .reused = number_of(o, "reused"),
                                          .inconsistent = number_of(o, "inconsistent"),
                                          .shrinking = number_of(o, "shrinking"),
                                          .expected = number_of(o, "expected"),
                                          .units = number_of(o, "units")};
    out->phase = json_string_value(json_object_get(o, "phase"));
    out->phase = out->phase ? out->phase : "";
    out->rate = real_of(o, "rate");
    out->seconds_left = real_of(o, "seconds_left");
    out->paused = json_is_true(json_object_get(o, "paused"));
}

/* An event from one line; one that makes no sense is WORKER_NOTHING. */
static void read_event(json_t *o, struct worker_event *out)
{
    const char *name = json_string_value(json_object_get(o, "event"));
    uint64_t verdict = number_of(o, "verdict");
    const json_t *text = json_object_get(o, "text");
    *out = (struct worker_event){.job = (uint32_t)number_of(o, "job"),
                                 .number = number_of(o, "number"),
                                 .last = number_or_none(o, "last"),
                                 .behaviour = number_or_none(o, "behaviour"),
                                 .group = number_or_none(o, "group"),
                                 .exit = (int)number_of(o, "exit"),
                                 .signal = (int)number_of(o, "signal"),
                                 .seconds = real_of(o, "seconds"),
                                 .text = json_is_string(text) ? json_string_value(text) : "",
                                 .text_size = json_string_length(text),
                                 .body = o};
    out->verdict = verdict <= VERDICT_HUNG ? (enum verdict_kind)verdict : VERDICT_NOT_RUN;
    for (size_t i = 1; name && i < sizeof event_names / sizeof *event_names; i++)
        if (strcmp(event_names[i], name) == 0)
            out->kind = (enum worker_event_kind)i;
    if (out->kind == WORKER_PROGRESS)
        read_progress(o, out);
    if (out->kind == WORKER_BUG || out->kind == WORKER_DONE) {
        out->body = json_incref(json_object_get(o, out->kind == WORKER_BUG ? "bug" : "report"));
        json_decref(o);
    }
}

/* The next whole line that was received. */
static bool next_line(struct worker *w, const char **line, size_t *length)
{
    const char *from = w->received.at + w->taken;
    /* A report comes in many pieces: only the new one is searched. */
    const char *end = w->received.n > w->seen
                          ? memchr(w->received.at + w->seen, '\n', w->received.n - w->seen)
                          : NULL;
    if (!end) { /* what is left moves to the front */
        if (w->taken)
            memmove(w->received.at, from, w->received.n - w->taken);
        w->received.n -= w->taken;
        w->taken = 0;
        w->seen = w->received.n;
        return false;
    }
    *line = from;
    *length = (size_t)(end - from);
    w->taken += *length + 1;
    w->seen = w->taken;
    return true;
}

/* Takes what has arrived; false when nothing has. */
static bool receive(struct worker *w)
{
    char bytes[READ_SIZE];
    ssize_t n = w->ended ? -1 : recv(w->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0) {
        buf_add(&w->received, bytes, (size_t)n);
        return true;
    }
    if (n == 0 || (!w->ended && errno != EAGAIN && errno != EINTR))
        w->ended = true;
    return false;
}

bool worker_read(struct worker *w, struct worker_event *out)
{
    const char *line;
    size_t length;
    send_unsent(w);
    do
        while (next_line(w, &line, &length)) {
            json_t *o = json_loadb(line, length, 0, NULL);
            if (!o)
                continue;
            read_event(o, out);
            if (out->kind != WORKER_NOTHING)
                return true;
            worker_event_clear(out);
        }
    while (receive(w));
    if (w->ended)
        reap(w, false);
    return false;
}

void worker_event_clear(struct worker_event *event)
{
    json_decref(event->body);
    *event = (struct worker_event){0};
}
