/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The models against another way to tell them: a machine with a cache, a journal and a disk. Calls
 * leave items in the cache; the kernel may write any item that its file system lets go, at any
 * time; a sync returns once what it promises is on the disk; the power may fail between any two
 * steps. All that can be left is found by taking every step. The engine, which has no steps but a
 * graph, must know the same states, and for each the same latest moment at which it can be left,
 * for thousands of random programs. A program on which they differ is made as short as it can be.
 *
 * Nothing here looks at a graph or at a model's table; which item waits for which is written down
 * once more, from what the file systems were seen to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/litmus.h"
#include "engine/litmus_states.h"
#include "engine/map.h"
#include "tests/kernel/programs.h"

/* All offsets and sizes are multiples of a cell; a block has a few of them. */
enum { CELL = 1024, BLOCK_CELLS = OP_BLOCK_SIZE / CELL, FILE_CELLS = 24, FILE_BLOCKS = 6 };
enum { MOST_ITEMS = 12, MOST_FILES = 16, MOST_ENTRIES = 16 };
#ifdef __SANITIZE_ADDRESS__ /* five times as slow, and about memory */
enum { PROGRAMS = 3000 };
#else
enum { PROGRAMS = 12000 };
#endif
enum { SHOWN = 5 };

enum kind { POSIX, EXT4, XFS, BTRFS, PAPER, STRICT, KINDS };

static const char *const kind_names[] = {"posix", "ext4", "xfs", "btrfs", "ext4-paper", "strict"};

typedef uint32_t items; /* a set of them, a bit each */

enum item_kind { NAME, SIZE, ALLOC, DATA, ZERO };

struct item {
    enum item_kind kind;
    uint64_t event;
    uint32_t file;
    unsigned from, to; /* DATA, ZERO: cells */
    unsigned size;     /* cells: SIZE sets it, others grow to it when `grows` */
    bool grows;
    bool loose;    /* SIZE: it came with other data than its own write's */
    bool in_place; /* DATA: nothing else changes with it */
    bool dirties;  /* the inode: what a synced write commits besides itself */
    bool replaced; /* NAME: the one before it replaces a name; this is no more than its end */
    char letter;
    items needs;     /* on the disk before it */
    items commit;    /* btrfs, contents: and these, unless a sync logs it */
    items entries;   /* NAME: what it needs to make sense at all: its entries, directories, file */
    items log;       /* NAME: what goes into the log before it, */
    uint64_t logged; /* and the event that put it there */
};

enum alloc { FREE, OLD, NEW };

struct inode {
    unsigned length; /* cells */
    enum alloc blocks[FILE_BLOCKS];
    items created, contents, sizes, truncates, names, dir_names;
    bool dir_changed, dir_logged; /* btrfs: since the last sync; and it is in the log */
    uint64_t synced;              /* btrfs: the event that did so last */
    items flying;                 /* btrfs: data since the last sync, */
    bool filled;                  /* and whether the last block was filled since */
    items block[FILE_BLOCKS];
    items commit, commit_data; /* the journal as of its last change */
    struct {
        items size;
        unsigned from;
    } growth[MOST_ITEMS];
    unsigned growths;
};

struct entry {
    uint32_t dir;
    char name; /* names have one letter */
    items changes;
    int last; /* the item that changed it last, -1 */
    uint32_t file;
};

struct machine {
    enum kind kind;
    const struct litmus *litmus;
    struct item items[MOST_ITEMS];
    unsigned n;
    bool logs_all; /* btrfs: any sync may log all contents, at any time */
    bool full;     /* more than there is room for: the program is left out */
    struct inode inodes[MOST_FILES];
    struct entry entries[MOST_ENTRIES];
    unsigned n_entries;
    items journal;
    items copied, log;     /* btrfs: names that were logged ever, since the last sync of all, */
    items at_call;         /* and with a change: they go with any sync */
    items newest;          /* the last change of what went into the log last, */
    uint64_t newest_since; /* and the event with which that went there */
    unsigned printed;
    int8_t latest[1 << MOST_ITEMS]; /* −1, or how much had been printed at the last such moment */
    bool now[1 << MOST_ITEMS];      /* what may be on the disk at this point */
};

static items all(const struct machine *m)
{
    return (items)((UINT64_C(1) << m->n) - 1);
}

static struct item *issue(struct machine *m, enum item_kind kind, uint64_t event, uint32_t file,
                          items needs)
{
    static struct item nothing;
    if (m->n == MOST_ITEMS) {
        m->full = true;
        return &nothing;
    }
    struct item *item = &m->items[m->n];
    *item = (struct item){.kind = kind, .event = event, .file = file, .needs = needs};
    if (m->kind == STRICT)
        item->needs = all(m);
    m->n++;
    if (kind == NAME)
        return item;
    m->inodes[file].contents |= (items)1 << (m->n - 1);
    if (m->kind == BTRFS && !m->logs_all)
        item->commit = m->journal;
    return item;
}

