/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/mem.h"
#include "engine/triage.h"
#include "tui/debugger.h"
#include "tui/script.h"
#include "tui/terminal.h"
#include "tui/words.h"

/* ---- signals ---- */

/* A signal wakes poll() through a pipe, so that none is missed between a look and the wait. */
static int wake[2] = {-1, -1};
static volatile sig_atomic_t ended, resized;

static void on_signal(int signal_number)
{
    int saved = errno;

    if (signal_number == SIGWINCH)
        resized = 1;
    else
        ended = 1;
    ssize_t ignored = write(wake[1], "", 1);
    (void)ignored;
    errno = saved;
}

static const int handled[] = {SIGTERM, SIGHUP, SIGINT, SIGWINCH};
enum { HANDLED = sizeof handled / sizeof *handled };

static bool catch_signals(struct sigaction *before, struct error *e)
{
    struct sigaction act = {.sa_handler = on_signal};

    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_errno(e, "cannot make a pipe");
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &act, &before[i]);
    return true;
}

static void release_signals(const struct sigaction *before)
{
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &before[i], NULL);
    close(wake[0]);
    close(wake[1]);
}

/* ---- what the terminal is wanted for besides ---- */

/* What the keyboard sends while an editor has the terminal is for the editor alone. */
static int spawn_editor(char *const argv[], pid_t *pid)
{
    posix_spawnattr_t own;
    sigset_t keyboard;

    sigemptyset(&keyboard);
    sigaddset(&keyboard, SIGINT);
    sigaddset(&keyboard, SIGQUIT);
    posix_spawnattr_init(&own);
    posix_spawnattr_setsigdefault(&own, &keyboard);
    posix_spawnattr_setflags(&own, POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(pid, "/bin/sh", NULL, &own, argv, environ);
    posix_spawnattr_destroy(&own);
    return failed;
}

/* Runs the editor on a file and waits. */
static bool run_editor(const char *file, struct error *e)
{
    const char *editor = words_editor();
    /* In its place, where it is a mere command: else the shell dies of a Ctrl-C that it survives.
     */
    char *command = xasprintf("%s%s \"$1\"", strpbrk(editor, "=;&|") ? "" : "exec ", editor);
    char *argv[] = {"sh", "-c", command, "sh", (char *)file, NULL};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, plain = {.sa_handler = SIG_DFL};
    struct sigaction interrupt, quit, stop;
    pid_t pid;
    int status;

    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    sigaction(SIGTSTP, &plain, &stop); /* curses would draw when we go on, see suspend() */
    int failed = spawn_editor(argv, &pid);
    while (!failed && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    sigaction(SIGTSTP, &stop, NULL);
    free(command);
    if (failed)
        return error_set(e, "cannot run %s: %s", editor, strerror(failed));
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           error_set(e, "%s failed; the note is as it was", editor);
}

static bool read_whole(const char *file, struct buf *out, struct error *e)
{
    enum { NOTE_MAX = 64 << 10 };
    FILE *f = fopen(file, "re");

    if (!f)
        return error_errno(e, "the note cannot be read again from %s", file);
    out->n = fread(buf_room(out, NOTE_MAX + 1), 1, NOTE_MAX + 1, f);
    bool ok = !ferror(f) || error_errno(e, "the note cannot be read again from %s", file);
    fclose(f);
    if (ok && out->n > NOTE_MAX)
        ok = error_set(e, "a note has at most %d bytes", NOTE_MAX);
    while (out->n && out->at[out->n - 1] == '\n')
        out->n--;
    out->at[out->n] = 0;
    return ok;
}

static bool write_whole(int fd, const char *text, const char *file, struct error *e)
{
    FILE *f = fdopen(fd, "w");

    if (!f) {
        close(fd);
        return error_errno(e, "cannot write %s", file);
    }
    bool ok = fputs(text, f) >= 0;
    return (fclose(f) == 0 && ok) || error_errno(e, "cannot write %s", file);
}

static void add_where(struct error *e, const char *file)
{
    size_t n = strlen(e->text);

    snprintf(e->text + n, sizeof e->text - n, "; the note is in %s", file);
}

static bool edit_note(struct debugger *d, struct terminal *t, struct error *e)
{
    const char *tmp = getenv("TMPDIR");
    char *file = xasprintf("%s/flotsam-note-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    struct buf text = {0};
    int fd = mkstemp(file);

    if (fd < 0) {
        error_errno(e, "cannot write %s", file);
        free(file);
        return false;
    }
    bool ok = write_whole(fd, d->wants_editor, file, e);
    terminal_leave(t);
    bool edited = ok && run_editor(file, e);
    terminal_return(t);
    bool kept = edited && read_whole(file, &text, e) &&
                triage_note(d->session, d->edited_bug, buf_string(&text), e);
    if (edited && !kept && access(file, F_OK) == 0)
        add_where(e, file); /* what was written is not lost */
    else
        unlink(file);
    free(file);
    buf_free(&text);
    return kept && debugger_refresh(d, e);
}

/* As the terminal would when it is not ours: make and whoever else waits for us stop too, so that
 * the shell is there. Curses has a handler for this, which would draw. */
static void suspend(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL}, before;

    sigaction(SIGTSTP, &plain, &before);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &before, NULL);
}

static void serve(struct debugger *d, struct terminal *t)
{
    struct error e;

    if (d->wants_editor) {
        if (!edit_note(d, t, &e))
            debugger_complain(d, e.text);
        free(d->wants_editor);
        d->wants_editor = NULL;
        d->wants_redraw = true;
    }
    if (d->wants_suspend) {
        d->wants_suspend = false;
        terminal_leave(t);
        suspend();
        terminal_return(t);
        d->wants_redraw = true;
    }
    if (d->clipboard.n) {
        terminal_copy(t, d->clipboard.at, d->clipboard.n);
        buf_clear(&d->clipboard);
    }
}

/* ---- the loop ---- */

static void wait_for_something(struct debugger *d, bool working)
{
    struct pollfd fds[2 + DEBUGGER_FDS] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = wake[0], .events = POLLIN},
    };
    size_t n = 2 + debugger_fds(d, fds + 2);
    char bytes[64];

    poll(fds, (nfds_t)n, working ? 0 : -1);
    while (read(wake[0], bytes, sizeof bytes) > 0)
        ;
}

