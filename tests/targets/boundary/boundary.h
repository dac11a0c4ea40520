/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * boundary: a journal of texts in one file, `journal`, which is preallocated and filled with zeros
 * so that an append changes neither its size nor its blocks. A record is a header (length and
 * checksum) and a text; a length of zero ends the journal. Most records lie within one block, which
 * the disk writes as a whole; a few cross into the next.
 */
#ifndef BOUNDARY_H
#define BOUNDARY_H

#include "target.h"

enum { JOURNAL_LENGTH = 2 * 4096, TEXT_LENGTH = 1200 };

struct journal {
    int fd;
    size_t end; /* where the next record goes */
};

/* Opens the journal in dir, making it when there is none. */
bool journal_open(struct journal *j, const char *dir);

/* Durable when it returns true. The text has at most TEXT_LENGTH bytes. */
bool journal_append(struct journal *j, const char *text);
void journal_close(struct journal *j);

/* Recovery: the text of the record at *at, and where the next one is; NULL at the end. The text
 * stays valid until the next call. */
const char *journal_next(const struct journal *j, size_t *at);

#endif