static items last(const struct machine *m)
{
    return (items)1 << (m->n - 1);
}

/* ---- the disk ---- */

struct disk {
    char cells[MOST_FILES][FILE_CELLS];
    unsigned length[MOST_FILES];
    uint32_t files[MOST_ENTRIES]; /* what each entry stands for */
};

static char letter_of(const struct machine *m, uint32_t name)
{
    return *litmus_string(m->litmus, name);
}

static unsigned entry_of(struct machine *m, uint32_t dir, char name)
{
    for (unsigned i = 0; i < m->n_entries; i++)
        if (m->entries[i].dir == dir && m->entries[i].name == name)
            return i;
    assert_true(m->n_entries < MOST_ENTRIES);
    m->entries[m->n_entries] = (struct entry){.dir = dir, .name = name, .last = -1};
    return m->n_entries++;
}

static void disk_start(struct machine *m, struct disk *d)
{
    const struct litmus_file *files;
    size_t n = litmus_files(m->litmus, &files);
    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < n; i++) {
        unsigned cells = (unsigned)(files[i].length / CELL);
        memset(d->cells[files[i].file], files[i].fill, cells);
        d->length[files[i].file] = cells;
        for (unsigned k = 0; k < m->n_entries; k++)
            if (m->entries[k].dir == files[i].dir && m->entries[k].name == *files[i].name)
                d->files[k] = files[i].file;
    }
}

static void disk_name(struct machine *m, struct disk *d, const struct item *item)
{
    const struct event *e = litmus_event(m->litmus, item->event);
    if (item->replaced) {
        d->files[entry_of(m, e->other_dir, letter_of(m, e->other_name))] = 0;
        return;
    }
    uint32_t *at = &d->files[entry_of(m, e->dir, letter_of(m, e->name))];
    *at = e->call == CALL_UNLINK || e->call == CALL_RMDIR || e->call == CALL_RENAME ? 0 : e->file;
    if (e->call == CALL_RENAME)
        d->files[entry_of(m, e->other_dir, letter_of(m, e->other_name))] = e->file;
}

static void disk_item(struct machine *m, struct disk *d, const struct item *item)
{
    char *cells = d->cells[item->file];
    unsigned *length = &d->length[item->file];
    if (item->kind == NAME)
        disk_name(m, d, item);
    else if (item->kind == DATA || item->kind == ZERO)
        memset(cells + item->from, item->kind == DATA ? item->letter : 0, item->to - item->from);
    if (item->kind == SIZE) {
        *length = item->size;
        memset(cells + *length, 0, FILE_CELLS - *length);
    } else if (item->grows && *length < item->size)
        *length = item->size;
}

/* The state as litmus_states.h writes it. Programs have names a, b, d and d/c. */
static void disk_text(struct machine *m, const struct disk *d, uint32_t dir, const char *prefix,
                      struct buf *out)
{
    for (const char *name = "abcd"; *name; name++)
        for (unsigned k = 0; k < m->n_entries; k++) {
            const struct entry *entry = &m->entries[k];
            uint32_t file = d->files[k];
            if (entry->dir != dir || !file || entry->name != *name)
                continue;
            buf_printf(out, "%s%s%c%c", out->n ? " " : "", prefix, *name, *name == 'd' ? '/' : '=');
            if (*name == 'd') {
                disk_text(m, d, file, "d/", out);
                continue;
            }
            for (unsigned i = 0, end; i < d->length[file]; i = end) {
                char c = d->cells[file][i];
                for (end = i; end < d->length[file] && d->cells[file][end] == c;)
                    end++;
                buf_printf(out, "%s%c%u", i ? "," : "", c ? c : '0', (end - i) * CELL);
            }
        }
}

/* ---- the kernel's own steps ---- */

/* names: those of a sync at work, which go when the contents that it writes are there. What is in
 * the log goes in its order, whatever the journal has; contents that are not come with a commit. */
static bool may_go(const struct machine *m, unsigned i, items disk, items names, items contents)
{
    const struct item *item = &m->items[i];
    items in_log = m->at_call | ((contents & ~disk) == 0 ? names : 0);
    items commit = contents >> i & 1 ? 0 : item->commit;
    return ((item->needs | commit) & ~disk) == 0 ||
           ((in_log >> i & 1) && ((item->log | item->entries) & ~disk) == 0);
}

