/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lint: work that a program does for durability and could leave out, or leaves out and perhaps
 * should not, from the trace alone: no checker, no crash states. One pass over the events
 * (engine/lint_pass.h); what it finds is then put together by source line.
 *
 * What counts as waste depends on what a flush of a cache line means (DESIGN.md, section 5):
 *   px86        persistent memory: flushes and fences make stores durable
 *   eadr        persistent caches: a store is durable at once, flushes do nothing
 *   pagecache   an ordinary file: the kernel writes pages back, flushes do nothing
 * When in doubt nothing is reported: a finding can be acted on without looking for exceptions.
 */
#ifndef ENGINE_LINT_H
#define ENGINE_LINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/interrupt.h"
#include "engine/session.h"
#include "engine/symbols.h"

/* X(ID, NAME, WORDS): the name is for scripts, the words are for people. */
#define LINT_KINDS(X)                                                                              \
    X(FLUSH_CLEAN, "flush-clean", "flush of a clean line")                                         \
    X(FLUSH_TWICE, "flush-twice", "flush of a line that is being flushed")                         \
    X(FLUSH_USELESS, "flush-useless", "flush that does nothing here")                              \
    X(FENCE_NOTHING, "fence-nothing", "fence with nothing to order")                               \
    X(SYNC_CLEAN, "sync-clean", "sync with nothing to make durable")                               \
    X(NEVER_DURABLE, "never-durable", "store that is never made durable")                          \
    X(ADDED_TWICE, "added-twice", "range added again to a transaction")

enum lint_kind {
#define X(id, name, words) LINT_##id,
    LINT_KINDS(X)
#undef X
        LINT_KIND_COUNT
};

const char *lint_kind_name(enum lint_kind k);
const char *lint_kind_words(enum lint_kind k);

enum lint_stores { LINT_AUTO, LINT_PX86, LINT_EADR, LINT_PAGECACHE };

const char *lint_stores_name(enum lint_stores s);

/* A model for stores by its name; false, with those that there are, when it is none. */
bool lint_stores_find(const char *name, enum lint_stores *out, struct error *e);

/* The same thing at the same place in the source, however often. */
struct lint_finding {
    enum lint_kind kind;
    uint64_t count;
    uint64_t event; /* the first one */
    uint32_t stack; /* the first one's */
};

struct lint {
    struct lint_finding *at; /* the most frequent first */
    size_t n;
    enum lint_stores stores; /* what was assumed, never LINT_AUTO */
};

struct lint_options {
    enum lint_stores stores;           /* LINT_AUTO: px86 for a program that flushes lines */
    bool by_stack;                     /* one finding a stack, not one a source line */
    const struct interrupt *interrupt; /* looked at meanwhile; NULL: nobody asks */
};

/* The model for stores that the session's config names, if it does. */
bool lint_options_of(struct session *s, struct lint_options *o, struct error *e);

/* O(n log n) in the events. lint_free() frees what there is after a failure too. */
bool lint_session(struct lint *out, struct session *s, struct symbols *sy,
                  const struct lint_options *options, struct error *e);
void lint_free(struct lint *l);

/* One sentence on what was assumed. */
const char *lint_assumption(const struct lint *l);

#endif
