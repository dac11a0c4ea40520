/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links: from anything that a row is about to everything else that has to do with it: an op to its
 * event, source line, behaviours, groups and bugs; a line to its ops; and so on.
 *
 * What cannot be looked up is worked out once, in slices: which ops lie on a source line, and in
 * which behaviour an op is. Until then links that need it find nothing.
 */
#ifndef VIEWS_LINKS_H
#define VIEWS_LINKS_H

#include <jansson.h>

#include "engine/analysis.h"
#include "engine/group.h"
#include "engine/stored_objects.h"
#include "views/view.h"

struct links;

/* The analysis must outlive it. */
struct links *links_new(struct analysis *a);
void links_free(struct links *l);
bool links_settle(struct links *l, uint64_t deadline, bool *done, struct error *e);

/* What is known besides, from then on, and must live until another is given: groups; objects;
 * the last check's report. NULL: none. */
void links_groups(struct links *l, const struct groups *groups);
void links_objects(struct links *l, const struct stored_objects *objects);
void links_report(struct links *l, const json_t *report);

/* Whether the report's numbers of ops are those of the graph: it is of the same model. */
bool links_report_fits(const struct links *l);

/* The subjects of a kind that one leads to, at most `max` of them; returns how many there are. The
 * nearest come first: the smallest behaviour, the innermost line, ops and bugs in their order.
 * Costs what is written besides O(log n), but for states, which ask the session.
 *
 *      from \ to    op  event  line  behaviour  group  bug  state  file  object
 *      op            x    x      x       x        x     x            x      x
 *      event         x    x      x       x        x     x            x      x
 *      line          x                                  x
 *      behaviour     x                   x        x                         x
 *      group                             x        x
 *      bug           x    x      x       x        x     x                   x
 *      state         x                   x        x     x     x
 *      file          x                                  x            x      x
 *      object        x                                  x            x      x
 *
 * A bug's ops are first what survived, then what was lost; a state's is its last survivor. A state
 * leads to the bugs whose survivors it has and whose lost ops it lacks. */
size_t links_to(struct links *l, const struct subject *from, enum subject_kind to,
                struct subject *out, size_t max);

/* The ops on a source line, ascending; valid as long as the links. */
const uint32_t *links_line(const struct links *l, const char *path, uint32_t line, size_t *n);

/* Source lines with ops have numbers from 0; that of an op, NO_LINE when it has none. */
#define NO_LINE UINT32_MAX
uint32_t links_op_line(const struct links *l, uint32_t op);
uint32_t links_line_number(const struct links *l, const char *path, uint32_t line);
size_t links_line_count(const struct links *l);

#endif