/* Everything that the kernel may have written by now; any of it may be what a crash leaves. */
static void kernel_runs(struct machine *m, items names, items contents)
{
    assert_true(m->n <= MOST_ITEMS);
    for (items disk = 0; disk <= all(m); disk++) {
        if (!m->now[disk])
            continue;
        m->latest[disk] = (int8_t)m->printed;
        for (unsigned i = 0; i < m->n; i++)
            if (!(disk >> i & 1) && may_go(m, i, disk, names, contents))
                m->now[disk | (items)1 << i] = true;
    }
}

/* The sync returns: what it promises is on the disk. */
static void wait_for(struct machine *m, items wanted)
{
    for (items disk = 0; disk <= all(m); disk++)
        if (wanted & ~disk)
            m->now[disk] = false;
}

/* ---- contents ---- */

static bool journalling(const struct machine *m)
{
    return m->kind == EXT4 || m->kind == XFS || m->kind == BTRFS;
}

/* The item just issued also goes through the journal. */
static void through_journal(struct machine *m, struct item *item)
{
    if (!journalling(m))
        return;
    if (m->kind != BTRFS || item->kind == NAME) /* the contents of a file do not wait there */
        item->needs |= m->journal;
    m->journal |= last(m);
}

static void changed(struct machine *m, struct inode *inode, bool data)
{
    inode->commit = m->journal;
    if (!data)
        return;
    inode->commit_data = m->journal;
    m->items[m->n - 1].dirties = true;
}

static void put_data(struct machine *m, uint64_t event, uint32_t file, unsigned from, unsigned to,
                     items needs)
{
    items *block = &m->inodes[file].block[from / BLOCK_CELLS];
    struct item *item = issue(m, DATA, event, file, needs | *block);
    unsigned char letter;
    litmus_payload(m->litmus, litmus_event(m->litmus, event)->payload, 0, &letter, 1);
    item->from = from;
    item->to = to;
    item->letter = (char)letter;
    *block |= last(m);
}

static void put_size(struct machine *m, uint64_t event, uint32_t file, unsigned size, items needs)
{
    issue(m, SIZE, event, file, needs)->size = size;
}

/* ext4: a new block is allocated with its size, in the file's order; its data follows, in any. */
static void ext4_piece(struct machine *m, uint64_t event, uint32_t file, unsigned from, unsigned to)
{
    struct inode *inode = &m->inodes[file];
    enum alloc *block = &inode->blocks[from / BLOCK_CELLS];
    bool grows = to > inode->length;
    if (*block == FREE) {
        /* Journalled some time from now: after what the journal has, and names do not wait. */
        struct item *alloc = issue(m, ALLOC, event, file, m->journal | inode->sizes);
        alloc->size = to;
        alloc->grows = grows;
        items bit = last(m);
        inode->sizes |= bit;
        changed(m, inode, true);
        put_data(m, event, file, from, to, bit);
        *block = NEW;
        return;
    }
    if (grows) {
        /* Journalled now, or when the block is allocated. */
        put_size(m, event, file, to, m->journal | inode->sizes);
        if (*block == OLD)
            through_journal(m, &m->items[m->n - 1]);
        inode->sizes |= last(m);
        changed(m, inode, true);
    }
    put_data(m, event, file, from, to, 0);
}

static void xfs_size(struct machine *m, uint64_t event, uint32_t file, unsigned from, unsigned to,
                     items data)
{
    struct inode *inode = &m->inodes[file];
    put_size(m, event, file, to, data | m->journal);
    inode->growth[inode->growths].size = last(m);
    inode->growth[inode->growths++].from = from;
    changed(m, inode, true);
}

/* xfs: new blocks and sizes enter the log once the data is written. */
static void xfs_piece(struct machine *m, uint64_t event, uint32_t file, unsigned from, unsigned to)
{
    struct inode *inode = &m->inodes[file];
    items logged = m->journal; /* at the time of the call, or later */
    bool fresh = inode->blocks[from / BLOCK_CELLS] == FREE;
    put_data(m, event, file, from, to, fresh ? logged : 0);
    m->items[m->n - 1].in_place = !fresh && to <= inode->length;
    if (fresh)
        changed(m, inode, true);
    if (to > inode->length)
        xfs_size(m, event, file, from, to, last(m));
    inode->blocks[from / BLOCK_CELLS] = OLD;
}

/* xfs: a write past the end zeroes the rest of the last block, which may be written by itself. */
static void xfs_gap(struct machine *m, uint64_t event, uint32_t file, unsigned to)
{
    struct inode *inode = &m->inodes[file];
    unsigned end = (inode->length / BLOCK_CELLS + 1) * BLOCK_CELLS;
    if (!(inode->length % BLOCK_CELLS) || to <= inode->length)
        return;
    xfs_size(m, event, file, inode->length, end < to ? end : to,
             inode->block[inode->length / BLOCK_CELLS]);
    m->items[m->n - 1].loose = true;
}

