/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What changes of names become under a model, the copies of them that a sync carries, and the log
 * in which those stay.
 */
#include "engine/graph_inside.h"

#include <stdio.h>
#include <stdlib.h>

struct entry_key {
    uint32_t dir, name;
};

/* The entry's last change comes first; this op is its last from now on. */
static void touch_entry(struct builder *b, uint32_t dir, uint32_t name, uint32_t op)
{
    if (!dir)
        return;
    struct entry_key key = {dir, name};
    uint64_t *last = map_put(&b->entries, &key, sizeof key, NULL);
    builder_edge(b, (uint32_t)*last - 1, RULE_ENTRY);
    *last = (uint64_t)op + 1;
    struct inode *parent = builder_inode(b, dir);
    parent->directory = true;
    /* Where a sync of a directory keeps its entries and no more, its own name may be lost after
     * that, and what it holds with it. */
    if (b->model.sync != SYNC_OWN_ENTRIES)
        builder_edge(b, parent->created, RULE_PARENT);
    if (b->model.names == NAMES_SAME_FILE)
        builder_edge(b, parent->last_name, RULE_JOURNAL);
    /* Entries are what a directory holds: fdatasync of it is fsync. */
    builder_changed(b, parent, op);
    parent->last_name = op;
    vec_push(&parent->entries, op);
}

/* A directory that goes was emptied before. */
static void after_entries(struct builder *b, uint32_t dir)
{
    struct inode *inode = builder_inode(b, dir);
    for (size_t i = 0; i < inode->entries.n; i++)
        builder_edge(b, inode->entries.at[i], RULE_ENTRY);
}

static bool makes_file(const struct event *e)
{
    return e->call == CALL_OPEN || e->call == CALL_MKDIR || e->call == CALL_MKNOD ||
           e->call == CALL_SYMLINK || (e->traits & EVENT_MOVED_IN);
}

static bool gives_name(const struct event *e)
{
    return makes_file(e) || e->call == CALL_LINK || e->call == CALL_RENAME;
}

/* Names of one file in order, where that is the rule. Contents are no names. */
static void file_names(struct builder *b, uint32_t file, uint32_t op)
{
    struct inode *inode = builder_inode(b, file);
    if (b->model.names == NAMES_SAME_FILE)
        builder_edge(b, inode->last_name, RULE_JOURNAL);
    builder_changed_name(b, inode, op);
    inode->last_name = op;
}

static void own_inode(struct builder *b, uint32_t op)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    if (makes_file(e)) {
        inode->created = op;
        if (e->traits & EVENT_MOVED_IN)
            inode->length = e->size;
    } else
        builder_edge(b, inode->created, RULE_ENTRY);
    struct given_name name = {op, e->dir, e->name};
    if (e->call == CALL_RENAME)
        name = (struct given_name){op, e->other_dir, e->other_name};
    if (gives_name(e) && name.dir)
        vec_push(&inode->names, name);
    file_names(b, e->file, op);
}

/* Allocations are in order, the last stands for all; where they come with data they are not. */
static void after_allocations(struct builder *b, struct inode *inode)
{
    builder_edge(b, inode->sized, RULE_RENAME_OVER);
    for (size_t i = 0; i < inode->new_data.n; i++)
        builder_edge(b, inode->new_data.at[i], RULE_RENAME_OVER);
    inode->new_data.n = 0; /* what comes later waits for the rename */
}

/* ---- copies that a sync carries ---- */

/* It has the effect of the event that issued the original, wherever the sync comes from. */
static uint32_t copy_op(struct builder *b, uint32_t original, bool durable)
{
    struct op op = b->ops.at[original];
    uint64_t event = op.event;
    op.flags |= OP_CARRIED;
    op.carried = original;
    uint32_t copy = builder_op(b, op);
    b->ops.at[copy].event = event;
    if (durable)
        b->covered.at[copy] = b->event.exit;
    vec_push(&b->carried, copy);
    builder_logged(b, op.file);
    return copy;
}

/* What stands for an op from now on: its copy when it has one. */
static uint32_t copy_of(const struct builder *b, uint32_t op)
{
    const uint64_t *copy = map_get(&b->copies, &op, sizeof op);
    return copy ? (uint32_t)*copy : op;
}

static void set_copy(struct builder *b, uint32_t original, uint32_t copy)
{
    *map_put(&b->copies, &original, sizeof original, NULL) = copy;
}

static uint32_t last_of_entry(const struct builder *b, uint32_t dir, uint32_t name)
{
    struct entry_key key = {dir, name};
    const uint64_t *last = map_get(&b->entries, &key, sizeof key);
    return last ? (uint32_t)*last - 1 : NO_OP;
}

bool builder_is_current(const struct builder *b, const struct given_name *name)
{
    return last_of_entry(b, name->dir, name->name) == name->op;
}

static bool of_entry(struct graph_edge edge)
{
    return edge.rule == RULE_PARENT || edge.rule == RULE_ENTRY;
}

/* A copy that was in the log is there for good. */
static void make_durable(struct builder *b, uint32_t copy)
{
    if (b->covered.at[copy] > b->event.exit)
        b->covered.at[copy] = b->event.exit;
}

