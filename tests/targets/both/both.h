/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * both: values in a log that is written, found by an index that is mapped. A store is a folder:
 *
 *     log     one record a put, appended
 *     index   for each key where in the log the end of its record is, 0 when it has none; zeros at
 *             first
 *
 * Recovery believes the index; records that it does not name are ignored.
 */
#ifndef BOTH_H
#define BOTH_H

#include "mapped.h"

struct index {
    uint64_t end[KEYS];
};

struct both {
    struct index *index;
    int log; /* descriptor */
};

/* Opens the store in dir. */
bool both_open(struct both *b, const char *dir);
void both_close(struct both *b);

/* Gives a key a value; durable when it returns true. */
bool both_put(struct both *b, int key, int32_t value);

/* Reads all values, 0 where there is none; false with a message when the index names a record that
 * is not there. */
bool both_read(const struct both *b, int32_t values[KEYS]);

#endif