static void posix_piece(struct machine *m, uint64_t event, uint32_t file, unsigned from,
                        unsigned to)
{
    struct inode *inode = &m->inodes[file];
    bool grows = to > inode->length;
    if (inode->blocks[from / BLOCK_CELLS] == FREE) {
        struct item *alloc = issue(m, ALLOC, event, file, 0);
        alloc->size = to;
        alloc->grows = grows;
        put_data(m, event, file, from, to, last(m));
    } else {
        if (grows)
            put_size(m, event, file, to, 0);
        put_data(m, event, file, from, to, 0);
    }
    inode->blocks[from / BLOCK_CELLS] = OLD;
}

static void whole_write(struct machine *m, uint64_t event, uint32_t file, unsigned from,
                        unsigned to)
{
    struct inode *inode = &m->inodes[file];
    bool grows = to > inode->length;
    items needs = 0;
    for (unsigned k = from / BLOCK_CELLS; k * BLOCK_CELLS < to; k++)
        needs |= inode->block[k];
    if (m->kind == PAPER && grows)
        needs |= inode->sizes;
    if (m->kind == BTRFS)
        needs |= inode->truncates;
    put_data(m, event, file, from, to, needs);
    struct item *item = &m->items[m->n - 1];
    item->size = grows ? to : inode->length;
    item->grows = grows || m->kind == BTRFS;
    for (unsigned k = from / BLOCK_CELLS; k * BLOCK_CELLS < to; k++)
        inode->block[k] |= last(m);
    inode->flying |= last(m);
    if (grows)
        inode->sizes |= last(m);
}

/* btrfs: data that was written takes along the size that the file has by then: earlier data the
 * length that this write gives it. */
static void size_with_other(struct machine *m, uint64_t event, uint32_t file, unsigned from,
                            unsigned to)
{
    struct inode *inode = &m->inodes[file];
    bool one = !(inode->flying & (inode->flying - 1));
    if (to <= inode->length)
        return;
    if (from > inode->length && inode->length % BLOCK_CELLS)
        inode->filled = true; /* its last block, with zeros: they are written as data is */
    if (!inode->flying && !inode->filled)
        return;
    put_size(m, event, file, to, inode->truncates | (one && !inode->filled ? inode->flying : 0));
    m->items[m->n - 1].loose = true;
}

static void btrfs_piece(struct machine *m, uint64_t event, uint32_t file, unsigned from,
                        unsigned to)
{
    struct inode *inode = &m->inodes[file];
    size_with_other(m, event, file, from, to);
    put_data(m, event, file, from, to, inode->truncates);
    m->items[m->n - 1].size = to > inode->length ? to : inode->length;
    m->items[m->n - 1].grows = true;
    inode->flying |= last(m);
    inode->blocks[from / BLOCK_CELLS] = OLD;
}

/* btrfs: an overwrite is whole when none of its blocks waits to be written. */
static bool btrfs_whole(const struct inode *inode, unsigned from, unsigned to)
{
    bool whole = to <= inode->length;
    for (unsigned k = from / BLOCK_CELLS; k * BLOCK_CELLS < to && whole; k++)
        whole = inode->blocks[k] != FREE && !(inode->block[k] & inode->flying);
    return whole;
}

static void do_write(struct machine *m, uint64_t event, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    unsigned from = (unsigned)(e->offset / CELL), to = from + (unsigned)(e->size / CELL);
    if (to > FILE_CELLS) {
        m->full = true;
        return;
    }
    if (m->kind == XFS)
        xfs_gap(m, event, e->file, from);
    if (m->kind == PAPER || m->kind == STRICT || (m->kind == BTRFS && btrfs_whole(inode, from, to)))
        whole_write(m, event, e->file, from, to);
    else
        for (unsigned at = from, stop; at < to && !m->full; at = stop) {
            stop = (at / BLOCK_CELLS + 1) * BLOCK_CELLS;
            stop = stop < to ? stop : to;
            if (m->kind == EXT4)
                ext4_piece(m, event, e->file, at, stop);
            else if (m->kind == XFS)
                xfs_piece(m, event, e->file, at, stop);
            else if (m->kind == BTRFS)
                btrfs_piece(m, event, e->file, at, stop);
            else
                posix_piece(m, event, e->file, at, stop);
            if (stop > inode->length)
                inode->length = stop;
        }
    if (to > inode->length)
        inode->length = to;
}

