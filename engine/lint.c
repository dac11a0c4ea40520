/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/lint.h"

#include <stdlib.h>
#include <string.h>

#include "engine/lint_pass.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "engine/vec.h"

const char *lint_kind_name(enum lint_kind k)
{
    static const char *const names[] = {
#define X(id, name, words) name,
        LINT_KINDS(X)
#undef X
    };
    return names[k];
}

const char *lint_kind_words(enum lint_kind k)
{
    static const char *const words_of[] = {
#define X(id, name, words) words,
        LINT_KINDS(X)
#undef X
    };
    return words_of[k];
}

static const char *const store_names[] = {
    [LINT_AUTO] = "auto",
    [LINT_PX86] = "px86",
    [LINT_EADR] = "eadr",
    [LINT_PAGECACHE] = "pagecache",
};

const char *lint_stores_name(enum lint_stores s)
{
    return store_names[s];
}

bool lint_stores_find(const char *name, enum lint_stores *out, struct error *e)
{
    for (size_t i = 0; i < sizeof store_names / sizeof *store_names; i++)
        if (!strcmp(store_names[i], name)) {
            *out = (enum lint_stores)i;
            return true;
        }
    return error_set(e, "no model for stores is called %s; there are auto, px86, eadr, pagecache",
                     name);
}

const char *lint_assumption(const struct lint *l)
{
    if (l->stores == LINT_PX86)
        return "taken as persistent memory (px86): stores are durable when their line is flushed "
               "and a fence follows, or by a sync";
    if (l->stores == LINT_EADR)
        return "taken as persistent memory with persistent caches (eadr): stores are durable at "
               "once, flushes do nothing";
    return "taken as files of an ordinary file system (pagecache): only syncs make stores durable, "
           "flushes and fences do nothing";
}

/* ---- putting together ---- */

/* What the pass found, by kind and stack; then by kind and place. */
struct gathering {
    struct session *session;
    vec_of(struct lint_finding) found;
    struct map by_stack; /* struct stack_key → place in found, plus 1 */
    uint64_t number;     /* the event at hand, */
    uint32_t stack;      /* and its stack */
    struct error *error;
    bool failed;
};

struct stack_key {
    uint32_t kind, stack;
};

static void gather(void *data, enum lint_kind kind, uint64_t number)
{
    struct gathering *g = data;
    uint32_t stack = g->stack;
    if (number != g->number) {
        /* From before: a store that nothing came after. */
        struct event event;
        if (g->failed || !session_event(g->session, number, &event, g->error)) {
            g->failed = true;
            return;
        }
        stack = event.stack;
    }
    struct stack_key key = {kind, stack};
    bool added;
    uint64_t *place = map_put(&g->by_stack, &key, sizeof key, &added);
    if (added) {
        vec_push(&g->found, (struct lint_finding){kind, 0, number, stack});
        *place = g->found.n;
    }
    struct lint_finding *f = &g->found.at[*place - 1];
    f->count++;
    if (number < f->event)
        f->event = number;
}

/* Stacks that stand for the same source line become one finding. */
static void merge_lines(struct gathering *g, struct symbols *sy)
{
    struct map by_line = {0};
    size_t kept = 0;
    for (size_t i = 0; i < g->found.n; i++) {
        struct lint_finding f = g->found.at[i];
        const struct location *l = symbols_stack(sy, f.stack);
        char *key = l ? xasprintf("%d %u %s\n%s", (int)f.kind, l->line, l->file, l->function)
                      : xasprintf("%d", (int)f.kind);
        bool added;
        uint64_t *place = map_put(&by_line, key, strlen(key), &added);
        free(key);
        if (added) {
            g->found.at[kept++] = f;
            *place = kept;
            continue;
        }
        struct lint_finding *into = &g->found.at[*place - 1];
        into->count += f.count;
        if (f.event < into->event) {
            into->event = f.event;
            into->stack = f.stack;
        }
    }
    g->found.n = kept;
    map_free(&by_line);
}

/* Where flushes mean nothing fences mean nothing either. */
static void drop_fences(struct gathering *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->found.n; i++)
        if (g->found.at[i].kind != LINT_FENCE_NOTHING)
            g->found.at[kept++] = g->found.at[i];
    g->found.n = kept;
}

static int most_first(const void *a, const void *b)
{
    const struct lint_finding *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static bool pass_over(struct gathering *g, struct lint_pass *p, const struct interrupt *interrupt)
{
    uint64_t n = session_event_count(g->session);
    for (uint64_t i = 1; i <= n; i++) {
        struct event event;
        if ((i % INTERRUPT_EVERY == 0 && !interrupt_go_on(interrupt, g->error)) ||
            !session_event(g->session, i, &event, g->error))
            return false;
        g->number = i;
        g->stack = event.stack;
        lint_pass_take(p, i, &event);
    }
    return true;
}

bool lint_options_of(struct session *s, struct lint_options *o, struct error *e)
{
    const char *name = session_meta(s, "stores");
    return !name || lint_stores_find(name, &o->stores, e);
}

bool lint_session(struct lint *out, struct session *s, struct symbols *sy,
                  const struct lint_options *options, struct error *e)
{
    struct gathering g = {.session = s, .error = e};
    *out = (struct lint){0};
    struct lint_pass *p = lint_pass_new(options->stores, session_has_stores(s), gather, &g);
    bool ok = pass_over(&g, p, options->interrupt);
    if (ok) {
        out->stores = lint_pass_end(p);
        ok = !g.failed;
    }
    lint_pass_free(p);
    if (out->stores == LINT_PAGECACHE)
        drop_fences(&g);
    if (ok && !options->by_stack)
        merge_lines(&g, sy);
    if (g.found.n)
        qsort(g.found.at, g.found.n, sizeof *g.found.at, most_first);
    map_free(&g.by_stack);
    out->at = g.found.at;
    out->n = g.found.n;
    return ok;
}

void lint_free(struct lint *l)
{
    free(l->at);
    *l = (struct lint){0};
}
