/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "list.h"

static uint64_t place_of(const struct list *l, const void *at)
{
    return (uint64_t)((const char *)at - (const char *)l);
}

static void *word_at(struct list *l, uint64_t place)
{
    return place && place % sizeof(uint64_t) == 0 && place < sizeof *l ? (char *)l + place : NULL;
}

const struct node *list_node(const struct list *l, uint64_t place)
{
    uint64_t first = place_of(l, l->node), n = (place - first) / sizeof(struct node);
    if (place < first || n >= NODES || (place - first) % sizeof(struct node))
        return NULL;
    return &l->node[n];
}

/* Where the next node goes: the first that is not in the list. */
static struct node *free_node(struct list *l)
{
    bool used[NODES] = {false};
    for (uint64_t place = l->root.head; place; place = list_node(l, place)->next)
        used[list_node(l, place) - l->node] = true;
    for (int i = 0; i < NODES; i++)
        if (!used[i])
            return &l->node[i];
    return NULL;
}

static void log_word(struct list *l, int i, const uint64_t *word)
{
    struct log_entry *e = &l->log.entry[i];
    e->place = place_of(l, word);
    e->old = *word;
    persist(e, sizeof *e);
}

/* A transaction begins: both words of the root can be put back. */
static void begin(struct list *l)
{
    int n = 0;
    log_word(l, n++, &l->root.head);
    /* The mistake: without this the length is as it was left, whatever becomes of the head. */
    if (fixed)
        log_word(l, n++, &l->root.length);
    l->log.count = (uint64_t)n;
    persist(&l->log.count, sizeof l->log.count);
}

static void end(struct list *l)
{
    persist(&l->root, sizeof l->root);
    l->log.count = 0;
    persist(&l->log.count, sizeof l->log.count);
}

/* All that a transaction does. */
static void change_root(struct list *l, uint64_t head, uint64_t length)
{
    begin(l);
    l->root.head = head;
    l->root.length = length; /* bug:length-stored */
    end(l);
}

bool list_push(struct list *l, uint64_t value)
{
    struct node *n = free_node(l);
    if (!n)
        return false;
    n->value = value;
    n->next = l->root.head;
    persist(n, sizeof *n);
    change_root(l, place_of(l, n), l->root.length + 1);
    return true;
}

uint64_t list_pop(struct list *l)
{
    const struct node *n = list_node(l, l->root.head);
    change_root(l, n->next, l->root.length - 1);
    return n->value;
}

/* Takes back what a transaction has done that did not end. */
static bool recover(struct list *l)
{
    for (uint64_t i = 0; i < l->log.count; i++) {
        uint64_t *word = i < LOGGED ? word_at(l, l->log.entry[i].place) : NULL;
        if (!word) {
            fprintf(stderr, "entry %d of the log makes no sense\n", (int)i);
            return false;
        }
        *word = l->log.entry[i].old;
        persist(word, sizeof *word);
    }
    l->log.count = 0;
    persist(&l->log.count, sizeof l->log.count);
    return true;
}

struct list *list_open(const char *dir)
{
    struct list *l = map_in(dir, "list", sizeof *l);
    return l && (l->log.count == 0 || recover(l)) ? l : NULL;
}

void list_close(struct list *l)
{
    munmap(l, sizeof *l);
}
