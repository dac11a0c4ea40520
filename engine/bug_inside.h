/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What bug.c (finding and merging), bug_shrink.c (shrinking one state), bug_places.c (where else),
 * bug_fix.c (what would mend it) and bug_words.c (saying it) share.
 */
#ifndef ENGINE_BUG_INSIDE_H
#define ENGINE_BUG_INSIDE_H

#include "engine/bug.h"
#include "engine/vec.h"

/* A state that has been shrunk as far as it goes. */
struct culprit {
    bool failed; /* it is inconsistent still; when not, there is no culprit */
    uint32_t survived;
    uint64_t told;
    uint32_t last;
    uint64_t told_until;
    vec_of(uint32_t) lost;     /* minimal ones */
    vec_of(uint32_t) all_lost; /* all of them, up to last */
    struct verdict verdict;
};

/* Whether what the run began with is inconsistent by itself: found out once for all states, since
 * the way back to it is the whole trace. */
struct beginning {
    bool known, bad;
};

bool culprit_find(struct culprit *c, struct exploration *x, struct analysis *a,
                  struct beginning *beginning, const struct explored *state, const uint32_t *lost,
                  size_t lost_count, struct error *e);
void culprit_clear(struct culprit *c);

/* Fills in the bug's sentences; and anew what to do about it, when another sync is proposed. */
bool bug_describe(struct bug *b, struct analysis *a, struct error *e);
bool bug_describe_fix(struct bug *b, struct analysis *a, struct error *e);

/* Adds the other places of the run where the same mistakes are made to the occurrences. One pass
 * over the events. */
bool bug_places_find(struct bugs *bugs, struct analysis *a, struct error *e);

/* bug_fix.c: the syncs that may mend a mistake, cheapest first. */
enum { BUG_FIX_CHOICES = 3 };
bool bug_fix_choice(struct analysis *a, const struct bug_occurrence *o, int choice, struct fix *out,
                    struct error *e);
/* Proposes one of them for a bug, wherever it occurred. */
bool bug_propose(struct bug *b, const struct bugs *bugs, struct analysis *a, int choice,
                 struct error *e);

#endif