static void do_length(struct machine *m, uint64_t event, uint32_t file, unsigned length)
{
    struct inode *inode = &m->inodes[file];
    unsigned old = inode->length, tail = length / BLOCK_CELLS;
    if (length == old)
        return;
    if (length < old && length % BLOCK_CELLS &&
        (m->kind == POSIX || m->kind == EXT4 || m->kind == XFS)) {
        struct item *zero = issue(m, ZERO, event, file, inode->block[tail]);
        zero->from = length;
        zero->to = (tail + 1) * BLOCK_CELLS < old ? (tail + 1) * BLOCK_CELLS : old;
        inode->block[tail] |= last(m);
    }
    items needs = 0;
    if (m->kind == EXT4)
        needs = inode->created | inode->sizes;
    if (m->kind == XFS) {
        /* Data that the new length covers is written first. */
        needs = inode->created | inode->truncates;
        for (unsigned i = 0; i < inode->growths; i++)
            if (inode->growth[i].from < length)
                needs |= inode->growth[i].size;
        inode->growths = 0;
    }
    if (m->kind == PAPER)
        needs = inode->sizes;
    if (m->kind == BTRFS)
        needs = inode->truncates | (length % BLOCK_CELLS ? inode->block[tail] : 0);
    put_size(m, event, file, length, needs);
    through_journal(m, &m->items[m->n - 1]);
    inode->sizes |= last(m);
    inode->truncates |= last(m);
    changed(m, inode, true);
    for (unsigned k = (length + BLOCK_CELLS - 1) / BLOCK_CELLS; k < FILE_BLOCKS; k++)
        inode->blocks[k] = FREE;
    inode->length = length;
}

/* ---- names ---- */

static void change_entry(struct machine *m, struct item *item, uint32_t dir, uint32_t name,
                         uint32_t file)
{
    struct entry *entry = &m->entries[entry_of(m, dir, letter_of(m, name))];
    struct inode *parent = &m->inodes[dir];
    item->entries |= entry->changes;
    /* posix: a synced directory may itself have no name yet. */
    if (m->kind != POSIX && m->kind != PAPER)
        item->entries |= parent->created;
    if (m->kind == PAPER)
        item->needs |= parent->names;
    entry->changes |= last(m);
    entry->last = (int)m->n - 1;
    entry->file = file;
    parent->names |= last(m);
    parent->dir_names |= last(m);
    parent->dir_changed = true;
}

/* btrfs: a name, and whatever made its entry what it was before, as far as it was not logged. */
static items log_names(struct machine *m, uint64_t event, items names, items before)
{
    for (unsigned i = m->n; i-- > 0;)
        if (names >> i & 1)
            names |= m->items[i].entries;
    names &= ~m->copied;
    m->copied |= names;
    for (unsigned i = 0; i < m->n; i++)
        if (names >> i & 1) {
            m->items[i].log = before;
            m->items[i].logged = event;
            before |= (items)1 << i;
        }
    m->log |= names;
    return names;
}

static bool entry_logged(struct machine *m, uint32_t dir, uint32_t name)
{
    int at = m->entries[entry_of(m, dir, letter_of(m, name))].last;
    return at >= 0 && (m->log >> at & 1);
}

/* btrfs: whether a change of names is one of what the log has. */
static bool is_logged(struct machine *m, const struct event *e)
{
    if (m->kind != BTRFS)
        return false;
    if (e->call == CALL_LINK)
        return m->inodes[e->file].created & m->log;
    return (e->call == CALL_UNLINK || e->call == CALL_RMDIR || e->call == CALL_RENAME) &&
           (entry_logged(m, e->dir, e->name) ||
            (e->call == CALL_RENAME && m->inodes[e->dir].dir_logged));
}

/* btrfs: a change of what is in the log. If that is there still, so is whatever went there since it
 * was last synced, and if that was changed, the change goes first. */
static void log_change(struct machine *m, uint64_t event, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    uint64_t since = 0;
    for (unsigned i = 0; i < m->n; i++)
        if (inode->created & m->log & (items)1 << i)
            since = m->items[i].logged;
    bool waits = !inode->dir_names && m->newest_since >= inode->synced &&
                 m->newest_since >= m->inodes[e->dir].synced;
    m->at_call |= log_names(m, event, last(m), waits ? m->newest : 0);
    if (since >= m->newest_since) {
        m->newest = last(m);
        m->newest_since = since;
    }
}

/* btrfs: the log loses the name that is replaced before it has the new one. */
static void lose_replaced(struct machine *m, uint64_t event, const struct event *e, items entry)
{
    struct item *item = issue(m, NAME, event, e->other, entry);
    item->replaced = true;
}

