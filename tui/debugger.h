/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * debugger: a session that somebody looks at. It knows what is shown and does what is asked for,
 * and draws it all on a screen (tui/screen.h) in memory; who brings that to a terminal (tui/loop.h)
 * or writes it down (tui/script.h) is not its business. It never waits: what takes time is done by
 * the worker (engine/worker.h), by threads, or in slices (debugger_work).
 */
#ifndef TUI_DEBUGGER_H
#define TUI_DEBUGGER_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/findings.h"
#include "engine/map.h"
#include "engine/session_keep.h"
#include "engine/triage.h"
#include "engine/walk.h"
#include "engine/walk_states.h"
#include "engine/worker.h"
#include "tui/desk.h"
#include "tui/dump.h"
#include "tui/keymap.h"
#include "tui/keys.h"
#include "tui/prompt.h"
#include "tui/requests.h"
#include "tui/screen.h"
#include "tui/theme.h"
#include "views/export_job.h"
#include "views/graph_picture.h"
#include "views/links.h"
#include "views/help.h"
#include "views/schedule.h"

/* Where one was, to go back to. */
struct place {
    enum desk_id desk;
    uint64_t row;
    struct subject about; /* what the desk was opened for */
    uint64_t other;       /* the second of two behaviours */
};

/* A key in the line at the bottom that can be clicked. */
struct button {
    int left, right;
    enum request request;
};

/* What the worker is at. */
enum task { TASK_NONE, TASK_CHECK, TASK_TRY, TASK_TEST };

/* Where the source of a selection is shown: an event's stack, and which of its frames. */
struct frame_choice {
    uint64_t event;
    uint64_t row; /* in the stack, from 1; 0: not chosen yet */
};

/* The help screen's texts. */
struct help_texts {
    struct help_entry entries[REQUEST_COUNT];
    char *keys[REQUEST_COUNT], *names[REQUEST_COUNT];
};

void help_texts_free(struct help_texts *h);

struct debugger {
    char *path; /* of the session */

    /* What is looked at. session and symbols are there from the beginning; findings when `loading`
     * is done, and the rest with them. */
    struct session *session;
    struct symbols *symbols;
    struct loading *loading; /* NULL: done, or failed */
    char *failed;            /* why there are no findings; NULL: there are, or will be */
    bool loaded;
    struct findings findings;
    char *model;     /* asked for by a person; NULL: the session's */
    char *checking;  /* likewise, of the check that runs or ran last */
    bool pretending; /* the fixes are in the graph */
    struct links *links;
    struct schedule_rows *schedule_rows;
    struct walk *walk;
    struct walk_states *walk_states;
    char *walking; /* what the schedule in hand is: "bug 1", "state 7"; NULL: nothing chosen */
    uint64_t walking_state; /* the state of the last check that it began at, 0: none */
    uint64_t walking_bug;
    char *walking_cause; /* of that bug, whatever number it has now; NULL */
    struct graph_picture *picture;
    bool drawing;        /* it is being laid out */
    bool by_file;        /* it is coloured by file, not by what survived */
    bool transitive;     /* edges that others imply are in it */
    uint32_t picture_op; /* to be selected when it is there; NO_OP */

    /* The worker and what it says. */
    struct worker *worker;
    enum task task;
    uint64_t task_began;          /* clock_now() */
    uint64_t budget;              /* of the check that runs, 0: none */
    bool paused, stopping;        /* as was asked for, whatever it has heard of that yet */
    struct worker_event progress; /* the last of its kind */
    bool has_progress;
    struct buf output;        /* what the checker printed */
    struct verdict verdict;   /* of the state tested last */
    uint64_t verdict_version; /* of the walk then; 0: none */
    uint64_t tested_version;  /* of the walk whose state is being tested */
    json_t *tried;            /* the report of the last try; NULL: none */
    json_t *found;            /* an array: bugs of the check that runs */
    struct bookmarks bookmarks;
    json_t *shown_bugs; /* of the bugs desk while a check runs */
    char *cause;        /* of the bug that was selected last, whatever number it has now; NULL */
    uint64_t cause_row; /* the row that was selected for its sake, or for want of it */

    /* What is shown. */
    struct screen screen;
    struct theme theme;
    char *theme_name;
    struct desk desks[DESK_COUNT];
    enum desk_id desk;
    struct subject about[DESK_COUNT]; /* what each was opened for */
    uint64_t other[DESK_COUNT];
    struct map paths; /* those of subjects that are kept, each once */
    vec_of(struct place) history;
    size_t history_at; /* places before this one lie behind, it and those after it before us */
    struct frame_choice frame;
    char *difference; /* the path of the file whose difference is shown */
    uint64_t version; /* goes up when what companions show may have changed */
    char *message;
    bool is_error;
    char *failure; /* why what a command began has come to nothing, until somebody asks; NULL */
    struct button buttons[DESK_BUTTONS];
    int button_count;
    struct export_job *exporting; /* NULL: no picture is being written */
    struct session_copy *saving;  /* NULL: none is under way */
    struct dump *dumping;         /* NULL: no view is being written */
    struct keymap keymap;
    struct help_texts help;
    struct prompt *prompt;
    int pressing;     /* how deep keys press keys */
    bool by_key;      /* the request under way was a key: what it lacks can be asked for */
    bool interactive; /* there is a terminal: an editor can be called, the clipboard be set */
    bool wants_suspend;
    bool wants_redraw;    /* from scratch */
    char *wants_editor;   /* a file to be edited, then taken for a note on edited_bug */
    json_t *edited_bug;   /* as it was then: meanwhile a check may have numbered them anew */
    struct buf clipboard; /* to be given to the terminal */
};

