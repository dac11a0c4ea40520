/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What graph_build.c (the passes, syncs), graph_ops.c (what calls on contents become),
 * graph_names.c (changes of names), graph_commits.c (what comes with a commit) and graph_stores.c
 * (stores to mapped files) share. Nothing else includes it.
 */
#ifndef ENGINE_GRAPH_INSIDE_H
#define ENGINE_GRAPH_INSIDE_H

#include "engine/graph.h"
#include "engine/map.h"
#include "engine/vec.h"

/* A truncation: blocks of older epochs from `block` on are free. */
struct cut {
    uint32_t epoch;
    uint64_t block;
};

/* A name op, and an entry that it made stand for a file. */
struct given_name {
    uint32_t op, dir, name;
};

/* A size that waits for data from `offset` on. */
struct growth {
    uint32_t size;
    uint64_t offset;
};

/* Changes of an inode: the last, and of those before it the last that had returned when it came and
 * all that had not. */
struct changes {
    uint32_t last, returned;
    vec_of(uint32_t) running;
};

/* A sync of a file, or of everything, by when and over which ops it went: those before `ops`. */
struct last_sync {
    uint32_t ops;
    uint64_t entry, exit;
};

/* Contents, and how many of the names and truncations were made before it. */
struct waiting {
    uint32_t op, before;
};

/* What the pass knows of an inode. Op numbers are NO_OP when there is none. */
struct inode {
    bool known;
    uint64_t length;
    uint32_t epoch;                  /* goes up with each truncation */
    vec_of(struct cut) cuts;         /* ascending in both members */
    uint32_t created;                /* the name op that made it */
    uint32_t last_name;              /* the last name op on it, or on an entry of it */
    vec_of(struct given_name) names; /* name ops that gave it a name, some of them gone since */
    uint32_t sized;                  /* the last alloc or size */
    vec_of(uint32_t) new_data; /* data that comes with its allocation, since a rename over a file */
    uint32_t resized;          /* the last size that a truncation set */
    vec_of(struct growth) growths; /* sizes since then, where they wait for data, */
    size_t growths_gone;           /* of which so many, at the front, are dealt with */
    uint32_t flying;               /* the last data op, where sizes go with any data, */
    bool flying_more;              /* and whether there are others since the last sync; */
    uint32_t filled;               /* the op before which zeros filled the last block */
    struct changes changed;        /* ops that surely dirtied the inode, */
    struct changes changed_data;   /* and those of them that fdatasync cares for */
    uint32_t synced;               /* ops of its contents before this one are durable */
    uint32_t synced_at;       /* where names are carried: the last sync of it came before this op */
    bool directory;           /* an entry of it was changed */
    vec_of(uint32_t) entries; /* of a directory: name ops since it was last synced, */
    uint32_t logged;          /* and where names are carried: some were before this op */
    vec_of(uint32_t) contents;      /* where names are carried: ops since it was last synced */
    vec_of(struct waiting) waiting; /* likewise: of those, what no sync has logged yet */
    uint64_t logging;      /* until then what is written may be logged by a sync that runs, */
    uint32_t logged_after; /* and waits for so many names and truncations only */
    struct last_sync last_sync;
    vec_of(uint32_t) dirty; /* cells (graph_stores.c) stored to since they were last msynced */
    bool written;           /* by write() and the like, since the run began */
};

/* A sync, as found on the way; applied when all ops are known. */
struct sync_point {
    uint64_t entry, exit;
    uint32_t file;    /* whose contents; 0: everything */
    uint32_t journal; /* the last op of the journal that it commits; NO_OP */
    bool ranged;      /* of a part of the file, which is covered already */
};

/* Where stores keep their order: a cache line, or a page or sector of the page cache. */
struct cell {
    uint64_t place; /* its number in the file, */
    uint32_t file;
    uint32_t first, count; /* the ops of the last store to it; non-temporal ones aside */
    uint32_t words[8];     /* of a line: the last op on each 8 bytes */
    bool dirty;            /* is among the inode's */
};

/* What waits for a thread's next fence. */
struct unfenced {
    vec_of(uint32_t) ops; /* non-temporal stores, and what its flushes found in their lines */
};

/* Names that go past the journal. */
struct carrying {
    const uint32_t *names;
    size_t n;
    const uint32_t *contents; /* they wait for these */
    size_t contents_n;
    uint32_t after; /* and for this copy, NO_OP */
    bool durable;   /* when the event returns; or they are in the log, until something is synced */
};

