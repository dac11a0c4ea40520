/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

char *buf_room(struct buf *b, size_t n)
{
    if (n >= b->cap - b->n) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap - b->n <= n && cap <= SIZE_MAX / 2)
            cap *= 2;
        if (cap - b->n <= n)
            cap = SIZE_MAX; /* more than there can be: fails as all memory that is not there */
        b->at = xrealloc(b->at, cap);
        b->cap = cap;
    }
    char *room = b->at + b->n;
    b->n += n;
    b->at[b->n] = '\0';
    return room;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *room = buf_room(b, n);
    if (n)
        memcpy(room, bytes, n);
}

void buf_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_char(struct buf *b, char c)
{
    *buf_room(b, 1) = c;
}

void buf_hex(struct buf *b, const void *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) {
        buf_char(b, digits[at[i] >> 4]);
        buf_char(b, digits[at[i] & 0xf]);
    }
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        char *room = buf_room(b, (size_t)n);
        vsnprintf(room, (size_t)n + 1, format, again);
    }
    va_end(again);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    if (b->at)
        b->at[0] = '\0';
}

void buf_free(struct buf *b)
{
    free(b->at);
    *b = (struct buf){0};
}

const char *buf_string(const struct buf *b)
{
    return b->at ? b->at : "";
}
