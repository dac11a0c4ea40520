/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/change.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/mem.h"
#include "views/op_words.h"
#include "views/schedule.h"

enum { EVENT, OP, RULE, WHY, COLUMNS };

struct change {
    struct view view;
    struct analysis *analysis;
    struct walk *walk;
};

/* --- In a sentence ------------------------------------------------------------------------- */

/* "write MANIFEST-000002 0+41 data of event 23". */
static bool add_op(struct cell *c, struct analysis *a, uint32_t op, struct error *e)
{
    bool ok = op_what(c, a, op, e);
    cell_add(c, STYLE_PLAIN, " of event %" PRIu64, a->graph->ops[op].event);
    return ok;
}

static void add_count(struct cell *c, size_t n, const char *one, const char *many)
{
    if (n)
        cell_add(c, STYLE_PLAIN, "; %zu op%s %s", n, n == 1 ? "" : "s", n == 1 ? one : many);
}

static bool add_crash(struct cell *c, struct analysis *a, const struct walk *w, struct error *e)
{
    uint64_t was = walk_news(w)->crash_was, is = walk_crash(w);

    if (was == is)
        return true;
    cell_add(c, STYLE_PLAIN, is < was ? "; now earlier: " : "; now later: ");
    return schedule_crash_words(c, a, w, e);
}

static bool say_lost(struct cell *c, struct analysis *a, const struct walk *w, struct error *e)
{
    const struct walk_news *news = walk_news(w);
    bool ok = add_op(c, a, news->op, e);

    if (news->answer == WALK_STAYS) {
        cell_add(c, STYLE_PLAIN,
                 " was in flight and is not there anyway; it stays lost when you step on");
        return ok;
    }
    cell_add(c, STYLE_PLAIN, " is lost");
    add_count(c, news->gone, "that needs it goes with it", "that need it go with it");
    if (news->copy != NO_OP)
        cell_add(c, STYLE_PLAIN, "; but what it did is there all the same: a sync carried it");
    return ok && add_crash(c, a, w, e);
}

static bool say_kept(struct cell *c, struct analysis *a, const struct walk *w, struct error *e)
{
    const struct walk_news *news = walk_news(w);
    bool ok = add_op(c, a, news->op, e);

    cell_add(c, STYLE_PLAIN, " is kept");
    add_count(c, news->back, "comes back with it", "come back with it");
    add_count(c, news->passed, "before it stays lost", "before it stay lost");
    return ok && add_crash(c, a, w, e);
}

static bool say_not_issued(struct cell *c, struct analysis *a, const struct walk *w,
                           struct error *e)
{
    const struct walk_news *news = walk_news(w);
    bool ok = add_op(c, a, news->op, e);

    cell_add(c, STYLE_PLAIN, " cannot be lost: it is not issued yet");
    if (news->because.from == NO_OP) {
        cell_add(c, STYLE_PLAIN, ". The state in hand is of a crash before it; step on first");
        return ok;
    }
    cell_add(c, STYLE_PLAIN, ". The crash comes first: ");
    ok = ok && add_op(c, a, news->because.from, e);
    cell_add(c, STYLE_PLAIN, " is not there, and is durable when ");
    ok = ok && op_durable_words(c, a, news->because.from, e);
    cell_add(c, STYLE_PLAIN, " returns. Keep that op, or step on");
    return ok;
}

static bool say_durable(struct cell *c, struct analysis *a, const struct walk *w, struct error *e)
{
    uint32_t lost = walk_news(w)->because.from;

    cell_add(c, STYLE_PLAIN, "no further: ");
    bool ok = add_op(c, a, lost, e);
    cell_add(c, STYLE_PLAIN, " is lost, and is durable when ");
    ok = ok && op_durable_words(c, a, lost, e);
    cell_add(c, STYLE_PLAIN, " returns: nothing issued after that can survive without it");
    return ok;
}

static void say_end(struct cell *c, const struct walk_news *news)
{
    static const char *const words[][2] = {
        [WALK_BEGIN] = {"", ""},
        [WALK_STEP] = {"nothing comes before this", "nothing comes after this"},
        [WALK_LOSE] = {"", ""},
        [WALK_KEEP] = {"", ""},
        [WALK_UNDO] = {"nothing to undo", ""},
        [WALK_REDO] = {"", "nothing to redo"},
    };
    cell_add(c, STYLE_PLAIN, "%s", words[news->deed][news->answer == WALK_AT_END]);
}

