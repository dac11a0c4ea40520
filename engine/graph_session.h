/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_session: a session as the source of a graph: its events, and of its starting image the
 * lengths of files and where they have data.
 */
#ifndef ENGINE_GRAPH_SESSION_H
#define ENGINE_GRAPH_SESSION_H

#include "engine/graph.h"
#include "engine/session.h"

struct graph_session;

/* The session must stay open as long as this. */
bool graph_session_open(struct graph_session **out, struct session *s, struct error *e);
void graph_session_close(struct graph_session *gs);

const struct graph_source *graph_session_source(const struct graph_session *gs);

#endif
