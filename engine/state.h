/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * state: the files that a set of ops leaves behind, in memory. It begins as the starting image; ops
 * are applied in the order in which they were issued and undone back to any earlier mark, so that
 * moving between neighbouring schedules costs what differs between them.
 *
 * What an op does:
 * - Every name op says what the entries it is about become, whatever they were: a creation or link
 *   makes its entry stand for its file, an unlink or rmdir empties it, a rename empties the old one
 *   and makes the new one stand for the file, an exchange makes each stand for the other's file.
 *   So it never fails for want of what a model let be lost before it:
 *     the directory has no name        the entry is kept, and shows when the directory does
 *     the file was never created       it is there with the kind, mode and target it was created
 *                                      with (and, moved in, with what it brought)
 *     the entry stands for another     that file loses this name
 *     the entry is empty already       it stays so
 *     a directory has a name elsewhere the old one goes: a directory has one
 *     a directory would lie in itself  nothing changes
 *     a removed directory has entries  they go out of sight with it
 *     it is created a second time      (an original and its copy) its mode and contents stay
 * - OP_SIZE sets the length, and data beyond it is gone for good, also what was hidden.
 * - OP_DATA, OP_STORE and OP_ZERO change bytes; those beyond the length are kept out of sight until a length
 *   covers them. OP_ALLOC changes no bytes. With OP_EXTENDS the length grows to at least op.size.
 * - OP_RANGE does what its fallocate did. Collapsing shortens the file by what of the range lies
 *   inside it; inserting lengthens it unless it happens beyond the end.
 * - OP_CARRIED: nothing happens when the original, or another copy of it, was applied.
 * - OP_REPLACED: the entry that a rename gives its file is emptied, unless that was applied.
 * Contents belong to the file, whatever its names; files without names are kept.
 *
 * Memory: blocks are shared and never changed, and know where their bytes are kept; the bytes
 * themselves are only cached. A state costs some hundred bytes a block of the image or of an op.
 *
 * Making a state reads all of the starting image once, for its hash. Applying and undoing cost
 * O(what changes × depth of the directories). Not safe for several threads at once.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "engine/layout.h"
#include "engine/op.h"
#include "engine/session.h"
#include "engine/stream.h"

/* Where events, strings, bytes and the starting image come from: a session or a litmus program.
 * Each works as the function of engine/session.h that has a like name. */
struct state_source {
    void *data;
    uint64_t events; /* numbered from 1 */
    bool (*event)(void *data, uint64_t number, struct event *out, struct error *e);
    const char *(*string)(void *data, uint32_t id);
    bool (*payload)(void *data, uint64_t payload, uint64_t from, void *out, size_t size,
                    struct error *e);
    bool (*image)(void *data, const struct image_visitor *visitor, void *visitor_data,
                  struct error *e);
    enum file_kind (*kind)(void *data, uint32_t file); /* of a file that was moved in */
};

/* A session as source. It must stay open as long as states use it. */
struct state_source state_session_source(struct session *s);

struct state;

/* The starting image. */
bool state_new(struct state **out, const struct state_source *source, struct error *e);
void state_free(struct state *s);

/* Applies op `number` of the graph. Fails only when the session cannot be read or is damaged; the
 * state is as before then. */
bool state_apply(struct state *s, const struct op *op, uint32_t number, struct error *e);

/* A place to come back to. state_undo takes back everything applied since and cannot fail. */
size_t state_mark(const struct state *s);
void state_undo(struct state *s, size_t mark);

/* What a program could see: names, kinds, modes, lengths, contents, targets, and which names are
 * one file. Equal for equal files, however they came about; sockets and devices do not count, since
 * they are not laid out. */
struct state_hash {
    uint64_t low, high;
};
struct state_hash state_hash(struct state *s);

/* Every name that a program could see, parents first, otherwise in the order of bytes. path is from
 * the data directory, "" for itself. Returning false stops the walk, which returns false then. */
struct state_name {
    const char *path;
    uint32_t file;
    enum file_kind kind;
    uint32_t mode;
    uint32_t names;     /* how many of its names can be seen */
    uint64_t size;      /* regular files */
    const char *target; /* symbolic links, else NULL */
};
bool state_walk(struct state *s, bool (*visit)(void *data, const struct state_name *name),
                void *data);

/* The order of a walk: by bytes, but a directory's own come right after it. */
int state_compare_paths(const char *a, const char *b);

/* The same walk in slices: each works until clock_now() reaches the deadline, or a little longer;
 * *done when every name was visited. The state must not change between them. */
struct state_tour;
struct state_tour *state_tour_new(struct state *s);
void state_tour_free(struct state_tour *t);
bool state_tour_go_on(struct state_tour *t, uint64_t deadline,
                      bool (*visit)(void *data, const struct state_name *name), void *data,
                      bool *done);

/* What a walk would visit under a path; false when nothing. O(length of the path). */
bool state_find(struct state *s, const char *path, struct state_name *out);

/* The first name of a file that a walk would visit, written to a path that the caller frees.
 * O(names of the file). Not for the data directory itself. */
bool state_find_file(struct state *s, uint32_t file, struct buf *path, struct state_name *out);

/* Copies bytes of a regular file; zeros beyond its end. */
bool state_read(struct state *s, uint32_t file, uint64_t offset, void *out, size_t size,
                struct error *e);

/* Whether two regular files hold the same bytes, by their hashes: of two states of one source, or of
 * one. O(1). */
bool state_same_contents(const struct state *a, uint32_t file, const struct state *b,
                         uint32_t other);

/* Lays the state out in a directory, which is made when it is not there and must be empty. As
 * tree_lay_out, whose rules hold here: nothing outside is touched, no link is followed. */
bool state_lay_out(struct state *s, const char *dir, struct layout_counts *counts, struct error *e);

#endif
