/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session_keep: what people say of a session is kept in it; and when that cannot be, since the file
 * is gone or read-only, all of it can be copied to another, as long as it is open.
 */
#ifndef ENGINE_SESSION_KEEP_H
#define ENGINE_SESSION_KEEP_H

#include "engine/session.h"

/* Whether its file still is where it was opened; false with the way out. */
bool session_is_there(struct session *s, struct error *e);

/* Whether something can be kept, as far as that can be told beforehand. False with the reason and
 * the way out. */
bool session_can_keep(struct session *s, struct error *e);

/* Why SQLite has just refused to write, and the way out. Returns false. */
bool session_not_kept(struct session *s, struct error *e);

/* A copy under way, of the session as it is, whether or not its file still has a name. */
struct session_copy;

/* The file must not be there yet. */
bool session_copy_start(struct session_copy **out, struct session *s, const char *path,
                        struct error *e);

/* Goes on until the deadline (clock_now()); *done: all of it is in the file, and durable. */
bool session_copy_work(struct session_copy *c, uint64_t deadline, bool *done, struct error *e);

const char *session_copy_path(const struct session_copy *c);

/* Frees it. What is not done is removed. */
void session_copy_end(struct session_copy *c);

#endif
