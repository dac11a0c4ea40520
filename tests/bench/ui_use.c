/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The debugger in this process, on a screen in memory, used as a person would.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/mem.h"
#include "tests/bench/ui.h"
#include "tui/debugger.h"
#include "tui/loop.h"

enum {
    COLUMNS = 200, /* a large screen: all panes are in sight */
    ROWS = 50,
    KEYS = 120,          /* pressed for one measure in one view */
    BETWEEN_MS = 5,      /* between two keys while others work */
    FRAMES_MAX = 20000,  /* of something that goes on by itself */
    CHECK_SECONDS = 600, /* then the check is stopped */
};

/* Folders without what belongs in them, and files that were not renamed yet, are inconsistent. */
#define CHECK                                                                                      \
    "check budget=600 jobs=1 checker=for t in 1 2 3 4; do [ ! -e {dir}/temporary-$t ] || exit 1; " \
    "[ ! -d {dir}/folder-$t ] || [ -L {dir}/folder-$t/alias-$t ] || exit 1; done"

struct use {
    struct debugger *d;
    struct samples samples[MEASURE_COUNT];
    double slow; /* see struct figures */
};

/* ---- frames ---- */

static double milliseconds(uint64_t begin, uint64_t end)
{
    return (double)(end - begin) / (double)NANOSECONDS_PER_MS;
}

