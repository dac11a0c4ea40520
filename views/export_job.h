/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * export_job: a file written in a thread of its own, for those who have a screen to keep alive:
 * pictures take seconds.
 */
#ifndef VIEWS_EXPORT_JOB_H
#define VIEWS_EXPORT_JOB_H

#include "views/export.h"

struct export_job;

/* Takes from the subgraph what it needs; that may go then. The format is that of the suffix. NULL
 * with what is wrong. */
struct export_job *export_job_start(const struct subgraph *s, const char *path, struct error *e);

/* Becomes readable when it has ended. */
int export_job_fd(const struct export_job *job);
bool export_job_done(const struct export_job *job);

const char *export_job_path(const struct export_job *job);

/* Waits for its end, and frees it. False with what went wrong. */
bool export_job_finish(struct export_job *job, struct error *e);

#endif