static enum after take_inputs(struct debugger *d, struct terminal *t)
{
    struct input in;
    uint64_t deadline = clock_now() + LOOP_SLICE;
    enum after after = AFTER_NOTHING;

    while ((in = terminal_read(t)).kind != INPUT_NONE) {
        after = AFTER_REDRAW;
        if (debugger_input(d, &in) == AFTER_LEAVE)
            return AFTER_LEAVE;
        serve(d, t);
        if (clock_now() > deadline) /* keys held down are drawn as they come */
            break;
    }
    return after;
}

/* Drawing may open views that want work, and work may change what is drawn: only after two rounds
 * without either, and without anything new, there is nothing left but to wait. */
static void go_round(struct debugger *d, struct terminal *t)
{
    enum { IDLE_ROUNDS = 2 };
    int idle = 0;
    uint64_t woken = clock_now();
    enum after after = AFTER_REDRAW;

    while (!ended && after != AFTER_LEAVE) {
        uint64_t version = d->version;
        debugger_take(d);
        if (after != AFTER_NOTHING || d->version != version)
            idle = 0;
        /* What is there at once is not announced first: nothing flickers. */
        if (after != AFTER_NOTHING && clock_now() < woken + LOOP_BRIEF)
            debugger_work(d, woken + LOOP_BRIEF);
        debugger_draw(d);
        terminal_draw(t, &d->screen, &d->theme, d->wants_redraw);
        d->wants_redraw = false;
        idle = debugger_work(d, clock_now() + LOOP_SLICE) ? 0 : idle + 1;
        bool waits = idle >= IDLE_ROUNDS;
        wait_for_something(d, !waits);
        if (waits)
            idle = 0;
        if (resized) {
            resized = 0;
            terminal_measure(t);
        }
        woken = clock_now();
        after = take_inputs(d, t);
    }
}

bool loop_run(const char *session, const char *theme, struct error *e)
{
    struct sigaction before[HANDLED];
    struct terminal *t = NULL;
    struct debugger *d = NULL;
    int columns, rows;
    struct session *readable;

    /* A session that cannot be read is told before the terminal changes. */
    if (!session_open(&readable, session, e))
        return false;
    session_close(readable);
    if (!catch_signals(before, e))
        return false;
    bool ok = terminal_open(&t, e);
    if (ok) {
        terminal_size(t, &columns, &rows);
        if (!theme)
            theme = terminal_has_colours(t) ? THEME_DEFAULT : "monochrome";
        ok = debugger_new(&d, session, theme, columns, rows, e);
    }
    if (ok) {
        d->interactive = true;
        script_init(d);
        go_round(d, t);
    }
    terminal_close(t);
    release_signals(before);
    ok = ok && debugger_finish(d, e);
    debugger_free(d);
    return ok;
}
