/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the debugger shows: following selections, drawing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "tui/debugger.h"

/* Below this nothing can be read. */
enum { LEAST_COLUMNS = 10, LEAST_ROWS = 3, ROWS_FOR_KEYS = 8 };

/* ---- what is meant ---- */

static bool pane_subject(struct pane *p, struct subject *out, struct error *e)
{
    *out = (struct subject){0};
    return p->view && p->selected && p->view->ops->subject(p->view, p->selected, out, e) &&
           out->kind != SUBJECT_NONE;
}

bool debugger_subject(struct debugger *d, struct subject *out, struct error *e)
{
    struct desk *desk = debugger_desk(d);

    if (d->desk == DESK_graph && desk->focus == 0) {
        graph_picture_subject(d->picture, out);
        if (out->kind != SUBJECT_NONE)
            return true;
    }
    if (pane_subject(desk_pane(desk), out, e) || pane_subject(desk_main(desk), out, e))
        return true;
    return error_set(e, "this row stands for no event, op, bug or the like; choose another");
}

/* ---- following ---- */

static uint64_t main_row(struct debugger *d)
{
    if (d->desk == DESK_graph)
        return graph_picture_selected(d->picture);
    return desk_main(debugger_desk(d))->selected;
}

static void follow(struct debugger *d)
{
    struct desk *desk = debugger_desk(d);
    uint64_t version = d->version + (d->walk ? walk_version(d->walk) << 20 : 0);

    debugger_open(d);
    if (desk->following && desk->followed_row == main_row(d) && desk->followed_version == version)
        return;
    desk->same_row = desk->followed_row == main_row(d);
    if (!desk->same_row)
        d->frame.row = 0;
    desk->following = true;
    desk->followed_row = main_row(d);
    desk->followed_version = version;
    if (desk->kind->follow)
        desk->kind->follow(d);
}

/* ---- drawing ---- */

static void add_counts(struct debugger *d, struct cell *c)
{
    const json_t *report = d->findings.report;
    const json_t *states = json_object_get(report, "states");
    json_int_t tested = json_integer_value(json_object_get(states, "tested"));
    json_int_t distinct = json_integer_value(json_object_get(states, "distinct"));
    bool complete = json_is_true(json_object_get(states, "complete"));
    size_t bugs = json_array_size(json_object_get(report, "bugs"));

    if (d->task == TASK_CHECK || d->task == TASK_TRY) {
        cell_add(c, STYLE_BAR, "%s%s %" PRIu64 " states",
                 d->task == TASK_TRY ? "trying" : "checking",
                 d->stopping ? ", stopping:"
                 : d->paused ? ", paused:"
                             : "",
                 d->has_progress ? d->progress.counts.enumerated : 0);
        bugs = json_array_size(d->found);
    } else if (report) {
        /* What was cut short is not said to be good. */
        cell_add(c, STYLE_BAR, "%" JSON_INTEGER_FORMAT, tested);
        if (tested != distinct)
            cell_add(c, STYLE_BAR, " of %" JSON_INTEGER_FORMAT, distinct);
        cell_add(c, STYLE_BAR, " state%s%s%s", distinct == 1 ? "" : "s",
                 bugs || complete ? " " : ", cut short",
                 bugs       ? glyph(GLYPH_BAD)
                 : complete ? glyph(GLYPH_GOOD)
                            : "");
    } else {
        cell_add(c, STYLE_BAR, "not checked");
    }
    if (report || d->task != TASK_NONE)
        cell_add(c, STYLE_BAR, "  %zu bug%s", bugs, bugs == 1 ? "" : "s");
    if (d->loading)
        cell_add(c, STYLE_BAR, "  working the graph out");
    if (d->dumping)
        cell_add(c, STYLE_BAR, "  writing the view, %d %%", dump_percent(d->dumping));
    cell_add(c, STYLE_BAR, "  ");
}

