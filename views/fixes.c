/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/fixes.h"

#include <inttypes.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/report_words.h"
#include "views/lines.h"

static const struct subject nothing = {SUBJECT_NONE, 0, NULL};

static void add_fixes(struct lines *l, struct session *s, const struct fix_list *list, int room)
{
    for (size_t i = 0; i < list->n; i++) {
        struct buf raw = {0}, text = {0};
        fix_words(&raw, s, &list->at[i]);
        buf_printf(&text, "%s %" PRIu32 " ", glyph(GLYPH_PRETEND), list->ids[i]);
        escape_add(&text, buf_string(&raw), raw.n, escape_locale());
        lines_fold(l, i ? "" : "pretended", STYLE_PRETEND, text.at, room,
                   (struct subject){SUBJECT_EVENT, list->at[i].after, NULL});
        buf_free(&raw);
        buf_free(&text);
    }
    if (!list->n)
        cell_add(lines_add(l, "pretended", nothing), STYLE_DIM, "nothing");
}

/* "1 gone: none of 12 states is left". */
static void add_outcome(struct lines *l, const json_t *bug, const char *label)
{
    const char *outcome = json_string_value(json_object_get(bug, "outcome"));
    json_int_t id = report_number(bug, "id"), was = report_number(bug, "states"),
               now = report_number(bug, "states_now");
    bool gone = outcome && !strcmp(outcome, "gone");
    struct buf word = {0};

    struct cell *c =
        lines_add(l, label, id > 0 ? (struct subject){SUBJECT_BUG, (uint64_t)id, NULL} : nothing);
    cell_add(c, STYLE_NUMBER, "%" JSON_INTEGER_FORMAT " ", id);
    report_add(&word, bug, "outcome", escape_locale());
    cell_add(c, gone ? STYLE_VERDICT_GOOD : STYLE_VERDICT_BAD, "%s ",
             glyph(gone ? GLYPH_GOOD : GLYPH_BAD));
    cell_text(c, gone ? STYLE_VERDICT_GOOD : STYLE_VERDICT_BAD, buf_string(&word), word.n);
    if (gone)
        cell_add(c, STYLE_PLAIN, ": none of %" JSON_INTEGER_FORMAT " states is left", was);
    else
        cell_add(c, STYLE_PLAIN,
                 ": %" JSON_INTEGER_FORMAT " state%s, %" JSON_INTEGER_FORMAT " before", now,
                 now == 1 ? "" : "s", was);
    buf_free(&word);
}

/* Syncs only rule states out, so a cause that the check did not tell of was there as well: its
 * states showed another cause first. */
static void add_hidden(struct lines *l, const json_t *tried, const json_t *fresh, int room)
{
    const json_t *id, *bug;
    size_t i, k;

    json_array_foreach(fresh, i, id)
    {
        struct buf text = {0};
        buf_text(&text, "hidden by others until now: ");
        json_array_foreach(json_object_get(tried, "bugs"), k, bug)
        {
            if (report_number(bug, "id") != json_integer_value(id))
                continue;
            report_add(&text, bug, "kind", escape_locale());
            buf_text(&text, ": ");
            report_add(&text, bug, "summary", escape_locale());
        }
        lines_fold(l, i ? "" : "more", STYLE_VERDICT_BAD, buf_string(&text), room, nothing);
        buf_free(&text);
    }
}

static void add_compared(struct lines *l, const json_t *tried, int room)
{
    const json_t *compared = json_object_get(tried, "compared"), *bug;
    size_t i;

    lines_gap(l);
    json_array_foreach(json_object_get(compared, "bugs"), i, bug)
        add_outcome(l, bug, i ? "" : "bugs");
    add_hidden(l, tried, json_object_get(compared, "new"), room);
    if (!json_is_true(json_object_get(compared, "complete")))
        cell_add(lines_add(l, "", nothing), STYLE_WARNING,
                 "not all states were tried: gone is not certain");
}

struct view *fixes_view(struct session *s, const struct fix_list *list, const json_t *tried,
                        int columns)
{
    struct lines *l = lines_new("fixes");

    add_fixes(l, s, list, lines_room(columns));
    if (json_is_object(json_object_get(tried, "compared")))
        add_compared(l, tried, lines_room(columns));
    return lines_view(l);
}
