/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small runs in the notation of engine/litmus.h, written down or made at random, with their graphs.
 * Include after cmocka.h.
 */
#ifndef TESTS_UNIT_LITMUS_SAMPLE_H
#define TESTS_UNIT_LITMUS_SAMPLE_H

#include <stdlib.h>

#include "engine/buf.h"
#include "engine/litmus_states.h"

struct world {
    struct litmus *litmus;
    struct graph *graph;
    struct state_source source;
};

static inline void open_world(struct world *w, const char *text, const char *model_name)
{
    struct error e;
    struct model model;
    if (!litmus_parse(&w->litmus, text, "test", &e) || !model_find(model_name, &model, &e) ||
        !graph_build(&w->graph, &model, litmus_source(w->litmus), &e))
        fail_msg("%s", e.text);
    w->source = litmus_state_source(w->litmus);
}

static inline void close_world(struct world *w)
{
    graph_free(w->graph);
    litmus_free(w->litmus);
}

static inline void random_program(struct buf *out, unsigned *seed)
{
    static const char *const calls[] = {
        "create a",
        "create b",
        "append a 100 'x'",
        "append b 5000 'y'",
        "pwrite a 0 50 'z'",
        "rename a b",
        "rename b a",
        "fsync a",
        "fdatasync b",
        "fsync .",
        "truncate a 10",
        "unlink b",
        "link a c",
        "unlink c",
        "sync",
        "append a 4096 'w' dsync",
    };
    struct error e;
    buf_text(out, "file a 4096 'O'\nfile b 100 'P'\n");
    for (int i = 0; i < 9; i++) {
        size_t before = out->n;
        struct litmus *l;
        buf_printf(out, "%s\n", calls[(unsigned)rand_r(seed) % (sizeof calls / sizeof *calls)]);
        if (litmus_parse(&l, out->at, "test", &e)) {
            litmus_free(l);
        } else { /* a call on a file that is not there */
            out->n = before;
            out->at[before] = '\0';
        }
    }
}

#endif
