/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * litmus: a few calls in a readable notation, made into events as if a run of them had been
 * recorded. For people who ask "is this safe on ext4?", and for tests.
 *
 *     file a 8192 'O'            there is a file before the run: 8192 bytes of O
 *     dir d                      and a directory
 *     create a                   open with O_CREAT; O_TRUNC when it is there
 *     pwrite a 0 4096 'x'        4096 bytes of x at offset 0; `dsync` or `sync` at the end: O_DSYNC …
 *     append a 100 'y'           the same at the end of the file
 *     truncate a 100             fallocate a 0 4096 [keep | punch | zero]
 *     mkdir d   rmdir d   unlink a   link a b   rename a b   symlink target a
 *     fsync a   fdatasync a   fsync .   sync   sync_file_range a [0 4096]
 *     print done                 what the world is told: states after it are marked
 *
 * One call a line; # begins a comment. Paths are relative, with / between names.
 */
#ifndef ENGINE_LITMUS_H
#define ENGINE_LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/graph.h"
#include "engine/stream.h"

struct litmus;

/* name is for messages, which say the line. The caller frees *out with litmus_free. */
bool litmus_parse(struct litmus **out, const char *text, const char *name, struct error *e);
void litmus_free(struct litmus *l);

size_t litmus_events(const struct litmus *l);
const struct event *litmus_event(const struct litmus *l, uint64_t number);

/* The line that an event came from, as written, without its comment. */
const char *litmus_line(const struct litmus *l, uint64_t number);

const char *litmus_string(const struct litmus *l, uint32_t id);

/* size bytes of a payload from `from` on. */
void litmus_payload(const struct litmus *l, uint64_t payload, uint64_t from, void *out,
                    size_t size);

/* The starting image: files are numbered from FILE_ROOT on; a file has one name. */
struct litmus_file {
    uint32_t file, dir;
    const char *name;
    enum file_kind kind;
    uint64_t length;
    char fill;
};
size_t litmus_files(const struct litmus *l, const struct litmus_file **out);

/* The events and the image as a graph wants them; lives as long as the litmus. */
const struct graph_source *litmus_source(const struct litmus *l);

#endif
