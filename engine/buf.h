/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * buf: bytes that grow at the end, and text built piece by piece. Zero a struct buf to begin.
 * The bytes are always followed by a NUL that is not counted in n, once anything was added.
 */
#ifndef ENGINE_BUF_H
#define ENGINE_BUF_H

#include <stddef.h>

struct buf {
    char *at;
    size_t n, cap;
};

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_text(struct buf *b, const char *text);
void buf_char(struct buf *b, char c);
/* Bytes as hexadecimal digits, two each. */
void buf_hex(struct buf *b, const void *bytes, size_t n);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds n bytes without setting them; returns where they begin, valid until the next addition. */
char *buf_room(struct buf *b, size_t n);

/* Forgets the contents, keeps the memory. */
void buf_clear(struct buf *b);
void buf_free(struct buf *b);

/* The text so far, "" when nothing was added. Valid until the next addition. */
const char *buf_string(const struct buf *b);

#endif
