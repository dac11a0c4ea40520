/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * error: what went wrong, in a sentence for a person.
 *
 * Every engine function that can fail returns bool and takes a struct error. The text names the
 * thing that failed and the way out ("checker not found: ./check: No such file; give one with
 * --checker"). Only main() prints it and exits; nothing below main() does either.
 */
#ifndef ENGINE_ERROR_H
#define ENGINE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum { ERROR_TEXT_MAX = 1024 };

struct error {
    char text[ERROR_TEXT_MAX];
};

/* Sets the text and returns false, so that a failing function can end in `return error_set(…)`.
 * e may be NULL when the caller does not care. */
bool error_set(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with ": " and the meaning of errno appended. */
bool error_errno(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "what: " in front of a text that is already there. Returns false. */
bool error_prefix(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
