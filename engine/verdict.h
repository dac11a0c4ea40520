/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * verdict: what a checker said of a crash state, and the session's table of them.
 *
 * A verdict belongs to an image, to what had been printed and marked by then, and to a checker: an
 * empty directory is fine before "saved" was printed and a bug after. No such key is checked twice,
 * within a check or from one to the next; a check that was stopped goes on where it was.
 */
#ifndef ENGINE_VERDICT_H
#define ENGINE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/session.h"
#include "engine/state.h"

enum verdict_kind {
    VERDICT_NOT_RUN,
    VERDICT_CONSISTENT,
    VERDICT_INCONSISTENT,
    VERDICT_CRASHED, /* the checker died of a signal */
    VERDICT_HUNG,    /* it ran out of time */
};

const char *verdict_name(enum verdict_kind kind);

struct verdict {
    enum verdict_kind kind;
    int exit;      /* status, when it exited */
    int signal;    /* when it was killed, else 0 */
    double seconds;
    char *output; /* what was kept of it; the caller frees it with verdict_clear */
};

void verdict_clear(struct verdict *v);

/* Anything but consistent. */
static inline bool verdict_is_bad(const struct verdict *v)
{
    return v->kind > VERDICT_CONSISTENT;
}

struct verdict_key {
    uint64_t words[4];
};

/* acknowledged: a hash of what had been printed and marked; 0 when verdicts do not depend on it. */
struct verdict_key verdict_key(struct state_hash image, uint64_t acknowledged, const char *checker);

struct verdicts;

/* The session must be writable. */
bool verdicts_open(struct verdicts **out, struct session *session, struct error *e);

/* Writes what is left and frees it. */
bool verdicts_close(struct verdicts *v, struct error *e);

/* False when there is none. */
bool verdicts_find(struct verdicts *v, const struct verdict_key *key, struct verdict *out);

/* Kept on the disk within a moment, as long as verdicts_flush_old is called now and then. */
bool verdicts_add(struct verdicts *v, const struct verdict_key *key, const struct verdict *verdict,
                  struct error *e);

/* Makes everything added so far durable; the second only when some of it has waited for a moment. No
 * lock is held but within a call. */
bool verdicts_flush(struct verdicts *v, struct error *e);
bool verdicts_flush_old(struct verdicts *v, struct error *e);

#endif
