/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * companions: what the panes beside a desk's main one show for its selection. Each function is the
 * follow of the desks that are about such a thing.
 */
#ifndef TUI_COMPANIONS_H
#define TUI_COMPANIONS_H

#include "tui/debugger.h"

void follow_bug(struct debugger *d);
void follow_event(struct debugger *d);
void follow_op(struct debugger *d);
void follow_node(struct debugger *d);
void follow_behaviour(struct debugger *d);
void follow_group(struct debugger *d);
void follow_listed(struct debugger *d); /* a state of the last check */
void follow_walk(struct debugger *d);
void follow_file(struct debugger *d);
void follow_object(struct debugger *d);
void follow_row(struct debugger *d);
void follow_why(struct debugger *d);
void follow_line(struct debugger *d);

/* A view of everything that something is connected with. */
struct view *links_of(struct debugger *d, const struct subject *s, struct error *e);

#endif
