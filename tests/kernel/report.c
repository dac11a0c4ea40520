/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/report.h"

#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"

/* What the file says of a state under the model. A reason that it gives under the same without
 * switches holds here, too; that it was seen there does not say that it can be seen here. */
static const struct expected_state *find(const struct expected *x, const char *model,
                                         const char *state, bool before)
{
    const struct expected_state *plain = NULL;
    size_t name = strcspn(model, ",");
    char *text = expected_files(x, state);
    for (size_t i = 0; i < x->states.n; i++) {
        const struct expected_state *s = &x->states.at[i];
        if (s->state ? strcmp(s->state, text) != 0 : !before)
            continue;
        if (strcmp(s->model, model) == 0) {
            plain = s;
            break;
        }
        if (s->reason && strlen(s->model) == name && memcmp(s->model, model, name) == 0)
            plain = s;
    }
    free(text);
    return plain;
}

static void add_state(const struct trial_state *s, const char *what, struct buf *out)
{
    char *text = escape_text(s->text);
    buf_printf(out, "    %s: %s", what, text);
    free(text);
}

static void tell_missed(const struct trial_state *s, struct buf *out)
{
    add_state(s, "SEEN, NOT ALLOWED", out);
    if (s->is_allowed)
        buf_printf(out, " after %u prints, allowed after %u", s->seen_after, s->allowed_after);
    buf_printf(out, " (seed %llu, %zu images)\n", (unsigned long long)s->seed, s->images);
}

static void tell_unseen(const struct trial_state *s, const struct expected_state *known,
                        struct buf *out)
{
    const char *what = known && known->reason ? "allowed, not seen"
                       : known                ? "allowed, not seen this time"
                                              : "ALLOWED, NOT SEEN, NO REASON GIVEN";
    add_state(s, what, out);
    if (s->is_seen)
        buf_printf(out, " after %u prints, only after %u", s->allowed_after, s->seen_after);
    else if (s->allowed_after)
        buf_printf(out, " after %u prints", s->allowed_after);
    buf_printf(out, "\n        rule: lost %s\n", s->why);
    if (known && known->reason)
        buf_printf(out, "        reason: %s\n", known->reason);
}

/* How much the program prints. */
static unsigned prints(const struct litmus *l)
{
    unsigned n = 0;
    for (uint64_t k = 1; k <= litmus_events(l); k++)
        n += litmus_event(l, k)->call == CALL_PRINT;
    return n;
}

/* Lines for a litmus file: what was seen last, and what of the rest wants a reason. */
static void add_directives(const struct trial *t, const struct expected *x, const char *model,
                           struct buf *out)
{
    unsigned last = prints(t->litmus);
    struct map told = {0};
    for (int seen = 1; seen >= 0; seen--)
        for (size_t i = 0; i < t->states.n; i++) {
            const struct trial_state *s = &t->states.at[i];
            char *text = expected_files(x, s->text);
            bool added = false;
            if (seen ? s->is_seen && s->seen_after == last
                     : trial_unseen(s) && s->allowed_after == last)
                map_put(&told, text, strlen(text), &added);
            if (added)
                buf_printf(out, "#! %s %s %s%s\n", model, seen ? "seen" : "extra", text,
                           seen ? "" : ": why");
            free(text);
        }
    map_free(&told);
}

struct report report_trial(const struct trial *t, const struct expected *x, const char *model,
                           struct buf *out)
{
    struct report r = {0};
    unsigned last = prints(t->litmus);
    if (x && !x->states.n)
        add_directives(t, x, model, out);
    for (size_t i = 0; i < t->states.n; i++) {
        const struct trial_state *s = &t->states.at[i];
        r.seen += s->is_seen;
        r.allowed += s->is_allowed;
        if (trial_missed(s)) {
            r.missed++;
            tell_missed(s, out);
        } else if (trial_unseen(s)) {
            const struct expected_state *known =
                x ? find(x, model, s->text, s->allowed_after < last) : NULL;
            r.unseen++;
            r.unjustified += x && !known;
            if (x)
                tell_unseen(s, known, out);
        }
    }
    return r;
}
