/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * backup: an array in persistent memory whose items are copied before they are changed in place. It
 * is one file, `array`, of zeros at first. As long as the copy is valid recovery puts it back.
 */
#ifndef BACKUP_H
#define BACKUP_H

#include "mapped.h"

enum { ITEMS = 4 };

/* Both halves change together. */
struct item {
    uint64_t price;
    uint64_t taxed; /* twice the price */
};

struct backup {
    uint64_t valid;
    uint64_t index;
    struct item item;
};

struct array {
    _Alignas(LINE) struct backup backup;
    _Alignas(LINE) struct item item[ITEMS];
};

/* The array in dir, mapped and recovered; NULL with a message. */
struct array *array_open(const char *dir);

/* Durable when it returns. */
void array_update(struct array *a, uint64_t index, uint64_t price);

/* Leaves the array so that there is nothing to recover. */
void array_close(struct array *a);

#endif