static void do_name(struct machine *m, uint64_t event, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    bool makes = e->call == CALL_OPEN || e->call == CALL_MKDIR;
    bool removes = e->call == CALL_UNLINK || e->call == CALL_RMDIR || e->call == CALL_RENAME;
    if (e->call == CALL_RENAME && e->file == e->other)
        return;
    bool logged = is_logged(m, e);
    bool replaces = m->kind == BTRFS && !logged && e->call == CALL_RENAME && e->other &&
                    entry_logged(m, e->other_dir, e->other_name);
    items entry = e->other_dir
                      ? m->entries[entry_of(m, e->other_dir, letter_of(m, e->other_name))].changes
                      : 0;
    struct item *item = issue(m, NAME, event, e->file, 0);
    if (m->full)
        return;
    if (e->call == CALL_RENAME && e->other && m->kind == EXT4)
        item->needs |= inode->sizes;
    if (e->call == CALL_RMDIR)
        item->entries |= inode->dir_names;
    change_entry(m, item, e->dir, e->name, removes ? 0 : e->file);
    if (e->call == CALL_RENAME)
        change_entry(m, item, e->other_dir, e->other_name, e->file);
    item->entries |= inode->created;
    if (makes)
        inode->created = last(m);
    if (m->kind == PAPER) {
        item->needs |= inode->names | (e->other ? m->inodes[e->other].names : 0);
        inode->names |= last(m);
        m->inodes[e->other].names |= last(m);
    }
    item->needs |= item->entries;
    item->needs &= ~last(m);
    item->entries &= ~last(m);
    through_journal(m, item);
    changed(m, inode, false);
    changed(m, &m->inodes[e->dir], false);
    changed(m, &m->inodes[e->other_dir], false);
    changed(m, &m->inodes[e->other], false);
    /* To a directory, its entries are data. */
    m->inodes[e->dir].commit_data = m->inodes[e->other_dir].commit_data = m->journal;
    if (logged)
        log_change(m, event, e);
    if (replaces)
        lose_replaced(m, event, e, entry);
}

/* ---- syncs ---- */

/* btrfs logs a file's names, and whatever made those entries what they were before. */
static items names_of(const struct machine *m, uint32_t file)
{
    items names = m->inodes[file].dir_names;
    for (unsigned k = 0; k < m->n_entries; k++)
        if (m->entries[k].file == file && m->entries[k].last >= 0)
            names |= (items)1 << m->entries[k].last;
    for (unsigned i = m->n; i-- > 0;)
        if (names >> i & 1)
            names |= m->items[i].entries;
    return names;
}

static void settle(struct machine *m, uint32_t file)
{
    for (unsigned k = 0; k < FILE_BLOCKS; k++)
        if (m->inodes[file].blocks[k] == NEW)
            m->inodes[file].blocks[k] = OLD;
    m->inodes[file].flying = 0;
    m->inodes[file].filled = false;
}

static void do_sync(struct machine *m, uint64_t event, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    items names = 0;
    items wanted = all(m);
    if (e->call != CALL_SYNC && m->kind != STRICT) {
        wanted = inode->contents;
        if (m->kind == EXT4 || m->kind == XFS)
            wanted |= e->call == CALL_FSYNC ? inode->commit : inode->commit_data;
        else if (m->kind == BTRFS) {
            items own = names_of(m, e->file);
            wanted |= own;
            names = log_names(m, event, own, 0);
            inode->synced = event;
            inode->dir_logged |= inode->dir_changed;
            inode->dir_changed = false;
        } else
            wanted |= inode->dir_names;
    }
    /* xfs: flushes the disk only for what it logs. */
    for (unsigned i = 0; i < m->n && m->kind == XFS && e->call == CALL_SYNC; i++)
        if (m->items[i].in_place)
            wanted &= ~((items)1 << i);
    kernel_runs(m, names, inode->contents);
    wait_for(m, wanted);
    for (uint32_t file = 1; file < MOST_FILES; file++)
        if (e->call == CALL_SYNC || file == e->file)
            settle(m, file);
    if (e->call == CALL_SYNC) {
        m->log = 0;
        for (uint32_t file = 1; file < MOST_FILES; file++)
            m->inodes[file].dir_logged = m->inodes[file].dir_changed = false;
    }
}

