/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recording: the session file while a run is being recorded, and the only writer of its trace.
 *
 * Numbers for strings, modules, stacks, files, threads and payloads are given out at once; equal
 * strings, modules, stacks and payloads get equal numbers (small payloads: when they are met again
 * soon). The bytes go to the file from a thread of its own, at least every tenth of a second, in
 * SQLite transactions: when the recorder is killed, the session opens with all but the last moment.
 * Event records go in chunks of EVENTS_PER_CHUNK, payload bytes in packs of PACK_SIZE; both are
 * compressed with zstd, the last one of each being rewritten as it grows.
 *
 * All functions are called from one thread. None of them blocks on the disk, except when more than
 * a bounded amount waits to be written. A failure of the disk does not show until
 * recording_failed() or recording_finish(); the functions go on giving out numbers.
 */
#ifndef ENGINE_RECORDING_H
#define ENGINE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/stream.h"

struct recording;

/* Creates the session file (an existing file is an error unless it is empty or a session, which is
 * then replaced) and starts the writer thread. What was said of the bugs of a session that can be
 * read is carried over. */
bool recording_create(struct recording **out, const char *path, struct error *e);

/* Of how many bugs. */
size_t recording_carried(const struct recording *r);

/* A fact about the run, kept as text under a key. See the table of keys in engine/session.h. */
void recording_meta(struct recording *r, const char *key, const char *value);

uint32_t recording_string(struct recording *r, const void *bytes, size_t size);
uint32_t recording_module(struct recording *r, const char *path, const char *build_id);
uint32_t recording_stack(struct recording *r, const struct frame *frames, size_t n);

/* A new file, never seen before. The first call gives FILE_ROOT. */
uint32_t recording_file(struct recording *r, enum file_kind kind, const char *path);

uint32_t recording_process(struct recording *r, int pid, uint32_t parent);
uint32_t recording_thread(struct recording *r, uint32_t process, int tid);

/* Where these bytes are kept. All zeros gives PAYLOAD_ZEROS. */
uint64_t recording_payload(struct recording *r, const void *bytes, size_t size);

/* The starting image: a file (target only for a symbolic link), its names, its data. */
void recording_image_file(struct recording *r, uint32_t file, enum file_kind kind, uint32_t mode,
                          uint64_t size, const char *target);
void recording_image_name(struct recording *r, uint32_t dir, const char *name, uint32_t file);
void recording_image_extent(struct recording *r, uint32_t file, uint64_t offset, uint64_t size,
                            uint64_t payload);

/* Kinds of notices that say nothing about the files; any other may mean that what is replayed is
 * not what was there. */
#define NOTICE_STACK_CUT "stack cut"
#define NOTICE_REFUSED   "refused so that the program falls back"
#define NOTICE_NO_PART   "call without part in a crash state"

/* Counts something that a reader of the trace must know: kind is a short phrase such as
 * "unsupported call", what names the thing. */
void recording_notice(struct recording *r, const char *kind, const char *what);

/* An event begins: gives its number, from 1, in the order of entries. It counts as unfinished
 * until recording_end(), which replaces the whole record. */
uint64_t recording_begin(struct recording *r, const struct event *event);
void recording_end(struct recording *r, uint64_t number, const struct event *event);

/* An event that begins and ends at once: the same as both, cheaper. */
void recording_instant(struct recording *r, const struct event *event);

/* True when the session can no longer be written; e says why. Cheap: call it per event. */
bool recording_failed(struct recording *r, struct error *e);

/* Events that have begun so far. */
uint64_t recording_events(const struct recording *r);

/* Writes what is left, marks the session complete (unless it failed), makes it durable, frees r. */
bool recording_finish(struct recording *r, struct error *e);

/* Stops without marking the session complete, frees r. With erase the file is removed,
 * unless it is the only place of what was said of an older session's bugs. */
void recording_abandon(struct recording *r, bool erase);

#endif