static void draw_top(struct debugger *d)
{
    struct screen *s = &d->screen;
    struct cell left = {0}, right = {0};
    const char *slash = strrchr(d->path, '/'), *name = slash ? slash + 1 : d->path;
    const char *model = d->loaded ? d->findings.analysis->graph->model.name
                                  : json_string_value(json_object_get(d->findings.report, "model"));

    screen_blank(s, 0, 0, s->columns, STYLE_BAR);
    cell_add(&left, STYLE_BAR_KEY, " flotsam  ");
    cell_escape(&left, STYLE_BAR, name, strlen(name));
    if (model)
        cell_add(&left, STYLE_BAR, "   ");
    if (model)
        cell_escape(&left, STYLE_BAR, model, strlen(model));
    for (enum model_stores m = 0; d->loaded && m < STORES_COUNT; m++)
        if (d->findings.analysis->graph->stores >> m & 1)
            cell_add(&left, STYLE_BAR, "+%s", model_stores_name(m));
    if (d->pretending)
        cell_add(&left, STYLE_BAR, "   %s pretending", glyph(GLYPH_PRETEND));
    else if (d->findings.fixes.n) /* from another day: the graph is without them until one more */
        cell_add(&left, STYLE_BAR, "   %s %zu kept aside", glyph(GLYPH_PRETEND),
                 d->findings.fixes.n);
    add_counts(d, &right);
    int width = escape_width(buf_string(&right.text));
    int begin = s->columns > width ? s->columns - width : 0;
    screen_cell(s, 0, 0, begin > 12 ? begin - 1 : s->columns, &left, 0);
    if (begin > 12)
        screen_cell(s, 0, begin, s->columns, &right, 0);
    cell_free(&left);
    cell_free(&right);
}

/* One key and what it does, where that ends before `limit`; where the next one may begin. */
static int draw_key(struct debugger *d, int row, int column, int limit, enum request r)
{
    struct screen *s = &d->screen;
    struct buf keys = {0};
    const char *name = request_info(r)->name;

    keymap_keys(&d->keymap, r, &keys);
    size_t n = strcspn(buf_string(&keys), " ");
    int end = column + (int)n + 1 + (int)strlen(name);
    if (n && end < limit) {
        d->buttons[d->button_count++] = (struct button){column, end, r};
        column = screen_put(s, row, column, limit, STYLE_BAR_KEY, buf_string(&keys), n);
        column = screen_put(s, row, column + 1, limit, STYLE_BAR, name, strlen(name)) + 2;
    }
    buf_free(&keys);
    return column;
}

/* The keys that matter here, as far as they fit; those before help leave it its room, since it is
 * the way to all others. */
static void draw_keys(struct debugger *d, int row)
{
    enum { ROOM_FOR_HELP = sizeof "  ? help" - 1 };
    struct screen *s = &d->screen;
    const enum request *buttons = debugger_desk(d)->kind->buttons;
    int column = 1, help = 0;

    screen_blank(s, row, 0, s->columns, STYLE_BAR);
    d->button_count = 0;
    for (int i = 0; i < DESK_BUTTONS; i++)
        if (buttons[i] == REQUEST_help)
            help = i;
    for (int i = 0; i < DESK_BUTTONS && buttons[i]; i++)
        column = draw_key(d, row, column, i < help ? s->columns - ROOM_FOR_HELP : s->columns,
                          buttons[i]);
}

/* Bytes of a text for one line: as many as fit, up to a space where there is one. */
static size_t line_of(const char *safe, int width)
{
    size_t n = escape_fitting(safe, width), space = n;

    if (!safe[n])
        return n;
    while (space && safe[space] != ' ')
        space--;
    return space ? space : n;
}

/* Text in as many lines as it takes, `most` at the most, the last of them at `row`. Says how many.
 */
static int draw_folded(struct screen *s, int row, int most, enum style style, const char *safe)
{
    int lines = 0;

    for (const char *at = safe; *at && lines < most; lines++) {
        at += line_of(at, s->columns);
        at += strspn(at, " ");
    }
    const char *at = safe;
    for (int i = lines - 1; i >= 0; i--) {
        size_t n = i ? line_of(at, s->columns) : strlen(at);
        struct cell c = {0};
        cell_add(&c, style, "%.*s", (int)n, at);
        screen_blank(s, row - i, 0, s->columns, STYLE_PLAIN);
        screen_cell(s, row - i, 0, s->columns, &c, 0);
        cell_free(&c);
        at += n;
        at += strspn(at, " ");
    }
    return lines;
}