/* A write that returns durable: `own` are its items. */
static void do_own_sync(struct machine *m, uint64_t event, const struct event *e, items own)
{
    struct inode *inode = &m->inodes[e->file];
    items names = 0;
    items wanted = m->kind == STRICT ? all(m) : own;
    for (unsigned i = 0; i < m->n; i++)
        if (m->items[i].loose)
            wanted &= ~((items)1 << i);
    if (m->kind == EXT4 || m->kind == XFS) {
        for (unsigned i = 0; i < m->n; i++)
            if ((own >> i & 1) && m->items[i].dirties)
                wanted |= inode->commit_data;
    }
    if (m->kind == BTRFS) {
        items own_names = names_of(m, e->file);
        wanted |= own_names;
        names = log_names(m, event, own_names, 0);
        inode->synced = event;
    }
    for (unsigned i = 0; i < m->n; i++)
        if ((own >> i & 1) && m->items[i].kind == DATA && m->kind == EXT4)
            inode->blocks[m->items[i].from / BLOCK_CELLS] = OLD;
    kernel_runs(m, names, wanted & own);
    wait_for(m, wanted);
}

/* ---- running a program ---- */

static void do_call(struct machine *m, uint64_t number)
{
    const struct event *e = litmus_event(m->litmus, number);
    items before = all(m);
    switch (e->call) {
    case CALL_WRITE:
        do_write(m, number, e);
        break;
    case CALL_TRUNCATE:
        do_length(m, number, e->file, (unsigned)(e->size / CELL));
        break;
    case CALL_FALLOCATE: {
        unsigned end = (unsigned)((e->offset + e->size) / CELL); /* far below FILE_CELLS */
        if (!(e->flags & FALLOC_FL_KEEP_SIZE) && end > m->inodes[e->file].length)
            do_length(m, number, e->file, end);
        break;
    }
    case CALL_OPEN:
        if (e->traits & EVENT_TRUNCATED)
            do_length(m, number, e->file, 0);
        else if (e->traits & EVENT_CREATED)
            do_name(m, number, e);
        break;
    case CALL_PRINT:
        m->printed++;
        break;
    case CALL_SYNC_RANGE: /* promises nothing */
        break;
    case CALL_FSYNC:
    case CALL_FDATASYNC:
    case CALL_SYNC:
        do_sync(m, number, e);
        break;
    default:
        do_name(m, number, e);
    }
    if (m->full)
        return;
    if (e->traits & EVENT_DSYNC)
        do_own_sync(m, number, e, all(m) & ~before);
    kernel_runs(m, 0, 0);
}

static void start(struct machine *m, enum kind kind, bool logs_all, const struct litmus *litmus)
{
    memset(m, 0, sizeof *m);
    memset(m->latest, -1, sizeof m->latest);
    m->kind = kind;
    m->logs_all = logs_all;
    m->litmus = litmus;
    m->now[0] = true;
    const struct litmus_file *files;
    size_t n = litmus_files(litmus, &files);
    for (size_t i = 0; i < n; i++) {
        struct inode *inode = &m->inodes[files[i].file];
        inode->length = (unsigned)(files[i].length / CELL);
        for (unsigned k = 0; k * BLOCK_CELLS < inode->length; k++)
            inode->blocks[k] = OLD;
    }
    /* All entries that the program or the image has. */
    for (uint64_t number = 1; number <= litmus_events(litmus); number++) {
        const struct event *e = litmus_event(litmus, number);
        if (e->dir)
            entry_of(m, e->dir, letter_of(m, e->name));
        if (e->other_dir)
            entry_of(m, e->other_dir, letter_of(m, e->other_name));
    }
    for (size_t i = 0; i < n; i++)
        m->entries[entry_of(m, files[i].dir, *files[i].name)].file = files[i].file;
}

/* ---- comparing ---- */

/* State to the most that can have been printed when it is left, plus 1. */
static void note(struct map *states, const char *text, uint64_t printed)
{
    uint64_t *most = map_put(states, text, strlen(text) + 1, NULL);
    if (*most < printed + 1)
        *most = printed + 1;
}

static bool simulate(enum kind kind, bool logs_all, const struct litmus *litmus, struct map *states)
{
    static struct machine m; /* too large for the stack */
    start(&m, kind, logs_all, litmus);
    kernel_runs(&m, 0, 0);
    for (uint64_t number = 1; number <= litmus_events(litmus) && !m.full; number++)
        do_call(&m, number);
    if (m.full)
        return false;
    struct disk first;
    struct buf text = {0};
    disk_start(&m, &first);
    for (items disk = 0; disk <= all(&m); disk++) {
        if (m.latest[disk] < 0)
            continue;
        struct disk d = first;
        for (unsigned i = 0; i < m.n; i++)
            if ((disk >> i & 1) && !(m.items[i].replaced && (disk >> (i - 1) & 1)))
                disk_item(&m, &d, &m.items[i]);
        buf_clear(&text);
        disk_text(&m, &d, FILE_ROOT, "", &text);
        note(states, text.n ? buf_string(&text) : "(nothing)", (uint64_t)m.latest[disk]);
    }
    buf_free(&text);
    return true;
}