void builder_carry_names(struct builder *b, const struct carrying *c)
{
    vec_of(uint32_t) todo = {0}, found = {0};
    for (size_t i = 0; i < c->n; i++)
        vec_push(&todo, c->names[i]);
    while (todo.n) {
        uint32_t op = todo.at[--todo.n];
        bool added;
        uint64_t *copy = map_put(&b->copies, &op, sizeof op, &added);
        if (!added) {
            if (c->durable && *copy)
                make_durable(b, (uint32_t)*copy);
            continue;
        }
        vec_push(&found, op);
        for (uint32_t i = b->first.at[op]; i < builder_edges_end(b, op); i++)
            if (of_entry(b->edges.at[i]))
                vec_push(&todo, b->edges.at[i].from);
    }
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, op_by_number);
    uint32_t previous = c->after;
    for (size_t k = 0; k < found.n; k++) {
        uint32_t original = found.at[k], copy = copy_op(b, original, c->durable);
        builder_edge(b, previous, RULE_JOURNAL);
        for (size_t i = 0; k == 0 && i < c->contents_n; i++)
            builder_edge(b, c->contents[i], RULE_CARRIED);
        for (uint32_t i = b->first.at[original]; i < builder_edges_end(b, original); i++)
            if (of_entry(b->edges.at[i]))
                builder_edge(b, copy_of(b, b->edges.at[i].from),
                             (enum model_rule)b->edges.at[i].rule);
        set_copy(b, original, copy);
        previous = copy;
    }
    vec_free(&todo);
    vec_free(&found);
}

/* ---- what the log takes by itself ---- */

/* Where a sync carries names there is a log of them until everything is synced, and any later sync
 * writes it, whatever it is of. */
static bool in_log(const struct builder *b, uint32_t op)
{
    const uint64_t *copy = op == NO_OP ? NULL : map_get(&b->copies, &op, sizeof op);
    return copy && *copy >= b->synced;
}

/* Whether the change goes into the log at the call: what is there is taken out or named anew, and
 * so is a file that moves out of a directory that is there. */
static bool goes_into_log(struct builder *b)
{
    const struct event *e = &b->event;
    if (b->model.sync != SYNC_OWN_NAME)
        return false;
    switch (e->call) {
    case CALL_UNLINK:
    case CALL_RMDIR:
        return in_log(b, last_of_entry(b, e->dir, e->name));
    case CALL_RENAME:
        return in_log(b, last_of_entry(b, e->dir, e->name)) ||
               (e->dir && builder_inode(b, e->dir)->logged > b->synced);
    case CALL_LINK:
        return in_log(b, builder_inode(b, e->file)->created);
    default:
        return false;
    }
}

/* A rename over a file whose name is in the log, of one that is not: that name is taken out at the
 * call, and the rename put in with the rest of the journal. The op in the log, or NO_OP. */
static uint32_t replaced_in_log(const struct builder *b)
{
    const struct event *e = &b->event;
    bool over = e->call == CALL_RENAME && e->other && !(e->flags & RENAME_EXCHANGE);
    if (b->model.sync != SYNC_OWN_NAME || !over)
        return NO_OP;
    uint32_t last = last_of_entry(b, e->other_dir, e->other_name);
    return in_log(b, last) ? last : NO_OP;
}

/* The log is written as a whole, but it begins anew whenever the journal is written. So a change of
 * what is in the log comes after an earlier change of what went there later: as long as the first
 * is in the log, so is the second. The directories above a synced file are logged again with
 * others. */
static void log_change(struct builder *b, uint32_t op)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    uint32_t since = in_log(b, inode->created) ? copy_of(b, inode->created) : 0;
    bool after = !inode->directory && b->newest_since >= inode->synced_at &&
                 b->newest_since >= builder_inode(b, e->dir)->synced_at;
    struct carrying c = {.names = &op, .n = 1, .after = after ? b->newest : NO_OP};
    builder_carry_names(b, &c);
    if (since >= b->newest_since) {
        b->newest = copy_of(b, op);
        b->newest_since = since;
    }
}

static void forget_replaced(struct builder *b, uint32_t rename, uint32_t replaced)
{
    struct op op = {.kind = OP_NAME, .flags = OP_REPLACED, .file = b->event.other};
    op.carried = rename;
    builder_op(b, op);
    builder_edge(b, copy_of(b, replaced), RULE_ENTRY);
}

/* ---- changes of names ---- */

/* Whether the event changes names at all. */
static bool changes_names(const struct event *e)
{
    switch (e->call) {
    case CALL_OPEN:
        return (e->traits & EVENT_CREATED) && e->name;
    case CALL_RENAME:
    case CALL_LINK:
    case CALL_SYMLINK:
    case CALL_UNLINK:
    case CALL_MKDIR:
    case CALL_RMDIR:
    case CALL_MKNOD:
    case CALL_CHMOD:
        return e->file != 0;
    default:
        return false;
    }
}

void builder_names(struct builder *b)
{
    const struct event *e = &b->event;
    if (!changes_names(e))
        return;
    bool no_op = e->call == CALL_RENAME && e->file == e->other; /* two names of one file */
    if (no_op)
        return;
    bool logged = goes_into_log(b);
    uint32_t replaced = logged ? NO_OP : replaced_in_log(b);
    uint32_t op = builder_op(b, (struct op){.kind = OP_NAME, .file = e->file});
    if (e->call == CALL_RENAME && e->other && b->model.rename_allocates)
        after_allocations(b, builder_inode(b, e->file));
    if (e->call == CALL_RMDIR)
        after_entries(b, e->file);
    if (e->call != CALL_CHMOD)
        touch_entry(b, e->dir, e->name, op);
    if (e->call == CALL_RENAME)
        touch_entry(b, e->other_dir, e->other_name, op);
    own_inode(b, op);
    if (e->other)
        file_names(b, e->other, op);
    for (size_t i = 0; i < b->resizes.n; i++)
        builder_edge(b, b->resizes.at[i], RULE_JOURNAL);
    b->resizes.n = 0;
    builder_into_journal(b, op);
    if (logged)
        log_change(b, op);
    else if (replaced != NO_OP)
        forget_replaced(b, op, replaced);
}
