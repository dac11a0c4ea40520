/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "engine/log.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "tracer/maps.h"

struct unwinder {
    struct recording *recording;
    struct modules *modules;
    uint64_t last_maps_id;
    struct map stacks; /* id of the maps and pcs, as in key, to stack numbers */

    /* The unwind at work, or the last one. */
    struct snapshot memory;
    struct maps *maps;
    size_t depth;
    struct {
        uint64_t maps_id;
        uint64_t pc[UNWIND_DEPTH_MAX];
    } key;
    struct frame frames[UNWIND_DEPTH_MAX];
};

struct space {
    struct unwinder *unwinder;
    struct maps *maps; /* NULL: never read */
    size_t references;
    bool changed; /* maps may be out of date */
};

struct unwinder *unwinder_new(struct recording *recording)
{
    struct unwinder *u = xcalloc(1, sizeof *u);
    u->recording = recording;
    u->modules = modules_new(recording);
    return u;
}

void unwinder_free(struct unwinder *u)
{
    if (!u)
        return;
    maps_release(u->maps);
    map_free(&u->stacks);
    modules_free(u->modules);
    free(u);
}

struct space *space_new(struct unwinder *u)
{
    struct space *space = xcalloc(1, sizeof *space);
    space->unwinder = u;
    space->references = 1;
    space->changed = true;
    return space;
}

struct space *space_share(struct space *space)
{
    space->references++;
    return space;
}

struct space *space_copy(const struct space *space)
{
    struct space *copy = space_new(space->unwinder);
    copy->changed = space->changed;
    copy->maps = space->maps ? maps_hold(space->maps) : NULL;
    return copy;
}

void space_release(struct space *space)
{
    if (!space || --space->references)
        return;
    maps_release(space->maps);
    free(space);
}

void space_changed(struct space *space)
{
    space->changed = true;
}

/* Says whether the maps are others than before. */
static bool reread(struct unwinder *u, struct space *space, pid_t tid)
{
    struct maps *old = space->maps;
    space->maps = maps_read(u->modules, tid, old, &u->last_maps_id);
    space->changed = false;
    bool differs = space->maps != old;
    maps_release(old);
    if (differs)
        log_debug(UNWIND, "thread %d: maps %llu", (int)tid,
                  (unsigned long long)maps_id(space->maps));
    return differs;
}

/* The rule at an address that was not yet met in these maps. */
static const struct rule *meet(struct maps *maps, uint64_t address)
{
    const struct mapping *m = maps_find(maps, address);
    const struct rule *rule = m ? module_rule(m->module, address - m->bias) : rule_frame_pointer();
    maps_set_rule(maps, address, rule);
    return rule;
}

static uint64_t bias_at(const struct maps *maps, uint64_t address)
{
    const struct mapping *m = maps_find(maps, address);
    return m ? m->bias : 0;
}

enum walk { WALK_DONE, WALK_CUT, WALK_STRANGE };

/* Fills key with the stack's pcs. WALK_STRANGE: it met code that the maps do not have, for the
 * first time; they may be out of date although nobody said so (mprotect). */
static enum walk walk(struct unwinder *u, struct maps *maps, struct registers *r, bool trust)
{
    bool exact = true; /* pc is the next instruction, not the one after a call */
    u->depth = 0;
    for (;;) {
        if (u->depth == UNWIND_DEPTH_MAX)
            return WALK_CUT;
        u->key.pc[u->depth++] = r->pc;
        uint64_t address = exact ? r->pc : r->pc - 1;
        const struct rule *rule = maps_rule(maps, address);
        if (!rule) {
            if (!trust && !maps_find(maps, address))
                return WALK_STRANGE;
            rule = meet(maps, address);
        }
        uint64_t bias = rule_wants_bias(rule) ? bias_at(maps, address) : 0;
        exact = rule_is_signal(rule);
        if (!rule_apply(rule, r, &u->memory, bias))
            return WALK_DONE;
    }
}

static void walk_in_space(struct unwinder *u, struct space *space, pid_t tid,
                          const struct user_regs_struct *user, struct snapshot_along *along)
{
    struct registers r;
    bool trust = space->changed; /* the maps are as new as can be */
    if (space->changed)
        reread(u, space, tid);
    snapshot_take(&u->memory, tid, user->rsp, along);
    registers_from_user(&r, user);
    enum walk end = walk(u, space->maps, &r, trust);
    if (end == WALK_STRANGE) {
        reread(u, space, tid);
        registers_from_user(&r, user);
        end = walk(u, space->maps, &r, true);
    }
    if (end == WALK_CUT)
        recording_notice(u->recording, NOTICE_STACK_CUT,
                         "deeper than the limit; its outermost frames "
                         "are missing");
}

/* From addresses in the thread to addresses in modules. The frame that the kernel made for a
 * handler returns to the first byte of a function that was never called, so it is exact as well
 * as the one that was interrupted. */
static void convert(struct unwinder *u)
{
    bool exact = true;
    for (size_t i = 0; i < u->depth; i++) {
        uint64_t pc = u->key.pc[i], address = exact ? pc : pc - 1;
        const struct mapping *m = maps_find(u->maps, address);
        bool signal = rule_is_signal(meet(u->maps, address));
        u->frames[i] = (struct frame){.module = m ? module_number(m->module) : 0,
                                      .flags = exact || signal ? FRAME_EXACT : 0,
                                      .address = m ? pc - m->bias : pc};
        exact = signal;
    }
}

/* The number of the stack in key, as it is in these maps. */
static uint32_t number_stack(struct unwinder *u, struct space *space)
{
    if (u->maps != space->maps) {
        maps_release(u->maps);
        u->maps = maps_hold(space->maps);
    }
    /* Equal pcs in equal maps are equal frames: the rules that said which pc is exact are
     * the same. */
    u->key.maps_id = maps_id(u->maps);
    size_t size = (u->depth + 1) * sizeof(uint64_t);
    bool added;
    uint64_t *stack = map_put(&u->stacks, &u->key, size, &added);
    if (added) {
        convert(u);
        *stack = recording_stack(u->recording, u->frames, u->depth);
    }
    return (uint32_t)*stack;
}

uint32_t unwind(struct unwinder *u, struct space *space, pid_t tid,
                const struct user_regs_struct *registers, struct snapshot_along *along)
{
    walk_in_space(u, space, tid, registers, along);
    return number_stack(u, space);
}

uint32_t unwind_given(struct unwinder *u, struct space *space, pid_t tid, const uint64_t *pcs,
                      size_t n)
{
    bool strange = space->changed;
    u->depth = n < UNWIND_DEPTH_MAX ? n : UNWIND_DEPTH_MAX;
    memcpy(u->key.pc, pcs, u->depth * sizeof *pcs);
    for (size_t i = 0; i < u->depth && !strange; i++)
        strange = !maps_find(space->maps, pcs[i] - (i > 0));
    if (strange)
        reread(u, space, tid);
    /* Who goes on by frame pointers, where there are no rules, passes the program's beginning and
     * ends among its arguments. */
    while (u->depth > 1 && !maps_find(space->maps, pcs[u->depth - 1] - 1))
        u->depth--;
    return u->depth ? number_stack(u, space) : 0;
}

size_t unwind_last(struct unwinder *u, const struct frame **frames, const uint64_t **pcs)
{
    convert(u);
    *frames = u->frames;
    if (pcs)
        *pcs = u->key.pc;
    return u->depth;
}
