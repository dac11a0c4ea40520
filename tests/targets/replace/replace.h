/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replace: two ways to save a document. Whoever reads it wants the old version or the new one,
 * whole. A document is text:
 *
 *     version N
 *     (some lines)
 *     end N
 */
#ifndef REPLACE_H
#define REPLACE_H

#include "target.h"

enum { NO_DOCUMENT = 0, DAMAGED = -1 };

/* Both leave the document durable when they return true. */
bool replace_by_rename(const char *dir, const char *name, int version);
bool replace_by_truncate(const char *dir, const char *name, int version);

/* The version of the document as a reader finds it; NO_DOCUMENT; DAMAGED with a message. */
int replace_read(const char *dir, const char *name);

#endif
