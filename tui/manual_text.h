/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * manual_text: the program's own texts as the source of a man page, where dots, quotes and
 * backslashes have meanings of their own.
 */
#ifndef TUI_MANUAL_TEXT_H
#define TUI_MANUAL_TEXT_H

#include <stddef.h>

#include "engine/buf.h"

/* Appends n bytes as they are to be read, on the line that was begun. */
void manual_add_word(struct buf *out, const char *text, size_t n);

/* Appends help as --help prints it: a sentence a line, indented lines as they are, empty ones
 * between paragraphs. Begins and ends with a new line. */
void manual_add_text(struct buf *out, const char *text);

/* The same of one that has neither a capital at its beginning nor a full stop. */
void manual_add_sentence(struct buf *out, const char *text);

/* Appends "[S] [--size COLSxROWS]" with what is typed in bold and what stands for something else in
 * italics, on the line that was begun. */
void manual_add_usage(struct buf *out, const char *usage);

#endif
