/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mem: allocation that never returns NULL. Running out of memory ends the program with a message;
 * sessions are safe then, because they are only ever changed in SQLite transactions.
 */
#ifndef ENGINE_MEM_H
#define ENGINE_MEM_H

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *xcalloc(size_t count, size_t size)
    __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull, nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull, nonnull));
char *xasprintf(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#endif
