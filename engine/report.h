/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report: what a check found, as the JSON document of the contract ("flotsam report --format
 * json"), kept in the session when the check ends. Everything else that is printed of it (text,
 * SARIF, JUnit) is made from that document, on any machine, without working anything out again.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include <jansson.h>

#include "engine/bug.h"
#include "engine/buf.h"

struct report_times {
    double analyse, check; /* wall seconds */
};

/* The document; the caller owns it. */
json_t *report_build(struct analysis *a, struct exploration *x, const struct bugs *bugs,
                     const struct explore_options *options, const struct report_times *times);

/* One bug of it; the caller owns it. */
json_t *report_bug(struct analysis *a, struct exploration *x, const struct bug *b);

/* Keeps it in the session, with what is needed to make each bug's state again, and all states that
 * were met. That of a try of pretended syncs is kept beside it until the next check. */
bool report_store(const json_t *report, const struct bugs *bugs, const struct analysis *a,
                  const struct exploration *x, struct error *e);
bool report_store_try(const json_t *report, struct session *s, struct error *e);

/* The session's report; an error when it has not been checked yet. The caller owns it. */
json_t *report_load(struct session *s, struct error *e);

/* That of the last try since the last check, NULL when there was none; "compared" tells what became
 * of the check's bugs (report_compare). The caller owns it. */
json_t *report_load_try(struct session *s);

/* report_compare.c: what became of the bugs of one report in another, by their causes:
 *   { "complete": whether the later one left nothing out,
 *     "bugs": [ { "id", "outcome", "states", "states_now", "now": id in the later one, or null } ],
 *     "new": [ ids in the later one ] }
 * outcome: "gone"; "still" there by the same cause; "changed": what came too early still does, but
 * something else is lost; "unknown": not met again, but not everything was gone through. The caller
 * owns it. */
json_t *report_compare(const json_t *before, const json_t *now);

/* One op as the contract has it; stack: with its stack. The caller owns it. */
json_t *report_op(struct analysis *a, uint32_t op, bool stack);
/* The same of an event that made no op: a sync, an acknowledgement. */
json_t *report_event(struct analysis *a, uint64_t event, bool stack);
/* Sets what is known of the field that a store wrote: field, type, stored, instance, confidence.
 * Nothing when the event is no store or nothing is known; f may be NULL. */
void report_field(json_t *out, const struct fields *f, uint64_t event);
/* Sets the object whose stores a behaviour is: type, instance and path; nothing for a function. */
void report_object(json_t *out, struct analysis *a, const struct behaviour *b);
const char *report_op_kind(const struct op *op); /* name, size, alloc, data, zero, range,
                                                      store */

/* Text from anywhere as JSON: what is no text is escaped as it would be on a screen. */
json_t *report_string(const char *bytes);

/* A way to print a report. Adding one is a file and a line in the table. */
struct report_format {
    const char *name;
    void (*print)(const json_t *report, struct buf *out);
};
/* NULL with the known names in the error. */
const struct report_format *report_format_find(const char *name, struct error *e);

/* One bug in full, as text that a maintainer would take for a bug report. */
void report_bug_text(const json_t *report, const json_t *bug, struct buf *out);

extern const struct report_format report_text, report_json, report_sarif, report_junit;

/* What is needed to make a state again. */
struct report_state {
    uint32_t last;
    uint32_t *lost; /* all ops up to last that did not survive; the caller frees it */
    size_t lost_count;
    uint64_t told_until;
    char *model; /* whose op numbers they are; the caller frees it */
};
bool report_bug_state(struct session *s, uint32_t bug, struct report_state *out, struct error *e);

/* The states of the last check are numbered from 1 in the order in which they were met. */
struct report_listed {
    struct report_state state; /* lost: only those that nothing else lost comes before */
    uint32_t behaviour, group; /* NO_BEHAVIOUR, NO_OP */
    enum verdict_kind verdict;
};
uint64_t report_state_count(struct session *s);
bool report_listed_state(struct session *s, uint64_t number, struct report_listed *out,
                         struct error *e);
/* The next (+1) or previous (−1) one after number `from` that is not consistent; 0: none. Reads no
 * further than that. */
uint64_t report_next_bad(struct session *s, uint64_t from, int step);
void report_state_clear(struct report_state *state);

/* Whether a state that a session holds can be one of that graph. */
bool report_state_fits(const struct report_state *state, const struct graph *g);

/* Lays a state out in a directory, which is made or must be empty. */
bool report_lay_out(struct session *s, const struct report_state *state, const char *dir,
                    struct layout_counts *counts, struct error *e);

#endif