int delays_open(pid_t process)
{
    char path[64] = "/proc/thread-self/schedstat";

    if (process)
        snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t delays_read(int fd)
{
    char text[128];
    unsigned long long delay = 0;
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = 0;
    return sscanf(text, "%*u %llu", &delay) == 1 ? delay : 0;
}

static uint64_t delayed(void)
{
    static int fd = -2;

    if (fd == -2)
        fd = delays_open(0);
    return delays_read(fd);
}

static const char *desk_name(enum desk_id desk)
{
    static const char *const names[] = {
#define X(id) #id,
        DESKS(X)
#undef X
    };
    return names[desk];
}

/* A slice of work that has just begun, a command, what others said meanwhile, what is there at
 * once, the screen. */
static void frame(struct use *u, enum measure measure, const char *command)
{
    struct debugger *d = u->d;
    enum after after;
    struct error e;
    char what[WORST_SIZE];
    uint64_t others = delayed(), begin = clock_now();

    snprintf(what, sizeof what, "%s: %.40s", desk_name(d->desk), command);
    debugger_work(d, begin + LOOP_SLICE);
    uint64_t worked = clock_now();
    if (!debugger_command(d, command, &after, &e))
        debugger_complain(d, e.text);
    uint64_t done = clock_now();
    debugger_take(d);
    if (clock_now() < worked + LOOP_BRIEF)
        debugger_work(d, worked + LOOP_BRIEF);
    uint64_t taken = clock_now();
    debugger_draw(d);
    uint64_t end = clock_now();
    double own = milliseconds(begin, end) - milliseconds(others, delayed());
    samples_add(&u->samples[measure], milliseconds(begin, end), own, what);
    if (u->slow > 0 && own > u->slow)
        fprintf(stderr, "%.1f ms: %s (work %.1f, command %.1f, others %.1f, drawing %.1f)\n", own,
                what, milliseconds(begin, worked), milliseconds(worked, done),
                milliseconds(done, taken), milliseconds(taken, end));
}

static void rest(struct debugger *d)
{
    struct pollfd fds[DEBUGGER_FDS];

    poll(fds, (nfds_t)debugger_fds(d, fds), BETWEEN_MS);
}

/* Until nothing is left to be worked out. */
static void settle(struct use *u)
{
    struct debugger *d = u->d;
    struct error e;

    /* Drawing may want more work: see the loop. */
    for (int idle = 0; idle < 2 || d->loading;) {
        debugger_take(d);
        debugger_draw(d);
        idle = debugger_work(d, clock_now() + LOOP_SLICE) ? 0 : idle + 1;
        if (idle > 1 && d->loading)
            rest(d);
    }
    graph_picture_wait(d->picture, &e);
    debugger_take(d);
    debugger_draw(d);
}

/* The command, outside of all measures. */
static void order(struct use *u, const char *command)
{
    enum after after;
    struct error e;

    if (!debugger_command(u->d, command, &after, &e))
        debugger_complain(u->d, e.text);
    settle(u);
}

/* What people do while they wait. */
static void frame_of_all(struct use *u, enum measure measure, size_t i)
{
    static const char *const commands[] = {
        "overview", "trace",    "down",   "page-down",  "bottom", "up",     "top",
        "bugs",     "down",     "ops",    "bottom",     "down",   "top",    "behaviours",
        "bottom",   "groups",   "bottom", "states",     "bottom", "down",   "schedule",
        "step",     "step 100", "sync",   "step-back",  "bottom", "toggle", "undo",
        "state",    "down",     "source", "search zzz", "graph",  "down",   "fixes",
        "links",    "back",     "cancel",
    };
    frame(u, measure, commands[i % (sizeof commands / sizeof *commands)]);
}

/* ---- a life of the debugger ---- */

static bool open_session(struct use *u, const char *session, struct figures *out, struct error *e)
{
    *u = (struct use){.slow = out->slow};
    uint64_t begin = clock_now();
    if (!debugger_new(&u->d, session, THEME_DEFAULT, COLUMNS, ROWS, e))
        return false;
    debugger_draw(u->d);
    out->opening = milliseconds(begin, clock_now());
    bool left = true;
    for (size_t i = 0; (left || u->d->loading) && i < FRAMES_MAX; i++) {
        frame_of_all(u, MEASURE_LOADING, i);
        rest(u->d);
        left = debugger_work(u->d, clock_now() + LOOP_SLICE);
    }
    settle(u);
    out->loading = milliseconds(begin, clock_now());
    return true;
}

static void end(struct use *u, struct figures *out)
{
    for (int i = 0; i < MEASURE_COUNT; i++)
        if (u->samples[i].n)
            samples_take(&u->samples[i], &out->frames[i]);
    debugger_free(u->d);
}

bool ui_first(const char *session, struct figures *out, struct error *e)
{
    struct use u;

    if (!open_session(&u, session, out, e))
        return false;
    uint64_t deadline = clock_now() + CHECK_SECONDS * NANOSECONDS_PER_SECOND;
    frame(&u, MEASURE_CHECKING, CHECK);
    for (size_t i = 0; u.d->task != TASK_NONE && clock_now() < deadline; i++) {
        frame_of_all(&u, MEASURE_CHECKING, i);
        rest(u.d);
    }
    bool done = u.d->task == TASK_NONE || error_set(e, "the check does not end");
    done = done && (u.d->findings.report || error_set(e, "the check failed: %s", u.d->message));
    end(&u, out);
    return done;
}

/* ---- everything ---- */

static void press(struct use *u, enum measure measure, const char *command, int times)
{
    for (int i = 0; i < times; i++)
        frame(u, measure, command);
}

static void use_list(struct use *u, const char *desk)
{
    static const char *const places[] = {"top", "bottom"};

    order(u, desk);
    press(u, MEASURE_MOVING, "down", KEYS);
    press(u, MEASURE_PAGING, "page-down", KEYS);
    press(u, MEASURE_PAGING, "page-up", KEYS / 2);
    for (int i = 0; i < KEYS / 4; i++)
        frame(u, MEASURE_ENDS, places[i % 2]);
    order(u, "bottom");
    press(u, MEASURE_MOVING, "up", KEYS);
}

/* Begins something that goes on, and looks elsewhere on the same page while it does. */
static void go_on(struct use *u, enum measure measure, const char *command)
{
    bool left = true;

    frame(u, measure, command);
    for (int i = 0; left && i < FRAMES_MAX; i++) {
        frame(u, measure, i % 2 ? "down" : "up");
        left = debugger_work(u->d, clock_now() + LOOP_SLICE);
    }
}

static void use_finding(struct use *u, const char *desk, const char *column)
{
    char sort[WORST_SIZE];

    order(u, desk);
    order(u, "top");
    go_on(u, MEASURE_SEARCHING, "search no such text anywhere");
    frame(u, MEASURE_SEARCHING, "cancel");
    go_on(u, MEASURE_FILTERING, "filter fsync");
    press(u, MEASURE_FILTERING, "page-down", KEYS);
    go_on(u, MEASURE_FILTERING, "filter no such text anywhere");
    go_on(u, MEASURE_FILTERING, "filter");
    snprintf(sort, sizeof sort, "sort -%s", column);
    go_on(u, MEASURE_SORTING, sort);
    press(u, MEASURE_SORTING, "page-down", KEYS);
    frame(u, MEASURE_SORTING, "bottom");
    press(u, MEASURE_SORTING, "up", KEYS);
    go_on(u, MEASURE_SORTING, "filter write");
    go_on(u, MEASURE_SORTING, "filter");
    frame(u, MEASURE_SORTING, "sort");
}

/* As on a terminal: a script would wait for it. */
static void use_export(struct use *u)
{
    order(u, "trace");
    u->d->interactive = true;
    go_on(u, MEASURE_WRITING, "export /dev/null");
    u->d->interactive = false;
}

static void use_desks(struct use *u)
{
    static const char *const places[] = {"top", "bottom", "go op:1000", "go event:500"};

    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        order(u, "trace");
        order(u, places[p]);
        for (int i = 0; i < DESK_COUNT; i++) {
            if (i == DESK_why || i == DESK_help)
                continue;
            frame(u, MEASURE_SWITCHING, desk_name((enum desk_id)i));
            press(u, MEASURE_SWITCHING, "focus", 2);
            frame(u, MEASURE_SWITCHING, "links");
            frame(u, MEASURE_SWITCHING, "back");
        }
        settle(u);
        frame(u, MEASURE_SWITCHING, "help");
        frame(u, MEASURE_SWITCHING, "back");
    }
    order(u, "bugs");
    frame(u, MEASURE_SWITCHING, "why");
    frame(u, MEASURE_SWITCHING, "back");
    order(u, "groups");
    frame(u, MEASURE_SWITCHING, "why 0 1");
}

