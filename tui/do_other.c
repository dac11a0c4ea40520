/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests about the debugger itself, and those that scripts need.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/session_keep.h"
#include "tui/debugger.h"
#include "tui/dump.h"
#include "tui/words.h"

bool do_command(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    prompt_open(d->prompt, PROMPT_COMMAND, "");
    return true;
}

bool do_cancel(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct desk *desk = debugger_desk(d);
    struct pane *p = desk_pane(desk);

    (void)words, (void)after, (void)e;
    if (p->text)
        pane_forget(p);
    else if (p->rows.filter)
        pane_filter(p, NULL, NULL);
    else if (p->rows.sort >= 0)
        pane_sort(p, NULL, NULL);
    else
        desk->zoomed = false;
    return true;
}

bool do_theme(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct theme theme;

    (void)after;
    if (!*words) {
        debugger_say(d, "the theme is %s", d->theme_name);
        return true;
    }
    if (!theme_load(&theme, words, e))
        return false;
    d->theme = theme;
    free(d->theme_name);
    d->theme_name = xstrdup(words);
    d->wants_redraw = true;
    return true;
}

bool do_model(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct model model;

    (void)after;
    if (!*words) {
        char *text = d->loaded ? model_text(&d->findings.analysis->graph->model) : NULL;
        debugger_say(d, "the model is %s", text ? text : "being worked out");
        free(text);
        return true;
    }
    if (d->task != TASK_NONE)
        return error_set(e, "a check is running; :stop ends it");
    if (!model_find(words, &model, e) || !session_is_there(d->session, e))
        return false;
    free(d->model);
    d->model = xstrdup(words);
    debugger_reload(d);
    return true;
}

bool do_bind(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    char *name = words_next(&words);
    uint32_t key = name ? key_find(name, strlen(name)) : TYPED_NOTHING;

    (void)after;
    bool ok = key != TYPED_NOTHING;
    if (!name)
        error_set(e, "bind which key? bind KEY COMMAND, as in bind F5 check");
    else if (!ok)
        error_set(e, "no key is called %s; write s, C-l, PgDn, F5, …", name);
    free(name);
    if (ok && *words && request_find(words, strcspn(words, " "), e) == REQUEST_COUNT)
        ok = false;
    if (ok)
        keymap_set(&d->keymap, key, words);
    return ok;
}

bool do_redraw(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    d->wants_redraw = true;
    return true;
}

bool do_suspend(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (!d->interactive)
        return error_set(e, "there is no terminal to come back to");
    d->wants_suspend = true;
    return true;
}

bool do_quit(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)d, (void)words, (void)e;
    *after = AFTER_LEAVE;
    return true;
}

/* ---- for scripts ---- */

bool do_dump(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct buf text = {0};
    char *what = words_next(&words);
    bool ok = true, view = what && !strcmp(what, "view");

    (void)after;
    debugger_draw(d);
    if (!what || !*words)
        ok = error_set(e, "dump what, and where? dump screen|styles|view FILE");
    else if (!strcmp(what, "screen"))
        screen_text(&d->screen, &text);
    else if (!strcmp(what, "styles"))
        screen_styles(&d->screen, &text);
    else if (view)
        ok = debugger_dump(d, words, e);
    else
        ok = error_set(e, "%s cannot be dumped; screen, styles and view can", what);
    free(what);
    ok = ok && (view || dump_file(words, &text, d->interactive, e));
    buf_free(&text);
    return ok;
}

bool do_press(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    char *name;
    enum { DEPTH_MAX = 8 }; /* keys that press keys that … */

    if (d->pressing == DEPTH_MAX)
        return error_set(e, "a key that presses itself: bind gives it another meaning");
    d->pressing++;
    bool ok = true;
    while (ok && (name = words_next(&words))) {
        struct input in = {.kind = INPUT_KEY, .key = key_find(name, strlen(name))};
        ok = in.key || error_set(e, "no key is called %s", name);
        free(name);
        if (!ok)
            break;
        *after = debugger_input(d, &in);
        if (*after == AFTER_LEAVE)
            break;
        debugger_draw(d); /* what a key does may depend on what is in sight */
    }
    d->pressing--;
    return ok;
}

bool do_click(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    int column, row, n = 0;

    if (sscanf(words, "%4d %4d%n", &column, &row, &n) != 2 || words[n])
        return error_set(e, "click where? click COLUMN ROW, from 1");
    debugger_draw(d);
    struct input in = {.kind = INPUT_CLICK, .column = column - 1, .row = row - 1, .amount = 1};
    *after = debugger_input(d, &in);
    return true;
}

bool do_size(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    int columns, rows, n = 0;
    enum { MOST = 1000 };

    (void)after;
    if (d->interactive)
        return error_set(e, "the terminal has its own size");
    if (sscanf(words, "%dx%d%n", &columns, &rows, &n) != 2 || words[n] || columns < 1 || rows < 1 ||
        columns > MOST || rows > MOST)
        return error_set(e, "%s is no size; write 80x24", words);
    debugger_resize(d, columns, rows);
    return true;
}
