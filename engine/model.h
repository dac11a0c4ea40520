/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * model: what a file system promises. A model is a table of rules: how calls fall apart into ops,
 * which op must persist before which, and what a sync makes durable. Each rule has a name and a
 * reason that people are shown ("why must A come before B?").
 *
 * `posix` promises what the standard and the manual pages do. `ext4`, `xfs` and `btrfs` are what
 * those were measured to leave behind; `ext4-paper` is the published model, to compare results;
 * `strict` persists calls in the order in which they were made.
 *
 * Stores to mapped files have models of their own, chosen beside that of the file system: what
 * persistent memory (`px86`, `eadr`) or the page cache (`pagecache`) does with them.
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/error.h"

/* Why one op must persist before another. */
#define MODEL_RULES(X)                                                                             \
    X(SYNCED, "synced", "a sync that made it durable had returned before the other was issued")     \
    X(BLOCK, "same-block", "changes of one block reach the disk in program order")                  \
    X(ENTRY, "same-entry", "a change of a directory entry follows the one before it")               \
    X(PARENT, "parent", "an entry cannot be in a directory that does not exist")                    \
    X(JOURNAL, "journal", "one journal takes names in program order, new blocks and sizes later") \
    X(CREATED, "created", "a file's blocks and sizes enter the journal after its creation")         \
    X(FILE, "file-order", "allocations and sizes of one file keep their order")                     \
    X(NEW_DATA, "new-blocks", "new blocks of one file are written in order")                        \
    X(ALLOC, "alloc-first", "a block is allocated before its data can be found")                    \
    X(DATA_FIRST, "data-first", "a size never covers data that is not written yet")                 \
    X(RENAME_OVER, "rename-over", "a rename over a file first allocates the new file's blocks")      \
    X(CARRIED, "carried", "a sync that carries a file's name writes its contents first")            \
    X(COMMIT, "commit", "contents that no sync logs come with a commit, which has earlier names")   \
    X(RANGE, "range", "moving or freeing blocks first writes what they hold")                       \
    X(LINE, "same-line", "stores to one cache line reach persistent memory in program order")       \
    X(WORD, "same-word", "a non-temporal store keeps its order with others to the same 8 bytes")    \
    X(PAGE, "same-page", "the page cache writes a page with all stores made to it by then")          \
    X(PROGRAM, "program-order", "this model persists calls in the order they were made")

enum model_rule {
#define X(id, name, reason) RULE_##id,
    MODEL_RULES(X)
#undef X
        RULE_COUNT
};

const char *model_rule_name(enum model_rule rule);
const char *model_rule_reason(enum model_rule rule);

/* How names are ordered among each other, beyond what reads or replaces one entry. */
enum model_names { NAMES_FREE, NAMES_SAME_FILE, NAMES_JOURNAL };

/* What a sync of a file says of names. */
enum model_sync {
    SYNC_OWN_ENTRIES,  /* of a directory: its entries; of a file: nothing */
    SYNC_OWN_NAME,     /* the same, and of a file: its own name, carried past others; what becomes of
                          such a name until everything is synced goes with any later sync */
    SYNC_JOURNAL,      /* everything in the journal up to the file's last change */
    SYNC_EVERYTHING,
};

/* What becomes of stores to mapped files. */
enum model_stores {
    STORES_AUTO, /* px86 for files whose lines the program flushes or that it maps with MAP_SYNC,
                    pagecache for the others */
    STORES_PX86, /* persistent memory: lines reach it when flushed and fenced, or any time before */
    STORES_EADR, /* persistent memory with caches that survive: stores persist in order */
    STORES_PAGECACHE, /* a file on a disk: pages are written at any time, or by msync */
    STORES_COUNT
};

struct model {
    const char *name;
    const char *summary;
    enum model_names names;
    enum model_sync sync;
    bool whole_calls;      /* a write persists as a whole, not by blocks */
    bool alloc_shows;      /* a new block can be found before its data: zeros */
    bool size_shows;       /* the size of an append inside a block can precede its data: zeros */
    bool size_after_data;  /* a size waits for the data it covers */
    bool new_in_order;     /* allocations and sizes of one file keep their order */
    bool tail_shows;       /* the zeroing of a truncated tail can precede the new size */
    bool sync_by_log;      /* a sync of everything flushes the disk only when there is something to
                              log: what was overwritten in place may be lost after it */
    bool rename_allocates; /* a rename over a file waits for the new file's allocations */
    bool size_with_any;    /* whatever data of a file is written takes along the size that the file
                              has by then, so that a later write may show as zeros */
    bool program_order;    /* all calls keep their order */
    enum model_stores stores;
    bool pages_change;     /* the page cache does not keep pages still while they are written: what
                              comes of one is by sectors */
};

/* What a config's [model] section may set besides the name. */
struct model_switch {
    const char *name;
    bool on;           /* the default */
    const char *model; /* the one model that has it; NULL: all have, for stores */
    const char *help;
};
/* Ended by an entry without a name. */
const struct model_switch *model_switches(void);

/* All models, ended by NULL; the first is the default. */
const struct model *const *model_table(void);

/* "px86"; NULL behind the last. */
const char *model_stores_name(enum model_stores stores);
bool model_stores_find(const char *name, enum model_stores *out, struct error *e);

/* A copy of the model of that name, with the switches that follow it set: "ext4", "ext4
 * auto_da_alloc=no", "xfs stores=px86". False with the known names in the error. */
bool model_find(const char *name, struct model *out, struct error *e);

/* The model in the form that model_find takes: its name, and the switches that are not as its own
 * table has them. The caller frees it. */
char *model_text(const struct model *model);

/* Whether a text of that form says this model. */
bool model_is(const struct model *model, const char *text);

/* Whether it has a switch. */
bool model_has(const struct model *model, const char *name);

/* Sets a switch of it. False when it has no such switch. */
bool model_set(struct model *model, const char *name, bool on, struct error *e);

#endif
