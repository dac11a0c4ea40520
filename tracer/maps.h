/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * maps: which code is where in an address space, at one time.
 *
 * Once read, maps never change: another state of the address space is another struct maps, with
 * another id. Processes that were forked share theirs until one of them maps other code. So
 * whatever is known of an address by its maps (the rule, the stack that it is part of) holds for
 * good, and is kept under the id.
 */
#ifndef TRACER_MAPS_H
#define TRACER_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/module.h"

struct mapping {
    uint64_t start, end;
    uint64_t bias;
    struct module *module;
};

/* The code of files, sorted by address. Reads /proc/PID/maps; a process that is gone has none.
 * When nothing differs from old (may be NULL), gives old itself. The caller holds one reference
 * more either way. */
struct maps;
struct maps *maps_read(struct modules *modules, pid_t pid, struct maps *old, uint64_t *last_id);

struct maps *maps_hold(struct maps *maps);
void maps_release(struct maps *maps);

/* Differs between any two maps of one counter (last_id), never 0. */
uint64_t maps_id(const struct maps *maps);

/* Where the address lies; NULL when that is code of no file. O(log n). */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

/* The rule at an address, NULL when it was not yet given by maps_set_rule. O(1). */
const struct rule *maps_rule(const struct maps *maps, uint64_t address);
void maps_set_rule(struct maps *maps, uint64_t address, const struct rule *rule);

#endif
