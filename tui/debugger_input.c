/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From what is typed, clicked or read from a script to requests.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "tui/debugger.h"

/* Rows that a turn of the wheel moves. */
enum { WHEEL_ROWS = 3 };

/* What was selected a moment ago need not have been drawn yet. */
static void mean_selected(struct debugger *d)
{
    const struct desk *desk = &d->desks[DESK_bugs];
    struct pane *p = desk_main(debugger_desk(d));
    struct subject s;

    if (d->desk == DESK_bugs && !desk->stale && !debugger_finds(d) && p->view && !p->plain &&
        p->selected && p->view->ops->subject(p->view, p->selected, &s, NULL) &&
        s.kind == SUBJECT_BUG)
        debugger_mean_bug(d, debugger_bug(d, s.number));
}

bool debugger_command(struct debugger *d, const char *line, enum after *after, struct error *e)
{
    line += strspn(line, " \t");
    size_t n = strcspn(line, " \t");
    if (!n || *line == '#')
        return true;
    enum request r = request_find(line, n, e);
    if (r == REQUEST_COUNT)
        return false;
    const char *rest = line + n + strspn(line + n, " \t");
    size_t length = strlen(rest);
    while (length && isspace((unsigned char)rest[length - 1]))
        length--;
    char *words = xstrndup(rest, length);
    bool ok = true;
    if (*words && !*request_info(r)->arguments)
        ok = error_set(e, "%s takes no arguments", request_info(r)->name);
    mean_selected(d);
    ok = ok && request_info(r)->run(d, words, after, e);
    free(words);
    return ok;
}

static enum after run_line(struct debugger *d, const char *line)
{
    enum after after = AFTER_REDRAW;
    struct error e;

    if (!debugger_command(d, line, &after, &e))
        debugger_complain(d, e.text);
    return after;
}

bool debugger_ask(struct debugger *d, enum prompt_kind kind, const char *text, enum request r,
                  struct error *e)
{
    const struct request_info *info = request_info(r);

    if (!d->by_key)
        return error_set(e, "%s wants %s: %s", info->name, info->arguments, info->help);
    prompt_open(d->prompt, kind, text);
    return true;
}

/* A finished line of the prompt. */
static enum after take_prompt(struct debugger *d)
{
    static const char *const commands[] = {[PROMPT_COMMAND] = "",
                                           [PROMPT_SEARCH] = "search ",
                                           [PROMPT_FILTER] = "filter ",
                                           [PROMPT_NOTE] = "note "};
    const char *line = prompt_line(d->prompt);

    if (!line)
        return AFTER_REDRAW;
    enum prompt_kind kind = prompt_kind(d->prompt);
    if (kind == PROMPT_SEARCH && !*line)
        return run_line(d, "next");
    if (kind == PROMPT_NOTE && !*line)
        return AFTER_REDRAW;
    char *command = xasprintf("%s%s", commands[kind], line);
    if (kind == PROMPT_NOTE) /* it may be long, and not be kept */
        prompt_remember(d->prompt, command);
    enum after after = run_line(d, command);
    free(command);
    return after;
}

void debugger_hush(struct debugger *d)
{
    free(d->message);
    d->message = NULL;
    d->is_error = false;
}

/* What a key or a button stands for: it may ask for what it lacks. */
static enum after run_asking(struct debugger *d, const char *line)
{
    d->by_key = true;
    enum after after = run_line(d, line);
    d->by_key = false;
    return after;
}

static enum after take_key(struct debugger *d, uint32_t key)
{
    if (prompt_is_open(d->prompt))
        return prompt_key(d->prompt, key) ? take_prompt(d) : AFTER_REDRAW;
    debugger_hush(d);
    const char *command = keymap_get(&d->keymap, key == '\n' ? TYPED_ENTER : key);
    if (command)
        return run_asking(d, command);
    struct buf name = {0};
    key_add_name(key, &name);
    debugger_say(d, "%s does nothing here; ? lists what does", buf_string(&name));
    buf_free(&name);
    return AFTER_REDRAW;
}

/* ---- mouse ---- */

static enum after click_button(struct debugger *d, int column)
{
    for (int i = 0; i < d->button_count; i++)
        if (column >= d->buttons[i].left && column < d->buttons[i].right)
            return run_asking(d, request_info(d->buttons[i].request)->name);
    return AFTER_NOTHING;
}

static enum after take_click(struct debugger *d, const struct input *in)
{
    struct desk *desk = debugger_desk(d);
    int pane = desk_pane_at(desk, in->column, in->row);

    debugger_hush(d);
    if (d->button_count && in->row == d->screen.rows - 2)
        return click_button(d, in->column);
    if (pane < 0)
        return AFTER_NOTHING;
    desk->focus = pane;
    struct pane *p = &desk->panes[pane];
    if (d->desk == DESK_graph && pane == 0) {
        size_t node = graph_picture_at(d->picture, in->column - p->area.left + p->shift,
                                       in->row - p->first_line + (int)p->top);
        if (node != NO_NODE)
            graph_picture_select(d->picture, node);
        return AFTER_REDRAW;
    }
    uint64_t row = pane_row_at(p, in->row);
    bool again = row && row == p->selected;
    if (row)
        pane_select(p, row);
    return again && in->amount > 1 ? run_line(d, "open") : AFTER_REDRAW;
}

static enum after take_scroll(struct debugger *d, const struct input *in)
{
    struct desk *desk = debugger_desk(d);
    int pane = desk_pane_at(desk, in->column, in->row);

    if (pane >= 0)
        pane_scroll(&desk->panes[pane], in->amount * WHEEL_ROWS);
    return AFTER_REDRAW;
}

enum after debugger_input(struct debugger *d, const struct input *input)
{
    switch (input->kind) {
    case INPUT_KEY:
        return take_key(d, input->key);
    case INPUT_CLICK:
        return take_click(d, input);
    case INPUT_SCROLL:
        return take_scroll(d, input);
    case INPUT_RESIZE:
        debugger_resize(d, input->column, input->row);
        return AFTER_REDRAW;
    case INPUT_CLOSED:
        return AFTER_LEAVE;
    case INPUT_NONE:
        break;
    }
    return AFTER_NOTHING;
}
