/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * escape: text from file names, data and sessions made safe to show. What could steer a terminal
 * or deceive a reader (control characters, invalid UTF-8, bidirectional overrides and other
 * characters that cannot be seen) becomes \n, \x1b or \u202e; printable text passes through.
 * Also how many columns safe text takes, and cutting it to fit.
 */
#ifndef ENGINE_ESCAPE_H
#define ENGINE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/buf.h"

enum escape_flags {
    ESCAPE_ASCII = 0,         /* everything outside ASCII is escaped */
    ESCAPE_UTF8 = 1,          /* printable UTF-8 passes through; needs a UTF-8 locale */
    ESCAPE_REVERSIBLE = 2,    /* a backslash becomes two, so that the bytes can be told again */
    ESCAPE_KEEP_NEWLINES = 4, /* for text of several lines: \n passes; \t becomes spaces */
    ESCAPE_NAME = 8,          /* for paths: a space at an end of a name, unseen there, is \x20 */
};

/* ESCAPE_UTF8 when the locale in force is UTF-8, else ESCAPE_ASCII. */
int escape_locale(void);

/* Appends n bytes to b, made safe. No byte below 0x20 (but a kept newline), no 0x7f and no C1
 * character ever comes out. O(n). */
void escape_add(struct buf *b, const char *bytes, size_t n, int flags);

/* The same for a string in the locale in force, as a string of its own that the caller frees. */
char *escape_text(const char *text);

/* Bytes as a string that the caller frees, not made safe: \0 stands for each zero byte in it, or
 * [4096 zero bytes] for many on end. */
char *escape_zeros(const char *bytes, size_t n);

/* Columns that safe text takes: wide characters take two, combining ones none. */
int escape_width(const char *safe);

/* How many bytes from the start fit into width columns, combining characters included. Costs what
 * fits, however long the text is. */
size_t escape_fitting(const char *safe, int width);

/* Appends safe text, cut to at most width columns; an ellipsis shows that something is missing. */
void escape_cut(struct buf *b, const char *safe, int width, int flags);

/* The same for paths, which differ at their ends: what is missing is missing in the middle. */
void escape_cut_middle(struct buf *b, const char *safe, int width, int flags);

/* Appends safe text as XML or HTML has it: with entities. What XML forbids is not in safe text. */
void escape_xml(struct buf *b, const char *safe);

#endif
