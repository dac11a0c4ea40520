/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doctor: what this machine has of what flotsam can use. Each check tries the thing itself where it
 * can (traces a child, makes a namespace) rather than guess from versions. What recording and
 * checking need is here; other rooms have tables of what they need themselves (views/doctor.h,
 * tui/doctor_terminal.h).
 */
#ifndef ENGINE_DOCTOR_H
#define ENGINE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/buf.h"

struct doctor_check {
    const char *name;
    const char *needed_by; /* what does not work without it */
    bool required;         /* recording does not work without it */

    /* Whether it is there; found gets what was seen, in a few words, escaped. */
    bool (*probe)(struct buf *found);

    const char *remedy; /* how to get it */
};

struct doctor_table {
    const struct doctor_check *checks;
    size_t n;
};

/* The kernel, its devices, and programs; what recording needs comes first. */
struct doctor_table doctor_machine(void);

#endif
