/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sync would mend a bug: chosen from what was lost, placed just before what came too early,
 * and tried. With the sync pretended the graph is built again, and each state of the bug is looked
 * for in it: it cannot come about any more, or it can only while less had been told than before,
 * and then the checker has the last word.
 */
#include "engine/bug_inside.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph_session.h"
#include "engine/map.h"

/* A graph of a trace longer than this takes seconds, and each bug takes a few of them. */
enum { VERIFIED_OPS_MAX = 1 << 18 };

/* Where the sync belongs is looked for so far back among the events of other threads. */
enum { LOOK_BACK = 1024 };

/* ---- choosing ---- */

/* The directory that has the entry which a name op gave or took; the file itself for its mode. */
static uint32_t directory_of(const struct event *event)
{
    uint32_t dir = event->call == CALL_RENAME && event->other_dir ? event->other_dir : event->dir;
    return dir && event->call != CALL_CHMOD ? dir : event->file;
}

static struct fix sync_for(const struct op *lost, const struct event *event, int choice)
{
    static const uint16_t of_data[BUG_FIX_CHOICES] = {CALL_FDATASYNC, CALL_FSYNC, CALL_SYNC};
    static const uint16_t of_names[BUG_FIX_CHOICES] = {CALL_FSYNC, CALL_FSYNC, CALL_SYNC};
    static const uint16_t of_lines[BUG_FIX_CHOICES] = {CALL_FLUSH, CALL_FDATASYNC, CALL_SYNC};
    bool line = lost->kind == OP_STORE && !(lost->flags & OP_PAGED);
    struct fix fix = {.file = lost->file,
                      .call = lost->kind == OP_NAME ? of_names[choice]
                              : line                ? of_lines[choice]
                                                    : of_data[choice]};
    if (fix.call == CALL_FLUSH)
        fix.store = lost->event;
    if (lost->kind == OP_NAME && choice == 0)
        fix.file = directory_of(event);
    if (fix.call == CALL_SYNC)
        fix.file = 0;
    return fix;
}

/* The last event of a thread that had returned before a position; 0 when none is near. */
static bool event_before(struct session *s, uint64_t number, uint32_t thread, uint64_t position,
                         uint64_t *out, uint64_t *exit, struct error *e)
{
    *out = *exit = 0;
    for (uint64_t i = 0; i < LOOK_BACK && number > 1 && !*out; i++) {
        struct event event;
        if (!session_event(s, --number, &event, e))
            return false;
        if (event.thread == thread && event.exit < position) {
            *out = number;
            *exit = event.exit;
        }
    }
    return true;
}

/* out->after is 0 when no sync can come between what is lost and what must not come before it. */
bool bug_fix_choice(struct analysis *a, const struct bug_occurrence *o, int choice, struct fix *out,
                    struct error *e)
{
    const struct graph *g = a->graph;
    struct event lost, early;
    *out = (struct fix){0};
    if (o->lost == NO_OP || (o->survived == NO_OP && !o->told))
        return true;
    uint64_t number = o->survived == NO_OP ? o->told : g->ops[o->survived].event;
    if (!session_event(a->session, g->ops[o->lost].event, &lost, e) ||
        !session_event(a->session, number, &early, e))
        return false;
    uint64_t before = o->survived == NO_OP ? early.entry : g->issued[o->survived], exit;
    uint64_t after;
    if (lost.exit >= before)
        return true;
    *out = sync_for(&g->ops[o->lost], &lost, choice);
    if (!event_before(a->session, number, early.thread, before, &after, &exit, e))
        return false;
    out->after = exit > lost.exit ? after : g->ops[o->lost].event;
    struct file_info file;
    if (out->call != CALL_SYNC && (!session_file(a->session, out->file, &file) ||
                                   (file.kind != FILE_REGULAR && file.kind != FILE_DIRECTORY)))
        out->after = 0;
    return true;
}

static int by_event(const void *x, const void *y)
{
    const struct fix *a = x, *b = y;
    if (a->after != b->after)
        return a->after < b->after ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->store < b->store ? -1 : a->store > b->store;
}

