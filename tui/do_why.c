/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that ask why.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/mem.h"
#include "tui/debugger.h"
#include "tui/words.h"

/* Some other behaviour of a group than its representative. */
static bool represented(const struct groups *all, uint64_t group, uint64_t *other, struct error *e)
{
    const struct group *g = &all->at[group];

    for (uint32_t i = 0; i < g->signatures; i++) {
        const struct group_signature *s = &all->signatures[all->taken[g->first + i]];
        for (uint32_t j = 0; j < s->members; j++) {
            *other = all->members[s->first_member + j];
            if (*other != g->representative)
                return true;
        }
    }
    return error_set(e,
                     "behaviour %" PRIu32 " is alone in group %" PRIu64
                     "; :why A B says why any two are not in one",
                     g->representative, group);
}

/* Two behaviours in words, or the selected one and the representative of its group;
 * of a representative, one that it stands for. */
static bool two_behaviours(struct debugger *d, const char *words, uint64_t *a, uint64_t *b,
                           struct error *e)
{
    struct subject s;
    const struct findings *f = &d->findings;
    char *first = words_next(&words), *second = words_next(&words);
    bool ok = true;

    if (first && second && !*words) {
        ok = words_number(first, 0, "a behaviour's number", a, e) &&
             words_number(second, 0, "a behaviour's number", b, e);
    } else if (first) {
        ok = error_set(e, "why takes the numbers of two behaviours");
    } else {
        ok = debugger_find(d, "", SUBJECT_BEHAVIOUR, &s, e);
        *b = s.number;
        struct subject group;
        if (ok && links_to(d->links, &s, SUBJECT_GROUP, &group, 1))
            *a = f->groups->at[group.number].representative;
        else
            ok = ok && error_set(e, "behaviour %" PRIu64 " is in no group", *b);
        if (ok && *a == *b)
            ok = represented(f->groups, group.number, b, e);
    }
    free(first);
    free(second);
    size_t n = f->analysis->behaviours->n;
    if (ok && (*a >= n || *b >= n))
        return error_set(e, "there is no behaviour %" PRIu64 "; the last is %zu", *a >= n ? *a : *b,
                         n - 1);
    return ok && (*a != *b || error_set(e, "these are one behaviour"));
}

bool do_why(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s;
    uint64_t a = 0, b = 0;

    (void)after;
    if (!debugger_need_analysis(d, e))
        return false;
    /* Of a bug, or of what is in hand of one: why it is legal. */
    if (!*words && !debugger_bugs_are_kept(d, e))
        return false;
    if (!*words && debugger_subject(d, &s, NULL) && s.kind == SUBJECT_BUG) {
        debugger_go(d, DESK_why, &s);
        return true;
    }
    if (!*words && (d->desk == DESK_bugs || d->desk == DESK_schedule) && d->walking_bug) {
        s = (struct subject){.kind = SUBJECT_BUG, .number = d->walking_bug};
        debugger_go(d, DESK_why, &s);
        return true;
    }
    if (!two_behaviours(d, words, &a, &b, e))
        return false;
    s = (struct subject){.kind = SUBJECT_BEHAVIOUR, .number = a};
    d->other[DESK_why] = b;
    debugger_go(d, DESK_why, &s);
    return true;
}

bool do_rules(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject op;

    (void)after;
    if (!debugger_need_analysis(d, e) || !debugger_find(d, words, SUBJECT_OP, &op, e))
        return false;
    debugger_go(d, DESK_rules, &op);
    return true;
}
