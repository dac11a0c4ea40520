/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that find, filter and sort rows.
 */
#include "tui/debugger.h"

static struct pane *pane(struct debugger *d)
{
    return desk_pane(debugger_desk(d));
}

bool do_search(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    if (*words)
        return pane_search(pane(d), words, 1, e);
    return debugger_ask(d, PROMPT_SEARCH, "", REQUEST_search, e);
}

bool do_next(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return pane_search(pane(d), NULL, 1, e);
}

bool do_previous(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return pane_search(pane(d), NULL, -1, e);
}

bool do_filter(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    /* A key asks, with the filter that is there; an empty line takes it away. */
    if (!*words && d->by_key) {
        const char *now = pane(d)->rows.filter;
        return debugger_ask(d, PROMPT_FILTER, now ? now : "", REQUEST_filter, e);
    }
    return pane_filter(pane(d), words, e);
}

bool do_sort(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return pane_sort(pane(d), words, e);
}
