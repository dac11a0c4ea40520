/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace: the recorded events as a view; a row is an event, its number the event's. Columns: event,
 * thread, call, what it did, result, function and source line of the innermost frame with source.
 * A row's detail is its stack, with inlined functions.
 */
#ifndef VIEWS_TRACE_H
#define VIEWS_TRACE_H

#include "engine/fields.h"
#include "engine/session.h"
#include "engine/symbols.h"
#include "views/trace_filter.h"
#include "views/view.h"

/* All must outlive the view; fields and filter may be NULL. Freed by view->ops->close(). */
struct view *trace_view(struct session *s, struct symbols *sy, const struct fields *f,
                        struct trace_filter *filter);

#endif