static void use_schedule(struct use *u)
{
    static const char *const moves[] = {"step", "sync", "step-back", "step 50", "sync-back"};
    static const char *const places[] = {"top", "bottom", "go op:1000"};

    order(u, "bugs");
    frame(u, MEASURE_STEPPING, "open");
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        order(u, "ops");
        order(u, places[p]);
        for (int i = 0; i < KEYS / 2; i++)
            frame(u, MEASURE_STEPPING, moves[(size_t)i % (sizeof moves / sizeof *moves)]);
        order(u, "ops");
        order(u, places[p]);
        for (int i = 0; i < KEYS / 4; i++) {
            frame(u, MEASURE_TOGGLING, "toggle");
            press(u, MEASURE_TOGGLING, "down", 3);
        }
        press(u, MEASURE_TOGGLING, "undo", 4);
        press(u, MEASURE_TOGGLING, "redo", 4);
    }
    press(u, MEASURE_STEPPING, "failing", 8);
    press(u, MEASURE_STEPPING, "failing-back", 8);
}

static void use_graph(struct use *u)
{
    static const char *const kinds[] = {"op:0", "op:1000", "behaviour:0", "group:0", "bug:1", ""};
    static const char *const moves[] = {"down", "right", "up", "left", "rules", "back"};
    char command[WORST_SIZE];

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        snprintf(command, sizeof command, "graph %s", kinds[k]);
        frame(u, MEASURE_SELECTING, command);
        settle(u);
        for (int i = 0; i < KEYS / 2; i++)
            frame(u, MEASURE_SELECTING, moves[(size_t)i % (sizeof moves / sizeof *moves)]);
    }
}

static double memory(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%*u %lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

bool ui_use(const char *session, struct figures *out, struct error *e)
{
    static const char *const lists[] = {"trace",  "ops",      "behaviours", "groups",
                                        "states", "schedule", "bugs"};
    struct use u;

    if (!open_session(&u, session, out, e))
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        use_list(&u, lists[i]);
    out->memory = memory();
    use_finding(&u, "trace", "call");
    use_finding(&u, "ops", "kind");
    use_finding(&u, "behaviours", "ops");
    use_export(&u);
    use_desks(&u);
    use_schedule(&u);
    use_graph(&u);
    const json_t *report = u.d->findings.report;
    out->ops = u.d->findings.analysis->graph->n;
    out->states = report_state_count(u.d->session);
    out->bugs = json_array_size(json_object_get(report, "bugs"));
    end(&u, out);
    return true;
}

/* The largest is left and come back to; then its ops are looked through. */
static void use_large(struct use *u)
{
    order(u, "behaviours");
    order(u, "sort -ops");
    order(u, "top");
    for (int i = 0; i < KEYS; i++)
        frame(u, MEASURE_LARGE, i % 2 ? "up" : "down");
    order(u, "top");
    order(u, "focus");
    press(u, MEASURE_LARGE, "down", KEYS);
    press(u, MEASURE_LARGE, "page-down", KEYS);
    frame(u, MEASURE_LARGE, "bottom");
    go_on(u, MEASURE_LARGE, "filter no such text anywhere");
    go_on(u, MEASURE_LARGE, "filter");
    go_on(u, MEASURE_LARGE, "search no such text anywhere");
    frame(u, MEASURE_LARGE, "cancel");
    order(u, "focus");
}

/* Each step is looked at until all of its files are compared, or until the next comes. */
bool ui_many(const char *session, struct figures *out, struct error *e)
{
    static const char *const desks[] = {"schedule", "state"};
    static const char *const moves[] = {"step-back", "step", "sync-back", "step-back 50", "step"};
    struct use u;

    if (!open_session(&u, session, out, e))
        return false;
    use_large(&u);
    for (size_t k = 0; k < sizeof desks / sizeof *desks; k++) {
        order(&u, desks[k]);
        for (int i = 0; i < KEYS / 4; i++) {
            const char *move = moves[(size_t)i % (sizeof moves / sizeof *moves)];
            press(&u, MEASURE_MANY, move, i % 3);
            go_on(&u, MEASURE_MANY, move);
        }
    }
    end(&u, out);
    return true;
}

bool ui_leave(const char *session, bool at_once, double *took, uint64_t *left, struct error *e)
{
    struct use u = {0};
    enum after after;

    if (!debugger_new(&u.d, session, THEME_DEFAULT, COLUMNS, ROWS, e))
        return false;
    debugger_draw(u.d);
    if (!at_once)
        settle(&u);
    /* The loading is in the middle of things. */
    else
        usleep(300000);
    uint64_t others = delayed(), begin = clock_now();
    bool ok = debugger_command(u.d, "quit", &after, e);
    debugger_free(u.d);
    *left = clock_now();
    *took = milliseconds(begin, *left) - milliseconds(others, delayed());
    return ok;
}