/* Opens a session and begins to work things out. Fails when it cannot be read. */
bool debugger_new(struct debugger **out, const char *path, const char *theme, int columns, int rows,
                  struct error *e);
/* Does what was begun and asked for: a picture, a view, a copy of the session. False when that
 * fails. */
bool debugger_finish(struct debugger *d, struct error *e);
void debugger_free(struct debugger *d);

/* Something typed or clicked. */
enum after debugger_input(struct debugger *d, const struct input *input);

/* A line of a script or of the prompt. False with what is wrong. */
bool debugger_command(struct debugger *d, const char *line, enum after *after, struct error *e);

/* What the worker and the threads have to say: descriptors to poll, then take. Returns how many. */
enum { DEBUGGER_FDS = 4 };
size_t debugger_fds(struct debugger *d, struct pollfd *fds);
void debugger_take(struct debugger *d);

/* Works until the deadline on what is not done yet. True when something is left. */
bool debugger_work(struct debugger *d, uint64_t deadline);

/* Nothing is under way, not by the worker either. */
bool debugger_is_idle(const struct debugger *d);

/* Whether all that was begun since this was asked last has gone well so far; false with the first
 * thing that did not. */
bool debugger_went_well(struct debugger *d, struct error *e);

/* Draws everything. */
void debugger_draw(struct debugger *d);
void debugger_resize(struct debugger *d, int columns, int rows);

/* ---- for the do_*.c files and the desks ---- */

static inline struct desk *debugger_desk(struct debugger *d)
{
    return &d->desks[d->desk];
}

/* The line at the bottom, until the next key. */
void debugger_say(struct debugger *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void debugger_complain(struct debugger *d, const char *text);
/* The same of what a command began and others, or slices, went on with: a script ends at it. */
void debugger_fail(struct debugger *d, const char *text);
void debugger_hush(struct debugger *d);

/* For a request that lacks its argument: opens the prompt with some text in it when a key was
 * pressed, else fails with how to write it. */
bool debugger_ask(struct debugger *d, enum prompt_kind kind, const char *text, enum request r,
                  struct error *e);

/* Shows a desk; the place before is remembered. `about` may be NULL. */
void debugger_go(struct debugger *d, enum desk_id desk, const struct subject *about);

/* To the place before, and on again; false when there is none. */
bool debugger_back(struct debugger *d);
bool debugger_forward(struct debugger *d);

/* Opens the main view of the desk in sight when it is not, or stale. */
void debugger_open(struct debugger *d);

/* Opens the main views anew when they are looked at next, and the companions with them. */
void debugger_stale(struct debugger *d);

/* What the selected row of the pane in focus is about, or else that of the main pane. False, with a
 * message in the error, when it is nothing. */
bool debugger_subject(struct debugger *d, struct subject *out, struct error *e);

/* The nearest subject of a kind that another leads to, itself included; false when there is none.
 */
bool debugger_lead(struct debugger *d, const struct subject *from, enum subject_kind kind,
                   struct subject *out);

/* The subject of a kind that is meant: given in words ("27", "op:3"), or what the selection leads
 * to. */
bool debugger_find(struct debugger *d, const char *words, enum subject_kind kind,
                   struct subject *out, struct error *e);

/* Fails with the reason when the analysis is not there (yet). */
bool debugger_need_analysis(struct debugger *d, struct error *e);
bool debugger_need_check(struct debugger *d, struct error *e);

/* Whether a check runs whose bugs are listed as they come. They are not in the report yet, where
 * numbers are those of the check before; what needs a bug of the report fails where they are in
 * sight. */
bool debugger_finds(const struct debugger *d);
bool debugger_bugs_are_kept(const struct debugger *d, struct error *e);

/* The bug of that number in the report, NULL when there is none. */
json_t *debugger_bug(const struct debugger *d, uint64_t number);

/* The bug in the selected row of the list is meant from now on: one that is made anew selects it.
 * Not the row that was selected for its sake, or for want of it: while a check runs, its bugs come
 * one by one, and some row is selected until the one that was comes back. */
void debugger_mean_bug(struct debugger *d, const json_t *bug);

/* The number of the bug with that cause (bug.h), which outlives numbers; 0 when there is none. */
uint64_t debugger_bug_of(const struct debugger *d, const char *cause);

/* The part of the graph that fits a subject, with marks of the schedule in hand; the caller frees
 * it. */
bool debugger_subgraph(struct debugger *d, const struct subject *s, struct subgraph **out,
                       struct error *e);

/* Has the graph of a subject laid out; SUBJECT_NONE: that of the whole run. */
bool debugger_picture(struct debugger *d, const struct subject *s, struct error *e);

/* Makes a bug's or a state's schedule the one in hand. */
bool debugger_walk_bug(struct debugger *d, uint64_t bug, struct error *e);
bool debugger_walk_state(struct debugger *d, uint64_t state, struct error *e);
/* Everything issued up to an op survived. */
void debugger_walk_prefix(struct debugger *d, uint32_t last);

/* After a move of the schedule in hand: says what it did, and shows where it stands. */
void debugger_walked(struct debugger *d);

/* Begins to work the run out again, after a change of model or fixes. */
void debugger_reload(struct debugger *d);

/* Goes on with another file of the same session, and as if it had been opened there. */
bool debugger_move(struct debugger *d, const char *path, struct error *e);

/* Writes the view in focus to a file: what takes long goes on in slices, but for a script, which
 * would wait for it. */
bool debugger_dump(struct debugger *d, const char *path, struct error *e);

/* Reads the report, the triage and the fixes again. */
bool debugger_refresh(struct debugger *d, struct error *e);

/* A subject that may be kept: its path is ours. */
struct subject debugger_keep(struct debugger *d, const struct subject *s);

#endif
