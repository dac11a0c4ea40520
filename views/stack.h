/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stack: the functions that an event was called from, the innermost first, inlined ones included. A
 * row a function; it is about its source line.
 */
#ifndef VIEWS_STACK_H
#define VIEWS_STACK_H

#include "engine/session.h"
#include "engine/symbols.h"
#include "views/view.h"

/* Session and symbols must outlive the view. */
bool stack_view(struct view **out, struct session *s, struct symbols *sy, uint64_t event,
                struct error *e);

/* The first row with source that a person can be shown, from `row` on by step: where one looks
 * first, and where one goes from there. 0 when there is none. */
uint64_t stack_view_source(struct view *v, uint64_t row, int step);

/* A view's detail: line n of a stack, *more false when there is none. */
void stack_line(struct session *s, struct symbols *sy, uint32_t stack, size_t n, struct cell *out,
                bool *more);

#endif
