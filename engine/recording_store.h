/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recording_store: the disk's side of a recording: batches of rows, event chunks and payload packs
 * go into the session file, one SQLite transaction each, so that a reader never sees an event
 * without what it refers to. Used by the writer thread of engine/recording.c alone.
 *
 * Transactions are atomic against a kill of the process, not against a power failure, until
 * store_finish() makes everything durable at once: a recording that syncs would slow the program
 * down that it records.
 */
#ifndef ENGINE_RECORDING_STORE_H
#define ENGINE_RECORDING_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "engine/stream.h"
#include "engine/vec.h"

/* The tables that are written row by row. */
enum row_kind {
    ROW_META,
    ROW_STRING,
    ROW_MODULE,
    ROW_STACK,
    ROW_FILE,
    ROW_PROCESS,
    ROW_THREAD,
    ROW_IMAGE_FILE,
    ROW_IMAGE_NAME,
    ROW_IMAGE_EXTENT,
    ROW_NOTICE,
    ROW_KIND_COUNT
};

/* One column of a row. */
struct field {
    enum field_kind { FIELD_NUMBER, FIELD_TEXT, FIELD_BLOB, FIELD_NULL } kind;
    int64_t number;    /* FIELD_NUMBER */
    const void *bytes; /* FIELD_TEXT, FIELD_BLOB */
    size_t size;
};

/* What one transaction writes. Chunks and packs replace earlier versions of themselves. */
struct batch {
    struct buf rows; /* by batch_row() */
    vec_of(struct batch_chunk {
        uint64_t first;
        size_t count;
        struct event *records;
    }) chunks;
    vec_of(struct batch_pack {
        uint64_t number;
        size_t size;
        uint8_t *bytes;
    }) packs;
};

/* Appends a row; the bytes are copied. The fields are the table's columns in order. */
void batch_row(struct batch *b, enum row_kind kind, const struct field *fields, size_t n);
void batch_free(struct batch *b);

struct store;

/* Creates the file, replacing an older session but nothing else. What was said of the older one's
 * bugs is in it from the first moment (triage_carry). */
bool store_create(struct store **out, const char *path, struct error *e);

/* Of how many bugs. */
size_t store_carried(const struct store *s);

/* After a failure nothing more may be written; what was written before stays, and e says how much
 * that is. */
bool store_write(struct store *s, const struct batch *b, struct error *e);

/* Marks the session complete and makes all of it durable. */
bool store_finish(struct store *s, struct error *e);

/* With erase the file is removed, unless that would lose what was carried over. */
void store_close(struct store *s, bool erase);

#endif
