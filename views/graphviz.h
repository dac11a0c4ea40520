/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graphviz: the library, kept in bounds. It has one state for the process, writes to standard
 * error, and reads and writes numbers by the locale. So only one thread is inside at a time, what
 * it complains of is caught, and numbers are those of the C locale while it runs.
 */
#ifndef VIEWS_GRAPHVIZ_H
#define VIEWS_GRAPHVIZ_H

#include <stdbool.h>

#include <gvc.h>

#include "engine/buf.h"
#include "engine/error.h"

struct graphviz {
    GVC_t *context;
    locale_t outside;
};

/* Waits until no other thread is inside. Every enter has its leave, by the same thread. */
void graphviz_enter(struct graphviz *z);
void graphviz_leave(struct graphviz *z);

/* Lays a graph out with dot. False with what it complained of. Freed by gvFreeLayout(). */
bool graphviz_lay_out(struct graphviz *z, Agraph_t *g, struct error *e);

/* Lays a graph out and renders it ("svg", "png:cairo"), appending to out. */
bool graphviz_render(struct graphviz *z, Agraph_t *g, const char *format, struct buf *out,
                     struct error *e);

/* Sets an attribute, whether or not it has a default. */
void graphviz_set(void *thing, const char *name, const char *value);
void graphviz_setf(void *thing, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends text from anywhere so that a label shows it as it is: no escapes, no entities. */
void graphviz_add_text(struct buf *out, const char *bytes);

#endif
