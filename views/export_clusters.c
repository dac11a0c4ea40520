/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/export_clusters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/scratch.h"
#include "views/graphviz.h"

struct frame_of {
    uint32_t behaviour;
    uint32_t nodes; /* ops that are shown of it */
    bool kept;
    size_t drawn; /* its place among those that are drawn, plus 1; 0: not yet */
};

struct frames {
    const struct subgraph *s;
    struct scratch places; /* behaviour to its place in at */
    vec_of(struct frame_of) at;
    uint32_t ops; /* that are shown in all */
};

static const struct behaviour *behaviour_at(const struct frames *f, uint32_t number)
{
    return &f->s->analysis->behaviours->at[number];
}

static struct frame_of *frame_at(struct frames *f, uint32_t behaviour)
{
    uint64_t *place = scratch_put(&f->places, behaviour, f->at.n);

    if (*place == f->at.n)
        vec_push(&f->at, (struct frame_of){.behaviour = behaviour});
    return &f->at.at[*place];
}

/* All behaviours that the shown ops are in, from the smallest up. */
static void count_nodes(struct frames *f)
{
    for (size_t i = 0; i < f->s->n; i++) {
        f->ops += f->s->nodes[i].kind == SUBGRAPH_OP;
        for (uint32_t b = f->s->nodes[i].behaviour; b != NO_BEHAVIOUR;
             b = behaviour_at(f, b)->parent)
            frame_at(f, b)->nodes++;
    }
}

/* Whether another behaviour inside it has the same nodes: then that one stands for both. */
static bool says_nothing_new(struct frames *f, const struct frame_of *outer)
{
    for (size_t i = 0; i < f->at.n; i++)
        if (behaviour_at(f, f->at.at[i].behaviour)->parent == outer->behaviour &&
            f->at.at[i].nodes == outer->nodes)
            return true;
    return false;
}

static void choose(struct frames *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->at.n; i++) {
        f->at.at[i].kept = !says_nothing_new(f, &f->at.at[i]);
        kept += f->at.at[i].kept;
    }
    for (size_t i = 0; i < f->at.n; i++)
        if (kept > 1 && f->at.at[i].nodes == f->ops)
            f->at.at[i].kept = false;
}

/* The innermost frame that is kept, from a behaviour outwards; NULL: none. */
static struct frame_of *kept_from(struct frames *f, uint32_t b)
{
    for (; b != NO_BEHAVIOUR; b = behaviour_at(f, b)->parent) {
        const uint64_t *place = scratch_get(&f->places, b);
        if (place && f->at.at[*place].kept)
            return &f->at.at[*place];
    }
    return NULL;
}

static size_t draw_frame(struct frames *f, struct export_frames *out, struct frame_of *frame)
{
    struct buf label = {0};
    struct buf work = {0};

    if (frame->drawn)
        return frame->drawn - 1;
    struct frame_of *around = kept_from(f, behaviour_at(f, frame->behaviour)->parent);
    size_t outer = around ? draw_frame(f, out, around) : NO_FRAME;
    buf_printf(&label, "behaviour %" PRIu32 ": ", frame->behaviour);
    analysis_add_work(&work, f->s->analysis, behaviour_at(f, frame->behaviour));
    graphviz_add_text(&label, buf_string(&work));
    buf_free(&work);
    vec_push(&out->at, (struct export_frame){frame->behaviour, xstrdup(buf_string(&label)), outer});
    buf_free(&label);
    frame->drawn = out->at.n;
    return frame->drawn - 1;
}

/* Syncs are actions of behaviours, too: each goes into the smallest frame that has its event. */
static void place_syncs(struct frames *f, struct export_frames *out)
{
    const struct behaviours *list = f->s->analysis->behaviours;
    uint32_t *actions = NULL;

    for (size_t k = 0; k < f->at.n; k++) {
        const struct behaviour *b = behaviour_at(f, f->at.at[k].behaviour);
        struct frame_of *frame = &f->at.at[k];
        if (!frame->kept)
            continue;
        actions = xrealloc(actions, (b->end - b->begin + 1) * sizeof *actions);
        size_t n = behaviour_actions(list, b, actions);
        for (size_t i = 0; i < f->s->n; i++) {
            bool has = false;
            for (size_t a = 0; a < n && f->s->nodes[i].kind == SUBGRAPH_SYNC; a++)
                has |= list->actions[actions[a]].event == f->s->nodes[i].event;
            if (has && (out->of[i] == NO_FRAME || frame->nodes < f->ops))
                out->of[i] = draw_frame(f, out, frame);
        }
    }
    free(actions);
}

static int larger_first(const void *a, const void *b)
{
    const struct frame_of *x = a, *y = b;
    return (x->nodes < y->nodes) - (x->nodes > y->nodes);
}

void export_frames_choose(struct export_frames *out, const struct subgraph *s)
{
    struct frames f = {.s = s};

    *out = (struct export_frames){.of = xcalloc(s->n + 1, sizeof *out->of)};
    count_nodes(&f);
    choose(&f);
    /* Smaller ones come later, and win. */
    if (f.at.n)
        qsort(f.at.at, f.at.n, sizeof *f.at.at, larger_first);
    scratch_clear(&f.places);
    for (size_t i = 0; i < f.at.n; i++)
        scratch_put(&f.places, f.at.at[i].behaviour, i);
    for (size_t i = 0; i < s->n; i++) {
        struct frame_of *frame = kept_from(&f, s->nodes[i].behaviour);
        out->of[i] = frame ? draw_frame(&f, out, frame) : NO_FRAME;
    }
    place_syncs(&f, out);
    vec_free(&f.at);
    scratch_free(&f.places);
}

void export_frames_free(struct export_frames *f)
{
    for (size_t i = 0; i < f->at.n; i++)
        free(f->at.at[i].label);
    vec_free(&f->at);
    free(f->of);
    *f = (struct export_frames){0};
}
