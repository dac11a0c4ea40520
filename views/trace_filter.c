/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/trace_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/mem.h"
#include "engine/nearest.h"

/* --- Reading conditions -------------------------------------------------------------------- */

static bool add_call(struct trace_filter *f, const char *name, struct error *e)
{
    struct nearest near = {.name = name};

    for (uint16_t c = CALL_NONE + 1; c < CALL_COUNT; c++) {
        if (strcmp(call_name(c), name) == 0) {
            vec_push(&f->calls, c);
            return true;
        }
        nearest_offer(&near, call_name(c));
    }
    uint16_t number = syscall_number(name);
    if (number != SYSCALL_NONE) {
        vec_push(&f->syscalls, number);
        return true;
    }
    if (near.best)
        return error_set(e, "no call is named %s; did you mean %s?", name, near.best);
    return error_set(e,
                     "no call is named %s; name a family such as write, rename or fsync, or a"
                     " system call such as pwrite64",
                     name);
}

bool trace_filter_calls(struct trace_filter *f, const char *list, struct error *e)
{
    char *copy = xstrdup(list), *rest = copy, *name;
    bool ok = true;

    while (ok && (name = strsep(&rest, ",")))
        ok = add_call(f, name, e);
    free(copy);
    return ok;
}

/* Reads an event number that ends at `end`, or nothing at all, which leaves *out as it is. */
static bool read_number(const char *text, const char *end, uint64_t *out)
{
    char *stop;

    if (text == end)
        return true;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &stop, 10);
    return stop == end && errno == 0 && *out > 0;
}

bool trace_filter_range(struct trace_filter *f, const char *text, struct error *e)
{
    const char *end = text + strlen(text), *dots = strstr(text, "..");
    uint64_t first = 0, last = 0;
    bool ok;

    if (dots) {
        ok = read_number(text, dots, &first) && read_number(dots + 2, end, &last) &&
             (!last || first <= last) && (first || last);
    } else {
        ok = read_number(text, end, &first) && first;
        last = first;
    }
    if (!ok)
        return error_set(e, "not a range of events: %s; write 10..20, 10.., ..20 or 10", text);
    f->first = first;
    f->last = last;
    return true;
}

void trace_filter_free(struct trace_filter *f)
{
    vec_free(&f->calls);
    vec_free(&f->syscalls);
    map_free(&f->stacks);
}

/* --- Judging events ------------------------------------------------------------------------ */

static bool call_passes(const struct trace_filter *f, const struct event *event)
{
    if (f->calls.n == 0 && f->syscalls.n == 0)
        return true;
    for (size_t i = 0; i < f->calls.n; i++) {
        if (f->calls.at[i] == event->call)
            return true;
    }
    for (size_t i = 0; i < f->syscalls.n; i++) {
        if (f->syscalls.at[i] == event->syscall)
            return true;
    }
    return false;
}

/* Matches the whole text, or its last component when the pattern is of one component. */
static bool glob(const char *pattern, const char *text, const char *separator)
{
    if (fnmatch(pattern, text, 0) == 0)
        return true;
    if (strstr(pattern, separator))
        return false;
    const char *last = text, *next;
    while ((next = strstr(last, separator)))
        last = next + strlen(separator);
    return last != text && fnmatch(pattern, last, 0) == 0;
}

static bool path_passes(const struct trace_filter *f, struct session *s, const struct event *event)
{
    return (event->path && glob(f->path, session_string(s, event->path), "/")) ||
           (event->other_path && glob(f->path, session_string(s, event->other_path), "/"));
}

static bool stack_passes(const struct trace_filter *f, struct session *s, struct symbols *sy,
                         uint32_t stack)
{
    const struct frame *frames;
    size_t n = session_stack(s, stack, &frames);

    for (size_t i = 0; i < n; i++) {
        const struct location *at;
        size_t m = symbols_frame(sy, &frames[i], &at);
        for (size_t k = 0; k < m; k++) {
            if (glob(f->function, at[k].function, "::"))
                return true;
        }
    }
    return false;
}

bool trace_filter_pass(struct trace_filter *f, struct session *s, struct symbols *sy,
                       uint64_t number, const struct event *event)
{
    enum { UNKNOWN, PASSES, FAILS };

    if ((f->first && number < f->first) || (f->last && number > f->last))
        return false;
    if (f->thread && event->thread != f->thread)
        return false;
    if (!call_passes(f, event) || (f->path && !path_passes(f, s, event)))
        return false;
    if (!f->function)
        return true;
    uint64_t *known = map_put(&f->stacks, &event->stack, sizeof event->stack, NULL);
    if (*known == UNKNOWN)
        *known = stack_passes(f, s, sy, event->stack) ? PASSES : FAILS;
    return *known == PASSES;
}