bool bug_propose(struct bug *b, const struct bugs *bugs, struct analysis *a, int choice,
                 struct error *e)
{
    vec_of(struct fix) fixes = {0};
    if (b->kind == BUG_ATOMICITY)
        return true; /* no sync makes one step of two */
    for (size_t i = 0; i < bugs->occurrence_count; i++) {
        struct fix fix;
        if (bugs->occurrences[i].bug != b->id)
            continue;
        if (!bug_fix_choice(a, &bugs->occurrences[i], choice, &fix, e)) {
            vec_free(&fixes);
            return false;
        }
        if (fix.after)
            vec_push(&fixes, fix);
    }
    size_t n = 0;
    if (fixes.n)
        qsort(fixes.at, fixes.n, sizeof *fixes.at, by_event);
    for (size_t i = 0; i < fixes.n; i++)
        if (!n || by_event(&fixes.at[n - 1], &fixes.at[i]) != 0)
            fixes.at[n++] = fixes.at[i];
    free(b->proposal.at);
    uint64_t before = b->survived == NO_OP ? b->told : a->graph->ops[b->survived].event;
    b->proposal = (struct bug_fix){.at = fixes.at, .n = n, .before = n ? before : 0};
    return bug_describe_fix(b, a, e);
}

/* ---- the same state in another graph ---- */

static bool same_op(const struct op *a, const struct op *b)
{
    return a->event == b->event && a->kind == b->kind && a->file == b->file &&
           a->offset == b->offset &&
           (a->flags & (OP_CARRIED | OP_REPLACED)) == (b->flags & (OP_CARRIED | OP_REPLACED));
}

/* Each op of the graph with the fixes has a like in the graph without. Where a sync carries copies
 * of ops, a pretended one makes copies of its own, and a later one may have nothing left to carry:
 * such a copy is there in a state when its original is, or when the later copy is. */
struct trial {
    struct exploration *x;
    const struct graph *with, *without;
    uint32_t *like;  /* by op of the graph with the fixes */
    uint32_t *later; /* likewise, for copies that a pretended sync made: that copy; NO_OP */
    uint32_t *upto;  /* likewise: the largest like of any op up to it */
    uint32_t *from;  /* likewise: the smallest like, or later copy, of any op from it on */
    bool *survives;  /* by op of the graph without: the state at hand */
};

/* The op with the same issue and effect, at or behind *from; moves *from behind it. */
static uint32_t find_like(const struct trial *t, uint32_t op, size_t *from)
{
    const struct graph *g = t->without;
    uint64_t issued = t->with->issued[op];
    for (size_t at = *from; at < g->n && g->issued[at] <= issued; at++)
        if (g->issued[at] == issued && same_op(&t->with->ops[op], &g->ops[at])) {
            *from = at + 1;
            return (uint32_t)at;
        }
    return NO_OP;
}

static void match_ops(struct trial *t)
{
    size_t n = t->with->n, next = 0;
    struct map copies = {0}; /* op of the graph without → its copy that has no like */
    bool *matched = xcalloc(t->without->n + 1, sizeof *matched);
    t->like = xcalloc(n + 1, sizeof *t->like);
    t->later = xcalloc(n + 1, sizeof *t->later);
    for (uint32_t i = 0; i < n; i++) {
        t->like[i] = find_like(t, i, &next);
        if (t->like[i] != NO_OP)
            matched[t->like[i]] = true;
    }
    for (uint32_t i = 0; i < t->without->n; i++)
        if (!matched[i] && (t->without->ops[i].flags & OP_CARRIED))
            *map_put(&copies, &t->without->ops[i].carried, sizeof i, NULL) = i;
    for (uint32_t i = 0; i < n; i++) {
        t->later[i] = NO_OP;
        if (t->like[i] != NO_OP || !(t->with->ops[i].flags & OP_CARRIED))
            continue;
        uint32_t original = t->like[i] = t->like[t->with->ops[i].carried];
        const uint64_t *copy = map_get(&copies, &original, sizeof original);
        t->later[i] = copy ? (uint32_t)*copy : NO_OP;
    }
    map_free(&copies);
    free(matched);
}

/* Most states lose little, near their end: only what lies between need be looked at. */
static void find_bounds(struct trial *t)
{
    size_t n = t->with->n;
    t->upto = xcalloc(n + 1, sizeof *t->upto);
    t->from = xcalloc(n + 1, sizeof *t->from);
    for (size_t i = 0; i < n; i++)
        t->upto[i] = i && t->upto[i - 1] > t->like[i] ? t->upto[i - 1] : t->like[i];
    t->from[n] = NO_OP;
    for (size_t i = n; i-- > 0;) {
        uint32_t least = t->like[i] < t->later[i] ? t->like[i] : t->later[i];
        t->from[i] = least < t->from[i + 1] ? least : t->from[i + 1];
    }
}

/* The first of n ascending numbers that is at least so large; n when none is. */
static uint32_t first_at_least(const uint32_t *numbers, size_t n, uint32_t least)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (numbers[middle] < least)
            low = middle + 1;
        else
            n = middle;
    }
    return (uint32_t)low;
}

