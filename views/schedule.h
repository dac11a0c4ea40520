/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * schedule: the run as the schedule in hand (engine/walk.h) has it. A row an op in the order in
 * which they were issued, marked persisted, lost, in flight or not yet issued; between them the
 * syncs and what the program told the world, where they returned; and the crash, a line across,
 * where it comes: what stands below had not happened.
 */
#ifndef VIEWS_SCHEDULE_H
#define VIEWS_SCHEDULE_H

#include "engine/analysis.h"
#include "engine/walk.h"
#include "views/view.h"

/* Which rows there are, the crash apart: the same for all schedules of a run. Made in slices; a
 * view of them is empty until they are all there. */
struct schedule_rows;

struct schedule_rows *schedule_rows_new(struct analysis *a);
bool schedule_rows_settle(struct schedule_rows *rows, uint64_t deadline, bool *done,
                          struct error *e);
void schedule_rows_free(struct schedule_rows *rows);

/* All must outlive the view. It shows what the walk has when it is drawn. */
struct view *schedule_view(struct schedule_rows *rows, struct walk *walk);

/* The row where the walk stands: its last survivor, or the sync that one went to; 0 before all. */
uint64_t schedule_view_here(struct view *v);

/* The row of the crash; 0 when the run had ended. */
uint64_t schedule_view_crash(struct view *v);

/* "crash during 26 fdatasync", and "18 of 21 ops persisted". */
bool schedule_crash_words(struct cell *c, struct analysis *a, const struct walk *w,
                          struct error *e);
void schedule_count_words(struct cell *c, const struct walk *w);

/* What an op is to those who look at it: one in flight that was chosen to be lost is lost. */
enum walk_mark schedule_mark_of(const struct walk *w, uint32_t op);

/* The sign of a mark in its style; and with a space behind it. */
void schedule_sign(struct cell *c, enum walk_mark mark);
void schedule_mark(struct cell *c, enum walk_mark mark);

#endif
