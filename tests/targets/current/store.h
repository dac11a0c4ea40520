/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store: a key-value store of small numbers, made to be read in five minutes. A store is a folder:
 *
 *     log-N        puts of generation N, appended and synced one by one: "key value\n"
 *     manifest-N   what generation N began with: "key value\n" lines, then "end COUNT\n"
 *     CURRENT      the generation in force, "N\n"; replaced by renaming CURRENT.new over it
 *
 * Recovery reads CURRENT, then manifest-N, then log-N. A log that has grown long is folded into a
 * manifest of the next generation.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>

enum { KEYS = 16, ABSENT = -1 };

struct store {
    const char *dir;
    int generation;
    int log;    /* descriptor of log-N, or -1 when only read */
    int logged; /* puts in the log */
    int values[KEYS];
};

/* Opens the store in dir, making it when there is none. False with a message when its files
 * contradict each other. */
bool store_open(struct store *s, const char *dir);

/* Durable when it returns true. */
bool store_put(struct store *s, int key, int value);

/* Begins a new generation with the values as they are. */
bool store_compact(struct store *s);

/* Forgets everything, durably. */
bool store_reset(struct store *s);
void store_close(struct store *s);

/* Reads without changing anything; false with a message when there is no consistent store. */
bool store_read(struct store *s, const char *dir);

#endif