bool change_words(struct cell *c, struct analysis *a, const struct walk *w, struct error *e)
{
    const struct walk_news *news = walk_news(w);
    bool ok = true;

    switch (news->answer) {
    case WALK_DONE:
    case WALK_STAYS:
        if (news->deed == WALK_LOSE)
            return say_lost(c, a, w, e);
        return news->deed != WALK_KEEP || say_kept(c, a, w, e);
    case WALK_ALREADY:
        ok = add_op(c, a, news->op, e);
        cell_add(c, STYLE_PLAIN,
                 news->deed == WALK_LOSE ? " is lost already" : " is there already");
        return ok;
    case WALK_NO_SUCH_OP:
        cell_add(c, STYLE_PLAIN, "there is no op %" PRIu32 "; the last is %zu", news->op,
                 a->graph->n - 1);
        return true;
    case WALK_NOT_ISSUED:
        return say_not_issued(c, a, w, e);
    case WALK_DURABLE:
        return say_durable(c, a, w, e);
    case WALK_AT_START:
    case WALK_AT_END:
        say_end(c, news);
        return true;
    }
    return true;
}

/* --- Op by op ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [EVENT] = {.title = "ev", .least = 4, .right = true},
        [OP] = {.title = "op", .least = 16, .most = 48, .yields = 2},
        [RULE] = {.title = "rule", .least = 8, .most = 14},
        [WHY] = {.title = "because", .least = 16, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

/* The chosen op, those that followed, and a line for those that are only counted. */
static uint64_t count(struct view *v)
{
    const struct walk_news *news = walk_news(((struct change *)v)->walk);
    bool chose = (news->deed == WALK_LOSE || news->deed == WALK_KEEP) &&
                 (news->answer == WALK_DONE || news->answer == WALK_STAYS);

    return chose + news->follow_count + (news->gone + news->back > news->follow_count);
}

static bool draw_op(struct change *t, uint32_t op, struct row *out, struct error *e)
{
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, t->analysis->graph->ops[op].event);
    schedule_mark(&out->cells[OP], schedule_mark_of(t->walk, op));
    return op_what(&out->cells[OP], t->analysis, op, e);
}

static bool draw_why(struct change *t, const struct walk_follow *f, struct cell *c, struct error *e)
{
    struct analysis *a = t->analysis;
    bool ok;

    if (f->edge.rule == RULE_SYNCED) {
        /* Both ways it is the earlier op that a sync had made durable. */
        cell_add(c, STYLE_PLAIN, f->edge.to == f->op ? "was issued after " : "made durable by ");
        ok = op_durable_words(c, a, f->edge.from, e);
        cell_add(c, STYLE_PLAIN, f->edge.to == f->op ? ", which made durable " : " before ");
        return ok && add_op(c, a, f->edge.to == f->op ? f->edge.from : f->edge.to, e);
    }
    if (f->edge.from == f->op) {
        ok = add_op(c, a, f->edge.to, e);
        cell_add(c, STYLE_PLAIN, " needs it");
        return ok;
    }
    cell_add(c, STYLE_PLAIN, f->back ? "is there again with " : "needs ");
    return add_op(c, a, f->edge.from, e);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct change *t = (struct change *)v;
    const struct walk_news *news = walk_news(t->walk);

    if (row == 1) {
        cell_add(&out->cells[WHY], STYLE_HEADING, "chosen");
        return draw_op(t, news->op, out, e);
    }
    if (row - 2 >= news->follow_count) {
        cell_add(&out->cells[OP], STYLE_DIM, "and %zu more",
                 news->gone + news->back - news->follow_count);
        return true;
    }
    const struct walk_follow *f = &news->follows[row - 2];
    cell_add(&out->cells[RULE], STYLE_RULE, "%s", model_rule_name(f->edge.rule));
    return draw_op(t, f->op, out, e) && draw_why(t, f, &out->cells[WHY], e);
}

/* The rule in full. */
static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    struct change *t = (struct change *)v;
    const struct walk_news *news = walk_news(t->walk);

    *more = n == 0 && row >= 1 && row < news->follow_count + 2;
    if (!*more)
        return true;
    if (row == 1)
        return change_words(out, t->analysis, t->walk, e);
    cell_add(out, STYLE_RULE, "%s", model_rule_reason(news->follows[row - 2].edge.rule));
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    const struct walk_news *news = walk_news(((struct change *)v)->walk);

    if (row > news->follow_count + 1)
        return view_no_subject(v, row, out, e);
    uint32_t op = row == 1 ? news->op : news->follows[row - 2].op;
    *out = (struct subject){SUBJECT_OP, op, NULL};
    return true;
}

struct view *change_view(struct analysis *a, struct walk *walk)
{
    static const struct view_ops ops = {
        .name = "change",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = detail,
        .subject = subject,
        .find = view_find_nothing,
        .close = view_close_plain,
    };
    struct change *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->walk = walk;
    return &t->view;
}
