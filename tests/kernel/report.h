/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report: a trial in words, and whether model and kernel agree.
 */
#ifndef TESTS_KERNEL_REPORT_H
#define TESTS_KERNEL_REPORT_H

#include "engine/buf.h"
#include "tests/kernel/expected.h"
#include "tests/kernel/trial.h"

struct report {
    unsigned seen, allowed; /* states */
    unsigned missed;        /* seen, and not allowed */
    unsigned unseen;        /* allowed, and not seen, */
    unsigned unjustified;   /* without a reason in the litmus file */
};

/* What a trial came to. x may be NULL: then nothing unseen needs a reason. model: the words that
 * expected.h has for the model. Adds a line for each state on which the two sides differ; of a file
 * that says nothing yet, lines that it might say. */
struct report report_trial(const struct trial *t, const struct expected *x, const char *model,
                           struct buf *out);

#endif
