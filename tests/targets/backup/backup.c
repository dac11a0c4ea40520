/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "backup.h"

static void set_item(struct item *to, uint64_t price, uint64_t taxed)
{
    to->price = price; /* bug:price-stored */
    to->taxed = taxed;
    persist(to, sizeof *to);
}

static void set_valid(struct array *a, uint64_t valid)
{
    a->backup.valid = valid;
    persist(&a->backup.valid, sizeof a->backup.valid);
}

void array_update(struct array *a, uint64_t index, uint64_t price)
{
    a->backup.index = index;
    persist(&a->backup.index, sizeof a->backup.index);
    a->backup.item.price = a->item[index].price;
    a->backup.item.taxed = a->item[index].taxed;
    persist(&a->backup.item, sizeof a->backup.item);
    /* The mistake: the two values are the wrong way round. */
    set_valid(a, fixed);
    set_item(&a->item[index], price, 2 * price);
    set_valid(a, !fixed);
}

struct array *array_open(const char *dir)
{
    struct array *a = map_in(dir, "array", sizeof *a);
    if (a && a->backup.valid) {
        const struct backup *b = &a->backup;
        if (b->index >= ITEMS)
            return fprintf(stderr, "the backup is of item %d\n", (int)b->index), NULL;
        set_item(&a->item[b->index], b->item.price, b->item.taxed);
        set_valid(a, 0);
    }
    return a;
}

void array_close(struct array *a)
{
    set_valid(a, 0);
    munmap(a, sizeof *a);
}