struct builder {
    struct model model;
    const struct graph_source *source;
    struct event event; /* at hand, */
    uint64_t number;    /* and its number */
    bool own_sync;      /* the event is a synced write */
    vec_of(struct op) ops;
    vec_of(uint64_t) issued;
    vec_of(uint64_t) returned;   /* exit of the event */
    vec_of(uint64_t) covered;    /* the earliest sync that covers it by itself; NEVER */
    vec_of(uint32_t) journal_at; /* the last entry of the journal when it was issued, or itself */
    struct map copies;           /* op → its last copy that a sync carried */
    vec_of(uint32_t) carried;    /* all copies; */
    uint32_t newest;             /* the one, made at a call, of what went into the log last, */
    uint32_t newest_since;       /* which was before this op */
    uint32_t synced;             /* ops before this one are durable */
    vec_of(uint32_t) first;
    vec_of(struct graph_edge) edges;
    vec_of(struct inode) inodes; /* by file number */
    size_t file_count;           /* how many there were, when they are forgotten */
    struct map blocks;           /* struct block_key → see graph_ops.c */
    struct map entries;          /* struct entry_key → last name op + 1 */
    struct map cell_of;          /* where stores keep their order: see graph_stores.c */
    vec_of(struct cell) cells;
    vec_of(struct unfenced) threads; /* by number */
    vec_of(uint8_t) stores_of;       /* enum model_stores of each file, once it is looked for */
    unsigned stores;                 /* as in struct graph */
    uint32_t last_call;              /* the last op that is not a store's */
    uint32_t journal;                /* the last op in the journal */
    vec_of(uint32_t) resizes; /* for which the next name waits, though they are not in there */
    vec_of(uint32_t) order; /* where names are carried: names and truncations as they were made, */
    vec_of(uint32_t)
        last_names; /* up to each of them the last name, one more than its place, or 0 */
    size_t settled; /* of which those before this one are on the disk, */
    vec_of(struct waiting) late; /* and contents that wait for some of them */
    struct last_sync last_sync;
    vec_of(struct sync_point) syncs;
    vec_of(struct placed_fix) fixes; /* by position */
    size_t next_fix;                 /* those before are made */
};

struct inode *builder_inode(struct builder *b, uint32_t file);

/* A new op of the event at hand; edges into it follow before the next one. */
uint32_t builder_op(struct builder *b, struct op op);
void builder_edge(struct builder *b, uint32_t from, enum model_rule rule);

/* Edges into an op are edges.at[first.at[op]] up to this one. */
uint32_t builder_edges_end(const struct builder *b, uint32_t op);

/* The op goes into the journal now, after what is there. */
void builder_into_journal(struct builder *b, uint32_t op);

/* Notes a change that surely dirtied the inode, and whether fdatasync cares for it. */
void builder_changed(struct builder *b, struct inode *inode, uint32_t op);
void builder_changed_name(struct builder *b, struct inode *inode, uint32_t op);

/* The ops of the event at hand. */
void builder_contents(struct builder *b); /* write, copy, truncate, fallocate, open with O_TRUNC */
void builder_names(struct builder *b);
/* Of a fallocate: whether it moves or frees blocks, and whether it moves those behind its range. */
bool builder_changes_range(const struct event *e);
bool builder_shifts(const struct event *e);
/* Copies of name ops that a sync carries past the journal, in order, after copies of those that
 * made their directories and files and that changed the same entries before. */
void builder_carry_names(struct builder *b, const struct carrying *c);
/* Whether the entry still is what the op made it. */
bool builder_is_current(const struct builder *b, const struct given_name *name);
/* The blocks of a synced write are no longer new. */
void builder_settle(struct builder *b, uint32_t op);

/* The op at hand is a store into a block: it waits for what the block's place on the disk waits
 * for, and, when that came after op `since`, for the last change of the block that was no store.
 * Returns whether the block was there before. */
bool builder_store_into(struct builder *b, uint32_t file, uint64_t block, uint32_t since);
/* The last change of a block that was no store; NO_OP. */
uint32_t builder_block_last(struct builder *b, uint32_t file, uint64_t block);

/* What comes with a commit: a name or truncation that was made; contents that wait for those so
 * far; that a sync at hand may log a file's contents; at the end of the trace, that nothing logs
 * what still waits; and, when it is known what syncs cover, the edges that follow. */
void builder_committed(struct builder *b, uint32_t op);
void builder_await_commit(struct builder *b, uint32_t op);
void builder_logged(struct builder *b, uint32_t file);
void builder_never_logged(struct builder *b);
void builder_commits(struct builder *b);

/* Stores: the ops of a store, what flushes and fences make durable, what msync() does with the
 * contents of its range, and that the op at hand changes bytes which were stored to before. */
bool builder_find_stores(struct builder *b, struct error *e); /* which model files are under */
void builder_store(struct builder *b);
void builder_flush(struct builder *b);
void builder_fence(struct builder *b, uint64_t position);
void builder_msync(struct builder *b);
void builder_after_stores(struct builder *b, uint32_t file, uint64_t offset, uint64_t length,
                          enum model_rule rule);

/* The op is durable when a sync returns. */
void builder_cover(struct builder *b, uint32_t op, uint64_t exit);

#endif