static bool survives(const struct trial *t, uint32_t op)
{
    uint32_t like = t->like[op], later = t->later[op];
    return (like != NO_OP && t->survives[like]) || (later != NO_OP && t->survives[later]);
}

/* Whether the state at hand can come about with the fixes, and until when: *crash. Its ops lie
 * before `end`, and none before `base` is lost. */
static bool still_possible(const struct trial *t, uint32_t base, uint32_t end, uint64_t *crash)
{
    const struct graph *g = t->with;
    uint32_t first = first_at_least(t->upto, g->n, base);
    uint32_t behind = first_at_least(t->from, g->n, end);
    uint64_t last = first ? g->issued[first - 1] : 0;
    *crash = g->lacking[behind];
    for (uint32_t i = first; i < behind; i++) {
        if (!survives(t, i)) {
            if (g->durable[i] < *crash)
                *crash = g->durable[i];
            continue;
        }
        last = g->issued[i];
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
            if (!survives(t, g->edges[k].from))
                return false;
    }
    return *crash >= last;
}

static bool is_gone(struct trial *t, const struct explored *state, bool *gone, struct error *e)
{
    const struct schedule *schedule = &state->schedule;
    uint32_t end = schedule->last == NO_OP ? 0 : schedule->last + 1;
    uint32_t base = schedule->lost_count ? schedule->lost[0] : end;
    uint64_t crash;
    memset(t->survives, false, t->without->n * sizeof *t->survives);
    if (schedule->lost_count)
        schedule_gone(t->without, schedule, t->survives + base);
    for (uint32_t op = 0; op < end; op++)
        t->survives[op] = !t->survives[op];
    *gone = !still_possible(t, base, end, &crash);
    if (*gone)
        return true;
    struct verdict verdict;
    if (!exploration_test(t->x, t->survives, state->schedule.last, crash, &verdict, e))
        return false;
    *gone = !verdict_is_bad(&verdict);
    verdict_clear(&verdict);
    return true;
}

/* ---- trying ---- */

static bool try_states(struct trial *t, const struct bugs *bugs, const struct bug *b,
                       struct bug_fix *result, struct error *e)
{
    const struct explored *states;
    exploration_states(t->x, &states);
    for (size_t i = 0; i < bugs->state_count; i++) {
        bool gone;
        if (bugs->of_state[i] != b->id)
            continue;
        if (!is_gone(t, &states[i], &gone, e))
            return false;
        result->states++;
        result->gone += gone;
    }
    result->verified = true;
    return true;
}

static bool try_proposal(const struct bugs *bugs, struct bug *b, struct exploration *x,
                         struct analysis *a, struct error *e)
{
    struct graph *with;
    struct graph_source source = *graph_session_source(a->source);
    source.fixes = b->proposal.at;
    source.fix_count = b->proposal.n;
    if (!graph_build(&with, &a->graph->model, &source, e))
        return false;
    struct trial t = {.x = x,
                      .with = with,
                      .without = a->graph,
                      .survives = xcalloc(a->graph->n + 1, sizeof *t.survives)};
    match_ops(&t);
    find_bounds(&t);
    bool done = try_states(&t, bugs, b, &b->proposal, e);
    free(t.like);
    free(t.later);
    free(t.upto);
    free(t.from);
    free(t.survives);
    graph_free(with);
    return done;
}

/* The first choice that leaves no state, else the one that leaves the fewest. */
static bool verify(const struct bugs *bugs, struct bug *b, struct exploration *x,
                   struct analysis *a, struct error *e)
{
    int best = -1;
    uint64_t most = 0;
    for (int choice = 0; choice < BUG_FIX_CHOICES; choice++) {
        if (!bug_propose(b, bugs, a, choice, e))
            return false;
        if (!b->proposal.n)
            continue;
        if (!try_proposal(bugs, b, x, a, e))
            return false;
        if (b->proposal.gone == b->proposal.states)
            return true;
        if (best < 0 || b->proposal.gone > most) {
            best = choice;
            most = b->proposal.gone;
        }
    }
    return best < 0 || (bug_propose(b, bugs, a, best, e) && try_proposal(bugs, b, x, a, e));
}

bool bugs_verify(struct bugs *bugs, struct exploration *x, struct analysis *a, struct error *e)
{
    if (a->graph->n > VERIFIED_OPS_MAX || a->graph->fix_count)
        return true;
    for (size_t i = 0; i < bugs->n && !exploration_counts(x)->stopped; i++) {
        struct bug *b = &bugs->at[i];
        if (!b->proposal.n)
            continue;
        if (verify(bugs, b, x, a, e))
            continue;
        if (!exploration_counts(x)->stopped)
            return false;
        b->proposal.verified = false;
    }
    return true;
}
