/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lint_pass: the one pass over a trace that engine/lint.h is made from. Events are handed to it in
 * their order; it hands on what it finds.
 *
 *   flush-clean     nothing was stored to the line since it was last flushed, which is done
 *   flush-twice     likewise, but that flush waits for a fence of the same thread
 *   fence-nothing   SFENCE or MFENCE: since the thread's fence before it made no flush but of clean
 *                   lines, and no non-temporal store
 *   sync-clean      fsync, fdatasync, msync(MS_SYNC), sync, syncfs: no page, size, name or mode
 *                   that it covers has changed since the last that covered it
 *   never-durable   after the store no sync covered it, nor was its line flushed (for each line
 *                   that it touches) by a thread that then made a fence; a non-temporal one: nor
 *                   did its thread make a fence
 *   added-twice     every byte of the range was added to the same transaction before
 *
 * CLFLUSH makes durable by itself; a fence after it counts as one that orders something all the
 * same, since programs use the two together. Locked instructions are fences but never a finding.
 * What one system call stores (STORE_KERNEL) dirties lines and pages but is not held to be made
 * durable.
 */
#ifndef ENGINE_LINT_PASS_H
#define ENGINE_LINT_PASS_H

#include "engine/lint.h"
#include "engine/stream.h"

struct lint_pass;

/* stores as in lint_options. has_stores: whether stores are events in this trace; if not, files
 * that are mapped to be written count as changed all the time. found is called for each finding,
 * with the event's number; never-durable stores come at the end. */
struct lint_pass *lint_pass_new(enum lint_stores stores, bool has_stores,
                                void (*found)(void *data, enum lint_kind kind, uint64_t event),
                                void *data);

void lint_pass_take(struct lint_pass *p, uint64_t number, const struct event *event);

/* The trace is over. The model that fits what was seen: LINT_AUTO is decided here. Under pagecache
 * fences mean nothing: findings of them are the caller's to leave out. */
enum lint_stores lint_pass_end(struct lint_pass *p);
void lint_pass_free(struct lint_pass *p);

#endif
