/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether the checker can be run at all. A shell exits with 127 when a program is not there and
 * with 126 when it is none; a checker that does so on every state says nothing of any of them.
 */
#include "engine/explore_inside.h"

#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"

enum { SHELL_NOT_EXECUTABLE = 126, SHELL_NOT_FOUND = 127 };

bool exploration_says_nothing(const struct exploration *x, const struct verdict *v)
{
    return !x->proven && v->kind == VERDICT_INCONSISTENT &&
           (v->exit == SHELL_NOT_EXECUTABLE || v->exit == SHELL_NOT_FOUND);
}

bool exploration_keep_verdict(struct exploration *x, const struct verdict_key *key,
                              const struct verdict *v, struct error *e)
{
    if (!exploration_says_nothing(x, v))
        return verdicts_add(x->verdicts, key, v, e);
    struct held_verdict held = {*key, *v};
    held.verdict.output = xstrdup(v->output);
    vec_push(&x->held, held);
    return true;
}

void exploration_drop_held(struct exploration *x)
{
    for (size_t i = 0; i < x->held.n; i++)
        verdict_clear(&x->held.at[i].verdict);
    vec_free(&x->held);
}

static bool is_held(const struct exploration *x, const struct verdict_key *key)
{
    for (size_t i = 0; i < x->held.n; i++)
        if (!memcmp(&x->held.at[i].key, key, sizeof *key))
            return true;
    return false;
}

static bool cannot_be_run(const struct verdict *v, struct error *e)
{
    char *line = xstrndup(v->output, strcspn(v->output, "\n"));
    char *safe = escape_text(line);
    error_set(e,
              "the checker cannot be run: it exited with status %d%s%s%s; give another with "
              "--checker",
              v->exit, *safe ? " (" : "", safe, *safe ? ")" : "");
    free(safe);
    free(line);
    return false;
}

/* Asks the checker about the untouched starting state, in which it has nothing to recover from. */
static bool ask_about_start(struct exploration *x, struct error *e)
{
    struct verdict start;
    const bool none_survive = false;
    if (!exploration_repeat(x, &none_survive, NO_OP, 0, &start, e))
        return false;
    bool done = !exploration_says_nothing(x, &start) || cannot_be_run(&start, e);
    verdict_clear(&start);
    return done;
}

bool exploration_prove(struct exploration *x, struct error *e)
{
    if (x->proven || !x->states.n || x->states.at[0].verdict == VERDICT_NOT_RUN)
        return true;
    if (is_held(x, &x->states.at[0].key) && !ask_about_start(x, e))
        return false;
    x->proven = true; /* what it says of states is said of them */
    bool done = true;
    for (size_t i = 0; i < x->held.n && done; i++)
        done = verdicts_add(x->verdicts, &x->held.at[i].key, &x->held.at[i].verdict, e);
    exploration_drop_held(x);
    return done;
}
