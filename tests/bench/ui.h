/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the benchmark of the debugger measures. A frame is what a person waits for: from a key to
 * the finished screen. Each is measured as badly as it can come: the key is pressed just when a
 * slice of work in the background begins (tui/loop.h).
 */
#ifndef TESTS_BENCH_UI_H
#define TESTS_BENCH_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/error.h"

#define MEASURES(X)                                                                                \
    X(LOADING, "anything, while it loads")                                                         \
    X(CHECKING, "anything, while a check runs")                                                    \
    X(MOVING, "moving")                                                                            \
    X(PAGING, "paging")                                                                            \
    X(ENDS, "home and end")                                                                        \
    X(SEARCHING, "searching")                                                                      \
    X(FILTERING, "filtering")                                                                      \
    X(SORTING, "sorting")                                                                          \
    X(WRITING, "writing a list to a file")                                                         \
    X(SWITCHING, "switching views")                                                                \
    X(STEPPING, "stepping in a schedule")                                                          \
    X(MANY, "stepping among many files")                                                           \
    X(LARGE, "at a large behaviour")                                                               \
    X(TOGGLING, "toggling ops")                                                                    \
    X(SELECTING, "selecting in the graph")                                                         \
    X(TERMINAL, "on a terminal")

enum measure {
#define X(id, name) MEASURE_##id,
    MEASURES(X)
#undef X
        MEASURE_COUNT
};

enum { WORST_SIZE = 64 };

/* Milliseconds. */
struct frames {
    uint64_t n;
    double median, high, most; /* high: the 99th percentile */
    double wall;               /* the same with what other programs took of the processors */
    char worst[WORST_SIZE];    /* where and by what the longest came */
};

struct figures {
    struct frames frames[MEASURE_COUNT];
    double opening, loading;    /* ms until the first frame, and until everything is there */
    double quitting, giving_up; /* ms from leaving to the end of the process; while it loads */
    double memory;              /* bytes, everything loaded and looked at */
    uint64_t ops, states, bugs;
    double slow; /* frames that take more ms are told as they come; 0: none is */
};

/* Each fills its part of the figures, of a session that is there. */

/* Opens it for the first time, and has it checked. */
bool ui_first(const char *session, struct figures *out, struct error *e);

/* Opens it again and uses everything. */
bool ui_use(const char *session, struct figures *out, struct error *e);

/* Opens one that has many files and a large behaviour, and steps. */
bool ui_many(const char *session, struct figures *out, struct error *e);

/* Leaves it, at once or when everything is there: how many ms that took, and when it was done, by
 * the clock. */
bool ui_leave(const char *session, bool at_once, double *took, uint64_t *left, struct error *e);

/* The program itself on a terminal. */
bool ui_terminal(const char *program, const char *session, struct figures *out, struct error *e);

/* ---- times ---- */

/* Nanoseconds that the first thread of a process (0: this thread) was ready and others had the
 * processors: what a busy machine adds to any program. 0 where the kernel does not count. */
int delays_open(pid_t process);
uint64_t delays_read(int fd);

struct samples {
    double *wall, *own; /* own: without what other programs took of the processors */
    size_t n, room;
    double most;
    char worst[WORST_SIZE];
};

void samples_add(struct samples *s, double wall, double own, const char *what);
/* Sorts, takes, frees. */
void samples_take(struct samples *s, struct frames *out);

#endif
