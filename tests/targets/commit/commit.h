/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * commit: entries whose two halves live in two files, and a third file that says how many of them
 * count. A store is a folder:
 *
 *     names, places   one record an entry, appended
 *     commits         one record a committed entry, appended when both halves are written
 *
 * Recovery takes the last sound commit record; what lies beyond it in the other two is ignored.
 */
#ifndef COMMIT_H
#define COMMIT_H

#include "target.h"

struct commit_store {
    const char *dir;
    int names, places, commits; /* descriptors */
    int count;                  /* entries committed */
};

/* Opens the store in dir, making it when there is none. */
bool commit_open(struct commit_store *s, const char *dir);

/* Adds the next entry; durable when it returns true. */
bool commit_add(struct commit_store *s, const char *name, const char *place);
void commit_close(struct commit_store *s);

/* Reads without changing anything: the number of entries; −1 with a message when an entry that is
 * committed is not there. */
int commit_read(const char *dir);

#endif
