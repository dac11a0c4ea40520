/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of engine/state.h share, and what a scene (engine/scene.h) reads of a state.
 *
 * All changes go through the five functions named "change": they keep the hash, note how to undo
 * the change, and note the step at which the place was touched. Undoing goes through them too, but
 * for the notes. Places touched last are in front of their lists, so that a scene finds what it has
 * not seen yet without looking at anything else.
 */
#ifndef ENGINE_STATE_INSIDE_H
#define ENGINE_STATE_INSIDE_H

#include "engine/map.h"
#include "engine/state.h"
#include "engine/state_block.h"
#include "engine/vec.h"

/* A place in a list by the step it was touched at. The list's own is a head without a place. */
struct touched {
    struct touched *before, *after;
    uint64_t step;
};

#define touched_as(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

enum { LEAF_BLOCKS = 16 };

/* Neighbouring blocks. */
struct state_leaf {
    struct touched touched; /* in the file's list */
    uint64_t first;         /* block, a multiple of LEAF_BLOCKS */
    struct state_block *blocks[LEAF_BLOCKS];
    uint64_t steps[LEAF_BLOCKS]; /* when each was last touched, or came into or out of sight */
};

struct state_file;

/* A name in a directory. Once known it stays, with no file when nothing has the name. */
struct state_entry {
    struct touched touched; /* in the state's list of entries */
    uint32_t index;         /* among all entries */
    struct state_file *dir, *file;
    const char *name;
    struct state_hash name_hash, item;  /* item: what it adds to the directory's sum */
    struct state_entry *before, *after; /* other names of the file */
};

struct state_file {
    struct touched touched; /* in the state's list of files */
    uint32_t index;         /* among all files */
    uint32_t number;
    bool exists; /* false after the op that made it was undone */
    bool linked; /* is in the list of files that had several names */
    bool stale;  /* is in the list of files that changed since the hash was asked for */
    enum file_kind kind;
    uint32_t mode;
    uint64_t born; /* the event that made it; 0 for files of the image */
    uint64_t size;
    char *target;                       /* symbolic links */
    struct state_entry *names;          /* first of its names */
    struct state_hash sum;              /* over the blocks in sight, or over entries */
    vec_of(struct state_leaf *) leaves; /* by first */
    struct touched leaves_touched;
    vec_of(struct state_entry *) entries; /* directories; also those without a file */
    struct map index_of;                  /* name to place in entries, from 1 */
};

enum undo_kind { UNDO_MADE, UNDO_MODE, UNDO_SIZE, UNDO_BLOCK, UNDO_ENTRY, UNDO_APPLIED };

struct undo {
    enum undo_kind kind;
    struct state_file *file; /* UNDO_ENTRY: what the entry stood for */
    uint64_t value;          /* mode, size, block number, op number */
    union {
        struct state_block *block;
        struct state_entry *entry;
    };
    struct state_hash sum; /* UNDO_SIZE, UNDO_BLOCK: of the file, so that undoing reads no bytes */
};

struct state {
    struct state_source source;
    struct state_blocks blocks;
    vec_of(struct state_file *) files;
    struct map numbers; /* a file's number to its place in files, from 1 */
    vec_of(struct state_entry *) entries;
    vec_of(struct state_file *) linked;
    vec_of(struct state_file *) stale;
    vec_of(struct undo) undo;
    vec_of(uint64_t) applied; /* a bit an op */
    struct map births;        /* a file's number to the event that made it */
    bool births_known;
    uint64_t step;
    struct touched files_touched, entries_touched;
    uint64_t linked_step; /* a name of a directory or of a linked file changed last */
    uint64_t links_at;    /* the step for which links is right */
    struct state_hash links;
};

/* Hashes and steps: state_hash.c */

void touched_init(struct touched *head);
void touch_file(struct state *s, struct state_file *f);
void touch_entry(struct state *s, struct state_entry *entry);
void touch_block(struct state *s, struct state_file *f, struct state_leaf *leaf, unsigned slot);

static inline struct state_hash hash_add(struct state_hash a, struct state_hash b)
{
    return (struct state_hash){a.low + b.low, a.high + b.high};
}

static inline struct state_hash hash_subtract(struct state_hash a, struct state_hash b)
{
    return (struct state_hash){a.low - b.low, a.high - b.high};
}

struct state_hash hash_name(const char *name);
struct state_hash hash_block_at(uint64_t block, struct state_hash contents);

/* Whether it takes part in the hash and is laid out: not sockets and devices. */
bool file_shown(const struct state_file *f);

/* What lies above a file is brought up to date when the state's hash is asked for: most of what
 * changes changes again before. A name's change is brought there at once. */
void hash_file_changed(struct state *s, struct state_file *f);
void hash_entry_changed(struct state_entry *entry);

/* Whether a way of names leads from the root to the directory. O(depth). */
bool directory_in_sight(const struct state_file *dir);

/* Contents: state_data.c */

struct state_leaf *leaf_find(const struct state_file *f, uint64_t block);
/* The first leaf that ends behind the block; leaves.n when there is none. */
size_t leaf_from(const struct state_file *f, uint64_t block);

/* How many bytes of a block lie inside the file. */
uint32_t block_in_sight(const struct state_file *f, uint64_t block);

bool change_block(struct state *s, struct state_file *f, uint64_t number, struct state_block *block,
                  struct error *e); /* takes over the reference */
bool change_size(struct state *s, struct state_file *f, uint64_t size, struct error *e);
void undo_block(struct state *s, const struct undo *u);
void undo_size(struct state *s, const struct undo *u);

bool data_write(struct state *s, struct state_file *f, uint64_t offset, uint64_t length,
                uint64_t payload, struct error *e);
bool data_extend(struct state *s, struct state_file *f, uint64_t size, struct error *e);
bool data_resize(struct state *s, struct state_file *f, uint64_t size, struct error *e);
bool data_range(struct state *s, struct state_file *f, const struct event *event, struct error *e);

/* Files and names: state_names.c */

/* The file, made as its event would when nothing did; NULL with an error. */
struct state_file *file_get(struct state *s, uint32_t number, struct error *e);
struct state_file *file_find(const struct state *s, uint32_t number);
struct state_file *file_make(struct state *s, uint32_t number, enum file_kind kind, uint32_t mode,
                             const char *target, uint64_t born);
struct state_entry *entry_find(const struct state_file *dir, const char *name);
void change_mode(struct state *s, struct state_file *f, uint32_t mode);
void change_entry(struct state *s, struct state_entry *entry, struct state_file *f);
void set_entry(struct state *s, struct state_entry *entry, struct state_file *f);
bool name_assign(struct state *s, struct state_file *dir, const char *name, struct state_file *f,
                 struct error *e);
bool name_apply(struct state *s, const struct op *op, struct error *e);

#endif