static void draw_prompt(struct debugger *d, int row)
{
    struct screen *s = &d->screen;
    struct buf text = {0};
    struct cell line = {0};
    const char *sign = prompt_sign(d->prompt);
    int cursor, begin = screen_put(s, row, 0, s->columns, STYLE_PROMPT, sign, strlen(sign));

    prompt_text(d->prompt, &text, &cursor);
    cell_add(&line, STYLE_PROMPT, "%s", buf_string(&text));
    int room = s->columns - begin - 1, skip = cursor > room ? cursor - room : 0;
    screen_cell(s, row, begin, s->columns, &line, skip);
    s->cursor_row = row;
    s->cursor_column = begin + cursor - skip;
    draw_folded(s, row - 1, row / 2, STYLE_MESSAGE, prompt_choices(d->prompt));
    cell_free(&line);
    buf_free(&text);
}

/* A long message takes lines from what is above it, until the next key. */
static void draw_message(struct debugger *d, int row)
{
    struct screen *s = &d->screen;
    char *safe = escape_text(d->message);
    int most = s->rows / 3 > 1 ? s->rows / 3 : 1;

    if (draw_folded(s, row, most, d->is_error ? STYLE_MESSAGE_ERROR : STYLE_MESSAGE, safe) > 1)
        d->button_count = 0;
    free(safe);
}

static void draw_bottom(struct debugger *d, int row)
{
    if (prompt_is_open(d->prompt))
        draw_prompt(d, row);
    else if (d->message)
        draw_message(d, row);
}

/* What the checker said of the schedule in hand. */
static void add_verdict(const struct debugger *d, struct cell *c)
{
    if (d->task == TASK_TEST)
        cell_add(c, STYLE_VERDICT_NONE, d->stopping ? "stopping  " : "testing  ");
    else if (d->walk && d->verdict_version == walk_version(d->walk) &&
             d->verdict.kind != VERDICT_NOT_RUN) {
        bool good = d->verdict.kind == VERDICT_CONSISTENT;
        cell_add(c, good ? STYLE_VERDICT_GOOD : STYLE_VERDICT_BAD, "%s %s",
                 glyph(good ? GLYPH_GOOD : GLYPH_BAD), verdict_name(d->verdict.kind));
        cell_add(c, STYLE_PLAIN, "  ");
    }
}

static void set_titles(struct debugger *d)
{
    struct desk *desk = debugger_desk(d);

    for (int i = 0; i <= desk->companions; i++) {
        struct pane *p = &desk->panes[i];
        cell_clear(&p->right);
        if (p->rows.filter) {
            enum { FILTER_SHOWN = 24 };
            struct buf cut = {0};
            char *safe = escape_text(p->rows.filter);
            escape_cut(&cut, safe, FILTER_SHOWN, escape_locale());
            cell_add(&p->right, STYLE_FLAG, "filter %s", buf_string(&cut));
            buf_free(&cut);
            free(safe);
            if (rows_percent(&p->rows) < 100)
                cell_add(&p->right, STYLE_FLAG, " %d %%", rows_percent(&p->rows));
            cell_add(&p->right, STYLE_PLAIN, "  ");
        }
        if (p->search == SEARCH_RUNNING)
            cell_add(&p->right, STYLE_FLAG, "searching  ");
        if (d->desk == DESK_schedule && i == 0)
            add_verdict(d, &p->right);
        if (p->view && !p->plain && !p->picture && p->selected)
            cell_add(&p->right, STYLE_DIM, "%" PRIu64 " of %" PRIu64,
                     rows_place(&p->rows, p->selected) + 1, rows_count(&p->rows));
    }
    if (!desk->panes[0].title.text.n)
        cell_add(&desk->panes[0].title, STYLE_PLAIN, "%s", desk->kind->title);
}

void debugger_draw(struct debugger *d)
{
    struct screen *s = &d->screen;

    screen_clear(s);
    d->button_count = 0;
    if (s->columns < LEAST_COLUMNS || s->rows < LEAST_ROWS) {
        screen_put(s, 0, 0, s->columns, STYLE_WARNING, "too small", strlen("too small"));
        return;
    }
    bool keys = s->rows >= ROWS_FOR_KEYS;
    struct area panes = {0, 1, s->columns, s->rows - (keys ? 2 : 1)};
    debugger_open(d); /* how many rows there are decides about the room */
    if (desk_lay_out(debugger_desk(d), panes))
        debugger_desk(d)->following = false;
    follow(d);
    set_titles(d);
    draw_top(d);
    desk_draw(debugger_desk(d), s);
    if (keys)
        draw_keys(d, s->rows - 2);
    draw_bottom(d, s->rows - 1);
}
