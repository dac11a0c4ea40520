/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * triage: what people say of the bugs of a session, and the places in its trace that they marked.
 * It is in the session, on the disk, when the function that says so returns.
 *
 * What is said of a bug belongs to its cause (bug.h), so the next check finds it again whatever
 * number the bug has then; a bug that is not met any more keeps it for the day when it is.
 */
#ifndef ENGINE_TRIAGE_H
#define ENGINE_TRIAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/graph.h"
#include "engine/session.h"

enum triage_status { TRIAGE_NEW, TRIAGE_CONFIRMED, TRIAGE_DUPLICATE, TRIAGE_IGNORED };

const char *triage_status_name(enum triage_status status);
bool triage_status_find(const char *name, enum triage_status *out, struct error *e);

/* bug, duplicate_of: numbers in the report, which is the one that whoever says so has seen: by now
 * the session may have another. The latter only for TRIAGE_DUPLICATE, and then neither the bug
 * itself nor one that is a duplicate of it. */
bool triage_set(struct session *s, const json_t *report, uint32_t bug, enum triage_status status,
                uint32_t duplicate_of, struct error *e);

/* bug: one of a report's. "" takes the note away. */
bool triage_note(struct session *s, const json_t *bug, const char *note, struct error *e);

/* Sets "status", and where there is something "note" and "duplicate_of", in the bugs of a report. A
 * duplicate of one that is not in the report has no duplicate_of. For report_load. */
void triage_merge(struct session *s, json_t *report);

/* Copies what is said of bugs into the database of a session that is to replace this one; *bugs
 * gets of how many. What cannot be read of it is left. False when the other cannot be written:
 * SQLite's error of `to` says why. */
bool triage_carry(struct session *from, struct sqlite3 *to, size_t *bugs);

/* ---- bookmarks ---- */

/* The event itself, and none of its ops. */
#define BOOKMARK_EVENT UINT32_MAX

struct bookmark {
    uint32_t id; /* not used again */
    uint64_t event;
    uint32_t place; /* which of the event's ops, from 0: their numbers change with the model */
    char *text;     /* "" when nothing was said */
};

struct bookmarks {
    struct bookmark *at; /* by event and place */
    size_t n;
};

bool bookmarks_load(struct bookmarks *out, struct session *s, struct error *e);
void bookmarks_free(struct bookmarks *list);

bool bookmark_add(struct session *s, uint64_t event, uint32_t place, const char *text, uint32_t *id,
                  struct error *e);
bool bookmark_remove(struct session *s, uint32_t id, struct error *e);

/* From an op of a graph to what its bookmark says, and back; NO_OP when the graph has no such op.
 */
void bookmark_of_op(const struct graph *g, uint32_t op, uint64_t *event, uint32_t *place);
uint32_t bookmark_op(const struct graph *g, const struct bookmark *b);

#endif
