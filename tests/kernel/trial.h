/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trial: one litmus program on both sides: what a real file system was seen to leave, over a number
 * of seeds, and what a model allows.
 */
#ifndef TESTS_KERNEL_TRIAL_H
#define TESTS_KERNEL_TRIAL_H

#include "engine/litmus.h"
#include "engine/map.h"
#include "engine/model.h"
#include "engine/vec.h"
#include "tests/kernel/device.h"

struct trial_state {
    char *text;
    bool is_seen, is_allowed;
    /* How much had been printed at the latest moment at which it was seen, or may be left. */
    unsigned seen_after, allowed_after;
    uint64_t seed; /* that it was seen with so late first */
    size_t images; /* that left it */
    char *why;     /* what it has lost, and why it may */
};

struct trial {
    const struct litmus *litmus;
    struct map index; /* text → its place in states, plus 1 */
    vec_of(struct trial_state) states;
    size_t images;
};

/* What the model allows. */
bool trial_allow(struct trial *t, const struct litmus *l, const struct model *model,
                 struct error *e);

/* Runs the program with a seed on a device that keeps an empty file system, and looks at
 * about `images` of what it may leave. */
bool trial_run(struct trial *t, struct device *device, uint64_t seed, size_t images,
               struct error *e);
void trial_free(struct trial *t);

/* Seen, and not allowed, or not so late. */
bool trial_missed(const struct trial_state *s);
/* Allowed, and not seen, or not so late. */
bool trial_unseen(const struct trial_state *s);

#endif
