/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * list: a linked list in persistent memory that knows its length. It is one file, `list`, of zeros
 * at first. What a transaction changes is logged before: as long as the log has entries, recovery
 * puts the old values back.
 */
#ifndef LIST_H
#define LIST_H

#include "mapped.h"

enum { NODES = 8, LOGGED = 2 };

struct log_entry {
    uint64_t place; /* of a word in the file */
    uint64_t old;   /* what was there */
};

struct undo_log {
    uint64_t count; /* entries that count; 0: no transaction is under way */
    struct log_entry entry[LOGGED];
};

struct root {
    uint64_t head; /* the first node's place */
    uint64_t length;
};

struct node {
    uint64_t value;
    uint64_t next; /* its place */
};

struct list {
    _Alignas(LINE) struct undo_log log;
    _Alignas(LINE) struct root root;
    _Alignas(LINE) struct node node[NODES];
};

/* The list in dir, mapped and recovered; NULL with a message. */
struct list *list_open(const char *dir);
void list_close(struct list *l);

/* Puts a value in front of the others; durable when it returns true, false when there is no room.
 */
bool list_push(struct list *l, uint64_t value);

/* Takes the first value away. */
uint64_t list_pop(struct list *l);

/* What the workload does: how long the list is after each operation, from 0. */
static const int lengths[] = {0, 1, 2, 3, 2, 3};
enum { OPERATIONS = sizeof lengths / sizeof *lengths - 1 };

/* The node at a place, NULL for none. */
const struct node *list_node(const struct list *l, uint64_t place);

#endif
