/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * worker: the engine at work in a process of its own, for whoever must not wait for it: checks,
 * tries of pretended syncs, the checker on a single state. It may be slow, hang or die; whoever
 * started it goes on. What it found is in the session.
 *
 *     worker_start(&w, "run.flotsam", NULL, &e);
 *     job = worker_check(w, &(struct worker_check){0});
 *     … poll worker_fd(w) for POLLIN, and for POLLOUT while worker_has_unsent(w); then
 *     while (worker_read(w, &event)) {
 *         …
 *         worker_event_clear(&event);
 *     }
 *     if (worker_died(w)) …
 *     worker_stop(w);
 *
 * Nothing here waits, but worker_stop for the moment that a process takes to die. The two talk in
 * lines of JSON, requests {"do": "check", "job": 1, …} and events {"event": "progress", "job": 1,
 * …} with the names below. A job goes on when nobody reads: what it found waits, and of its progress
 * only the latest is told. The process ends with the one that started it, and leaves no
 * mount, folder or checker behind, however it ends. Start it from the thread that lives longest.
 */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/error.h"
#include "engine/explore.h"

struct worker;

/* program: the flotsam to execute; NULL: this one. */
bool worker_start(struct worker **out, const char *session, const char *program, struct error *e);

/* Ends it and waits until it is gone; frees. Checkers that run are killed. NULL is fine. */
void worker_stop(struct worker *w);

pid_t worker_pid(const struct worker *w);
int worker_fd(const struct worker *w);
bool worker_has_unsent(const struct worker *w);

/* NULL while it lives; then why it does not any more, for people. */
const char *worker_died(const struct worker *w);

/* What is asked of it. Jobs are done one after the other, in the order in which they were asked
 * for; each has a number, from 1, that its events bear. Strings are copied. */
#define WORKER_NO_LIMIT (-1.0) /* as a timeout */
struct worker_check {
    const char *model;    /* as model_find takes it; NULL: the last check's, else the target's */
    const char *strategy; /* NULL: likewise */
    const char *checker;  /* NULL: likewise */
    uint64_t budget;      /* 0: no limit */
    uint64_t seed;
    int jobs;                /* 0: one a core */
    double timeout;          /* seconds; 0: the session's, else the default; or WORKER_NO_LIMIT */
    const struct fix *fixes; /* any make it a try (check.h) */
    size_t fix_count;
};
uint32_t worker_check(struct worker *w, const struct worker_check *check);

struct worker_state {
    uint32_t last;        /* NO_OP: nothing survived */
    const uint32_t *lost; /* all ops up to last that did not survive, ascending */
    size_t lost_count;
    uint64_t told_until; /* NEVER: as late as the survivors allow */
    const char *model, *checker;
    double timeout;
    const struct fix *fixes; /* the graph whose ops these are has them pretended */
    size_t fix_count;
};
/* Runs the checker on the state, whatever is known of it, and keeps its verdict. */
uint32_t worker_test(struct worker *w, const struct worker_state *state);

/* The job at hand: holds, goes on, ends early with what was found so far kept. */
void worker_pause(struct worker *w);
void worker_resume(struct worker *w);
void worker_halt(struct worker *w);

#define WORKER_EVENTS(X)                                                                           \
    X(PROGRESS, "progress") /* counts, rate, seconds_left, phase, paused; some 20 a second */      \
    X(STATE, "state")       /* number, verdict, last, behaviour, group: an inconsistent one */     \
    X(BUG, "bug")           /* body: the bug as the report has it, without triage */               \
    X(OUTPUT, "output")     /* text: what the checker printed just now */                          \
    X(VERDICT, "verdict")   /* verdict, exit, signal, seconds: of worker_test; ends the job */     \
    X(DONE, "done")         /* body: the report, with "compared" for a try; ends the job */        \
    X(FAILED, "failed")     /* text: why the job could not be done; ends it */

enum worker_event_kind {
    WORKER_NOTHING,
#define X(id, name) WORKER_##id,
    WORKER_EVENTS(X)
#undef X
};

struct worker_event {
    enum worker_event_kind kind;
    uint32_t job;
    /* PROGRESS */
    struct explore_counts counts; /* as far as they concern those who wait */
    const char *phase;            /* "analysing", "testing": owned by body */
    double rate;                  /* states a second, lately */
    double seconds_left;          /* < 0: nobody knows */
    bool paused;
    /* STATE, VERDICT */
    uint64_t number; /* of the state, from 1: its row in the report's list */
    enum verdict_kind verdict;
    uint32_t last, behaviour, group; /* NO_OP, NO_BEHAVIOUR when there is none */
    int exit, signal;
    double seconds;
    const char *text; /* OUTPUT, FAILED: owned by body; OUTPUT: what is no text is escaped in it */
    size_t text_size;
    json_t *body; /* the whole event; BUG: the bug, DONE: the report */
};

/* The next thing that it said; false when there is none yet. */
bool worker_read(struct worker *w, struct worker_event *out);
void worker_event_clear(struct worker_event *event);

/* The other side: serves requests from one descriptor, answers to another, until the first ends.
 * False when the session cannot be opened. */
bool worker_serve(const char *session, int in, int out, struct error *e);

#endif
