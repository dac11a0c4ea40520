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
#include "engine/vec.h"

/* All offsets and sizes are multiples of a cell; a block has a few of them. */
enum { CELL = 1024, BLOCK_CELLS = OP_BLOCK_SIZE / CELL, FILE_CELLS = 24, FILE_BLOCKS = 6 };
enum { MOST_ITEMS = 12, MOST_FILES = 16, MOST_ENTRIES = 16 };
enum { PROGRAMS = 12000, SHOWN = 5 };

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
    bool dirties; /* the inode: what a synced write commits besides itself */
    bool carried; /* by a sync_file_range, once */
    char letter;
    items needs;   /* on the disk before it */
    items journal; /* of those, the ones that it only follows in the journal, */
    items fresh;   /* or only because new blocks are written in order */
    items entries; /* NAME: what it needs to make sense at all: its entries, directories, file */
};

enum alloc { FREE, OLD, NEW };

struct inode {
    unsigned length; /* cells */
    enum alloc blocks[FILE_BLOCKS];
    items created, contents, sizes, fresh, calls, truncates, names, dir_names;
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
    bool full; /* more than there is room for: the program is left out */
    struct inode inodes[MOST_FILES];
    struct entry entries[MOST_ENTRIES];
    unsigned n_entries;
    items journal;
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
    if (kind != NAME)
        m->inodes[file].contents |= (items)1 << (m->n - 1);
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

static void disk_name(struct machine *m, struct disk *d, uint64_t number)
{
    const struct event *e = litmus_event(m->litmus, number);
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
        disk_name(m, d, item->event);
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

/* What lets items go in another order while a sync is at work. */
struct pass {
    items past_journal; /* contents that need not wait for the journal */
    items names;        /* these go in the order of the program, whatever the journal has */
};

static bool may_go(const struct machine *m, unsigned i, items disk, const struct pass *pass)
{
    const struct item *item = &m->items[i];
    items needs = item->needs;
    if (pass->past_journal >> i & 1)
        needs &= ~item->journal;
    if ((needs & ~disk) == 0)
        return true;
    items before = pass->names & (((items)1 << i) - 1);
    return (pass->names >> i & 1) && (before & ~disk) == 0;
}

/* Everything that the kernel may have written by now; any of it may be what a crash leaves. */
static void kernel_runs(struct machine *m, const struct pass *pass)
{
    assert_true(m->n <= MOST_ITEMS);
    for (items disk = 0; disk <= all(m); disk++) {
        if (!m->now[disk])
            continue;
        m->latest[disk] = (int8_t)m->printed;
        for (unsigned i = 0; i < m->n; i++)
            if (!(disk >> i & 1) && may_go(m, i, disk, pass))
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
    item->journal = m->journal & ~item->needs;
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

/* ext4: a new block is allocated with its size, in the file's order; its data follows, in order. */
static void ext4_piece(struct machine *m, uint64_t event, uint32_t file, unsigned from, unsigned to)
{
    struct inode *inode = &m->inodes[file];
    enum alloc *block = &inode->blocks[from / BLOCK_CELLS];
    bool grows = to > inode->length;
    if (*block == FREE || (grows && *block == NEW)) {
        struct item *alloc = issue(m, ALLOC, event, file, inode->created | inode->sizes);
        alloc->size = to;
        alloc->grows = grows;
        items bit = last(m);
        inode->sizes |= bit;
        changed(m, inode, true);
        put_data(m, event, file, from, to, bit | inode->fresh);
        m->items[m->n - 1].fresh = inode->fresh & ~inode->block[from / BLOCK_CELLS];
        inode->fresh |= last(m);
        *block = NEW;
        return;
    }
    if (grows) {
        put_size(m, event, file, to, inode->created | inode->sizes);
        through_journal(m, &m->items[m->n - 1]);
        inode->sizes |= last(m);
        changed(m, inode, true);
    }
    put_data(m, event, file, from, to, 0);
}

/* xfs: new blocks and sizes enter the log once the data is written. */
static void xfs_piece(struct machine *m, uint64_t event, uint32_t file, unsigned from, unsigned to)
{
    struct inode *inode = &m->inodes[file];
    items logged = inode->created | inode->truncates;
    bool fresh = inode->blocks[from / BLOCK_CELLS] == FREE;
    put_data(m, event, file, from, to, fresh ? logged : 0);
    if (fresh)
        changed(m, inode, true);
    if (to > inode->length) {
        put_size(m, event, file, to, last(m) | logged);
        inode->growth[inode->growths].size = last(m);
        inode->growth[inode->growths++].from = from;
        changed(m, inode, true);
    }
    inode->blocks[from / BLOCK_CELLS] = OLD;
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
    if (m->kind == BTRFS)
        needs |= inode->calls;
    if (m->kind == PAPER && grows)
        needs |= inode->sizes;
    put_data(m, event, file, from, to, needs);
    struct item *item = &m->items[m->n - 1];
    item->size = to;
    item->grows = grows;
    for (unsigned k = from / BLOCK_CELLS; k * BLOCK_CELLS < to; k++)
        inode->block[k] |= last(m);
    inode->calls |= last(m);
    if (grows)
        inode->sizes |= last(m);
}

/* btrfs: blocks of the first write to a file may come one without another. */
static void holes(struct machine *m, uint64_t event, uint32_t file, unsigned to)
{
    struct inode *inode = &m->inodes[file];
    items before = inode->calls;
    for (unsigned from = 0; from < to; from += BLOCK_CELLS) {
        unsigned stop = from + BLOCK_CELLS < to ? from + BLOCK_CELLS : to;
        put_data(m, event, file, from, stop, before);
        m->items[m->n - 1].size = stop;
        m->items[m->n - 1].grows = true;
        inode->calls |= last(m);
    }
}

static void do_write(struct machine *m, uint64_t event, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    unsigned from = (unsigned)(e->offset / CELL), to = from + (unsigned)(e->size / CELL);
    if (to > FILE_CELLS) {
        m->full = true;
        return;
    }
    if (m->kind == BTRFS && !inode->length && !from && to > BLOCK_CELLS)
        holes(m, event, e->file, to);
    else if (m->kind == BTRFS || m->kind == PAPER || m->kind == STRICT)
        whole_write(m, event, e->file, from, to);
    else
        for (unsigned at = from, stop; at < to && !m->full; at = stop) {
            stop = (at / BLOCK_CELLS + 1) * BLOCK_CELLS;
            stop = stop < to ? stop : to;
            if (m->kind == EXT4)
                ext4_piece(m, event, e->file, at, stop);
            else if (m->kind == XFS)
                xfs_piece(m, event, e->file, at, stop);
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
        needs = inode->calls;
    put_size(m, event, file, length, needs);
    through_journal(m, &m->items[m->n - 1]);
    inode->sizes |= last(m);
    inode->calls |= last(m);
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
}

static void do_name(struct machine *m, uint64_t event, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    bool makes = e->call == CALL_OPEN || e->call == CALL_MKDIR;
    bool removes = e->call == CALL_UNLINK || e->call == CALL_RMDIR || e->call == CALL_RENAME;
    if (e->call == CALL_RENAME && e->file == e->other)
        return;
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
}

/* ---- syncs ---- */

/* btrfs logs a file's names, and whatever made those entries what they were before. */
static items logged_names(const struct machine *m, uint32_t file)
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
}

static void do_sync(struct machine *m, const struct event *e)
{
    struct inode *inode = &m->inodes[e->file];
    struct pass pass = {0};
    items wanted = all(m);
    if (e->call != CALL_SYNC && m->kind != STRICT) {
        wanted = inode->contents;
        if (m->kind == EXT4 || m->kind == XFS)
            wanted |= e->call == CALL_FSYNC ? inode->commit : inode->commit_data;
        else if (m->kind == BTRFS) {
            pass = (struct pass){inode->contents, logged_names(m, e->file)};
            wanted |= pass.names;
        } else
            wanted |= inode->dir_names;
    }
    kernel_runs(m, &pass);
    wait_for(m, wanted);
    for (uint32_t file = 1; file < MOST_FILES; file++)
        if (e->call == CALL_SYNC || file == e->file)
            settle(m, file);
}

/* A write that returns durable: `own` are its items. */
static void do_own_sync(struct machine *m, const struct event *e, items own)
{
    struct inode *inode = &m->inodes[e->file];
    struct pass pass = {0};
    items wanted = m->kind == STRICT ? all(m) : own;
    if (m->kind == EXT4 || m->kind == XFS) {
        for (unsigned i = 0; i < m->n; i++)
            if ((own >> i & 1) && m->items[i].dirties)
                wanted |= inode->commit_data;
    }
    if (m->kind == BTRFS) {
        pass = (struct pass){inode->contents, logged_names(m, e->file)};
        wanted |= pass.names;
    }
    /* A ranged write goes past new blocks before it. */
    for (unsigned i = 0; i < m->n; i++)
        if (own >> i & 1) {
            m->items[i].needs &= ~(m->items[i].fresh & ~own);
            if (m->items[i].kind == DATA && m->kind == EXT4)
                inode->blocks[m->items[i].from / BLOCK_CELLS] = OLD;
        }
    kernel_runs(m, &pass);
    wait_for(m, wanted);
}

/* Blocks in the range go past those outside that wait, from now on. */
static void do_range(struct machine *m, const struct event *e)
{
    items inside = 0;
    for (unsigned i = 0; i < m->n; i++) {
        const struct item *item = &m->items[i];
        unsigned block = item->from / BLOCK_CELLS;
        if (item->kind == DATA && item->file == e->file && block >= e->offset / OP_BLOCK_SIZE &&
            block <= (e->offset + e->size - 1) / OP_BLOCK_SIZE)
            inside |= (items)1 << i;
    }
    for (unsigned i = 0; i < m->n; i++) {
        struct item *item = &m->items[i];
        unsigned block = item->from / BLOCK_CELLS;
        bool as_written = m->inodes[e->file].blocks[block] != FREE &&
                          !(m->inodes[e->file].block[block] >> i >> 1);
        if (!(inside >> i & 1) || item->carried || !as_written || !(item->fresh & ~inside))
            continue;
        item->needs &= ~(item->fresh & ~inside);
        item->carried = true;
    }
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
    case CALL_SYNC_RANGE:
        do_range(m, e);
        break;
    case CALL_FSYNC:
    case CALL_FDATASYNC:
    case CALL_SYNC:
        do_sync(m, e);
        break;
    default:
        do_name(m, number, e);
    }
    if (m->full)
        return;
    if (e->traits & EVENT_DSYNC)
        do_own_sync(m, e, all(m) & ~before);
    kernel_runs(m, &(struct pass){0});
}

static void start(struct machine *m, enum kind kind, const struct litmus *litmus)
{
    memset(m, 0, sizeof *m);
    memset(m->latest, -1, sizeof m->latest);
    m->kind = kind;
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

static bool simulate(enum kind kind, const struct litmus *litmus, struct map *states)
{
    static struct machine m; /* too large for the stack */
    start(&m, kind, litmus);
    kernel_runs(&m, &(struct pass){0});
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
            if (disk >> i & 1)
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

static enum outcome compare(enum kind kind, const char *program, bool tell)
{
    struct litmus *litmus;
    struct error e;
    if (!litmus_parse(&litmus, program, "program", &e))
        return LEFT_OUT;
    struct map simulated = {0}, found = {0};
    enum outcome outcome = LEFT_OUT;
    if (simulate(kind, litmus, &simulated) && engine(kind, litmus, &found)) {
        struct difference a = {&found, "the simulator", tell, 0};
        struct difference b = {&simulated, "the engine", tell, 0};
        map_each(&simulated, look, &a);
        map_each(&found, look, &b);
        outcome = a.n || b.n ? DIFFERENT : EQUAL;
    }
    map_free(&simulated);
    map_free(&found);
    litmus_free(litmus);
    return outcome;
}

/* ---- random programs ---- */

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

static const char *pick_file(uint64_t *seed)
{
    static const char *const names[] = {"a", "a", "a", "b", "b", "d/c"};
    return names[below(seed, sizeof names / sizeof *names)];
}

/* A call; it may make no sense here, and is dropped then. */
static void random_line(uint64_t *seed, struct buf *out, char letter)
{
    static const unsigned offsets[] = {0, 0, 1024, 4096, 8192}, sizes[] = {1024, 2048, 4096, 8192},
                          lengths[] = {0, 1024, 2048, 4096, 5120, 8192};
    const char *f = pick_file(seed), *other = pick_file(seed);
    unsigned offset = offsets[below(seed, 5)], size = sizes[below(seed, 4)];
    const char *how = below(seed, 5) ? "" : " dsync";
    switch (below(seed, 22)) {
    case 0:
    case 1:
        buf_printf(out, "create %s\n", f);
        break;
    case 2:
    case 3:
    case 4:
        buf_printf(out, "pwrite %s %u %u '%c'%s\n", f, offset, size, letter, how);
        break;
    case 5:
    case 6:
    case 7:
        buf_printf(out, "append %s %u '%c'%s\n", f, size, letter, how);
        break;
    case 8:
    case 9:
        buf_printf(out, "truncate %s %u\n", f, lengths[below(seed, 6)]);
        break;
    case 10:
        buf_printf(out, "fallocate %s %u 4096%s\n", f, offset, below(seed, 2) ? " keep" : "");
        break;
    case 11:
        buf_printf(out, "unlink %s\n", f);
        break;
    case 12:
        buf_printf(out, "link %s %s\n", f, other);
        break;
    case 13:
    case 14:
        buf_printf(out, "rename %s %s\n", f, other);
        break;
    case 15:
        buf_text(out, below(seed, 3) ? "mkdir d\n" : "rmdir d\n");
        break;
    case 16:
    case 17:
        buf_printf(out, "fsync %s\n", f);
        break;
    case 18:
        buf_printf(out, "fdatasync %s\n", f);
        break;
    case 19:
        buf_printf(out, "%s %s\n", below(seed, 3) ? "fsync" : "fdatasync",
                   below(seed, 3) ? "." : "d");
        break;
    case 20:
        buf_text(out, below(seed, 2) ? "sync\n" : "print p\n");
        break;
    default:
        buf_printf(out, "sync_file_range %s %u 4096\n", f, offset);
    }
}

static bool parses(const char *text)
{
    struct litmus *litmus;
    struct error e;
    if (!litmus_parse(&litmus, text, "program", &e))
        return false;
    litmus_free(litmus);
    return true;
}

static char *random_program(uint64_t seed)
{
    static const char *const images[] = {"", "file a 4096 'O'\n", "file a 8192 'O'\n",
                                         "file a 1024 'O'\n", "file a 5120 'O'\n"};
    struct buf text = {0};
    below(&seed, 1);
    buf_text(&text, images[below(&seed, 5)]);
    if (!below(&seed, 3))
        buf_text(&text, "file b 4096 'P'\n");
    if (!below(&seed, 3))
        buf_text(&text, "dir d\n");
    unsigned lines = 2 + below(&seed, 7);
    for (unsigned i = 0; i < lines;) {
        size_t before = text.n;
        random_line(&seed, &text, (char)('q' + i));
        if (parses(buf_string(&text))) {
            i++;
            continue;
        }
        char *kept = xstrndup(text.at, before);
        buf_clear(&text);
        buf_text(&text, kept);
        free(kept);
    }
    if (below(&seed, 2))
        buf_text(&text, "print end\n");
    char *program = xstrdup(buf_string(&text));
    buf_free(&text);
    return program;
}

/* Leaves out lines as long as it still differs. */
static void shrink(enum kind kind, char *program)
{
    for (char *line = program; *line;) {
        char *next = strchr(line, '\n') + 1;
        char *shorter = xasprintf("%.*s%s", (int)(line - program), program, next);
        if (compare(kind, shorter, false) == DIFFERENT) {
            strcpy(program, shorter);
            line = program;
        } else
            line = next;
        free(shorter);
    }
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
    unsigned compared = 0, different = 0;
    double begun = seconds();
    for (uint64_t seed = 1; compared < programs; seed++) {
        char *program = random_program(seed * KINDS + kind);
        enum outcome outcome = compare(kind, program, false);
        compared += outcome != LEFT_OUT;
        if (outcome == DIFFERENT && different++ < SHOWN) {
            shrink(kind, program);
            printf("%s differs on\n%s", kind_names[kind], program);
            compare(kind, program, true);
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