static void take_state(void *data, const struct litmus_state *state)
{
    uint64_t printed = 0;
    for (const char *at = state->printed; *at; at++)
        printed += *at == '\n';
    note(data, state->text, printed);
}

/* More ops than this take the engine too long, one program in thousands. */
enum { MOST_OPS = 16 };

static bool engine(enum kind kind, const struct litmus *litmus, struct map *states)
{
    struct model model;
    struct graph *g = NULL;
    struct error e;
    if (!model_find(kind_names[kind], &model, &e) ||
        !graph_build(&g, &model, litmus_source(litmus), &e))
        fail_msg("%s", e.text);
    bool small = g->n <= MOST_OPS;
    if (small && !litmus_states(litmus, g, take_state, states, &e))
        fail_msg("%s", e.text);
    graph_free(g);
    return small;
}

struct difference {
    const struct map *other;
    const char *who;
    bool tell;
    size_t n;
};

static void look(const void *key, size_t size, uint64_t value, void *data)
{
    struct difference *d = data;
    const uint64_t *other = map_get(d->other, key, size);
    if (other && *other >= value)
        return;
    d->n++;
    if (d->tell)
        printf("    only %s, after %llu prints: %s\n", d->who, (unsigned long long)value - 1,
               (const char *)key);
}

enum outcome { EQUAL, DIFFERENT, LEFT_OUT };

static bool has_sync(const struct litmus *litmus)
{
    for (uint64_t number = 1; number <= litmus_events(litmus); number++) {
        const struct event *e = litmus_event(litmus, number);
        if (e->call == CALL_FSYNC || e->call == CALL_FDATASYNC || (e->traits & EVENT_DSYNC))
            return true;
    }
    return false;
}

static enum outcome compare(enum kind kind, const char *program, bool tell)
{
    struct litmus *litmus;
    struct error e;
    if (!litmus_parse(&litmus, program, "program", &e))
        return LEFT_OUT;
    struct map simulated = {0}, most = {0}, found = {0};
    enum outcome outcome = LEFT_OUT;
    /* btrfs: where a sync may have logged contents, the engine asks no more than that some sync did
     * at some time: it finds what the simulator does, and at most what a kernel may that logs
     * everything. */
    bool bounded = kind == BTRFS && has_sync(litmus);
    if (simulate(kind, false, litmus, &simulated) && simulate(kind, bounded, litmus, &most) &&
        engine(kind, litmus, &found)) {
        struct difference a = {&found, "the simulator", tell, 0};
        struct difference b = {&most, "the engine", tell, 0};
        map_each(&simulated, look, &a);
        map_each(&found, look, &b);
        outcome = a.n || b.n ? DIFFERENT : EQUAL;
    }
    map_free(&simulated);
    map_free(&most);
    map_free(&found);
    litmus_free(litmus);
    return outcome;
}

static bool differs(void *data, const char *program)
{
    const enum kind *kind = data;
    return compare(*kind, program, false) == DIFFERENT;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check_model(enum kind kind)
{
    const char *more = getenv("SIMULATOR_PROGRAMS"); /* for a long search */
    uint64_t programs = more ? strtoull(more, NULL, 10) : PROGRAMS;
    struct programs_shape shape = {.least = 2, .most = 8};
    unsigned compared = 0, different = 0;
    double begun = seconds();
    for (uint64_t seed = 1; compared < programs; seed++) {
        char *program = programs_random(seed * KINDS + kind, &shape);
        enum outcome outcome = compare(kind, program, false);
        compared += outcome != LEFT_OUT;
        if (outcome == DIFFERENT && different++ < SHOWN) {
            char *shrunk = programs_shrink(program, differs, &kind);
            printf("%s differs on\n%s", kind_names[kind], shrunk);
            compare(kind, shrunk, true);
            free(shrunk);
        }
        free(program);
    }
    printf("%-10s %u programs, %u differ, %.1f s\n", kind_names[kind], compared, different,
           seconds() - begun);
    assert_int_equal(different, 0);
}

static void test_model(void **state)
{
    const enum kind *kind = *state;
    check_model(*kind);
}

int main(void)
{
    static enum kind kinds[KINDS] = {POSIX, EXT4, XFS, BTRFS, PAPER, STRICT};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_model, &kinds[POSIX]),
        cmocka_unit_test_prestate(test_model, &kinds[EXT4]),
        cmocka_unit_test_prestate(test_model, &kinds[XFS]),
        cmocka_unit_test_prestate(test_model, &kinds[BTRFS]),
        cmocka_unit_test_prestate(test_model, &kinds[PAPER]),
        cmocka_unit_test_prestate(test_model, &kinds[STRICT]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
