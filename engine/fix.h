/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fix: syncs that the program did not make, pretended to see which bugs they would mend (what one
 * does is told in graph.h). A session keeps a list of them, which is on the disk when a function
 * that changes it returns; a session that never had one, or cannot be written, is as good as any to
 * read from.
 */
#ifndef ENGINE_FIX_H
#define ENGINE_FIX_H

#include <jansson.h>

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/session.h"

/* A session's list, in the order in which they were added. */
struct fix_list {
    struct fix *at;
    uint32_t *ids; /* of each one: what fix_remove takes. Numbers are not used again */
    size_t n;
};

bool fixes_load(struct fix_list *out, struct session *s, struct error *e);
void fixes_free(struct fix_list *list);

/* Fails when it makes no sense, is in the list already, or the session cannot be written. */
bool fix_add(struct session *s, const struct fix *fix, uint32_t *id, struct error *e);
bool fix_remove(struct session *s, uint32_t id, struct error *e);

/* Several, all or none; those that are in the list already stay as they are. *added: how many were
 * not. */
bool fixes_add(struct session *s, const struct fix *fixes, size_t n, size_t *added,
               struct error *e);

/* Whether the session's program could have made that sync there: the event has returned, and the
 * file is one that can be synced. */
bool fix_valid(struct session *s, const struct fix *fix, struct error *e);

/* "fdatasync" and so on to a call of struct fix; an error names those that there are. */
bool fix_call_find(const char *name, uint16_t *call, struct error *e);

/* "pretended fsync of log after event 22". Names come as they are in the session: to be escaped. */
void fix_words(struct buf *out, struct session *s, const struct fix *fix);

/* {"after": 22, "call": "fsync", "path": "log", "file": 3}; the caller owns it. And back: false
 * when it is none. */
json_t *fix_json(struct session *s, const struct fix *fix);
bool fix_from_json(const json_t *json, struct fix *out);

/* Whether an array of these is the list, in whatever order. */
bool fixes_are(const struct fix_list *list, const json_t *fixes);

#endif
