/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/mem.h"

#define SLICE (50 * NANOSECONDS_PER_MS)

void script_wait(struct debugger *d)
{
    enum { IDLE_ROUNDS = 2 }; /* as in loop.c: drawing may open views that want work */

    for (int idle = 0; idle < IDLE_ROUNDS;) {
        struct pollfd fds[DEBUGGER_FDS];
        debugger_take(d);
        debugger_draw(d);
        bool left = debugger_work(d, clock_now() + SLICE);
        bool waits = !debugger_is_idle(d) && !d->paused;
        if (!left && waits)
            poll(fds, (nfds_t)debugger_fds(d, fds), -1);
        idle = left || waits ? 0 : idle + 1;
    }
    debugger_draw(d);
}

/* One line; its end goes, be it a newline or, from elsewhere, a carriage return with one. */
static bool next_line(FILE *f, struct buf *line)
{
    int c;

    buf_clear(line);
    while ((c = getc(f)) != EOF && c != '\n')
        buf_char(line, (char)c);
    if (c == '\n' && line->n && line->at[line->n - 1] == '\r')
        line->at[--line->n] = '\0';
    return c != EOF || line->n;
}

/* A command alone, and with wait all that it began. */
static bool run_command(struct debugger *d, const char *line, bool wait, enum after *after,
                        struct error *e)
{
    if (!debugger_command(d, line, after, e))
        return false;
    if (!wait || *after == AFTER_LEAVE)
        return true;
    script_wait(d);
    return debugger_went_well(d, e);
}

static bool run_lines(struct debugger *d, FILE *f, const char *name, bool wait, struct error *e)
{
    struct buf line = {0};
    enum after after = AFTER_NOTHING;
    bool ok = true;

    for (int number = 1; ok && after != AFTER_LEAVE && next_line(f, &line); number++) {
        if (strncmp(buf_string(&line), "dump", 4) != 0)
            debugger_hush(d); /* what the command before had to say */
        ok = run_command(d, buf_string(&line), wait, &after, e) ||
             error_prefix(e, "%s:%d", name, number);
    }
    buf_free(&line);
    return ok;
}

bool script_run(const char *session, const char *file, const char *theme, int columns, int rows,
                struct error *e)
{
    struct debugger *d;
    bool standard = !strcmp(file, "-");
    FILE *f = standard ? stdin : fopen(file, "re");

    if (!f)
        return error_errno(e, "cannot read the script %s", file);
    bool ok = debugger_new(&d, session, theme, columns, rows, e);
    if (ok) {
        script_wait(d);
        debugger_went_well(d,
                           NULL); /* no command: a damaged session can be looked at all the same */
        ok = run_lines(d, f, file, true, e);
        ok = debugger_finish(d, ok ? e : NULL) && ok;
        debugger_free(d);
    }
    if (!standard)
        fclose(f);
    return ok;
}

void script_init(struct debugger *d)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = config && config[0] == '/' ? xasprintf("%s/flotsam/init", config)
                 : home                     ? xasprintf("%s/.config/flotsam/init", home)
                                            : NULL;
    FILE *f = path ? fopen(path, "re") : NULL;
    struct error e;

    if (f && !run_lines(d, f, path, false, &e))
        debugger_complain(d, e.text);
    if (f)
        fclose(f);
    free(path);
}
