/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "engine/report.h"
#include "engine/report_words.h"

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(text_of(a, key), text_of(b, key)) == 0;
}

static bool same_cause(const json_t *a, const json_t *b)
{
    return *text_of(a, "cause") && same_text(a, b, "cause");
}

/* Whether the same call, at the same place of the program, came too early in both. */
static bool same_survivor(const json_t *a, const json_t *b)
{
    const json_t *x = json_array_get(json_object_get(a, "survived"), 0),
                 *y = json_array_get(json_object_get(b, "survived"), 0);
    return x && y && same_text(x, y, "call") && same_text(x, y, "function") &&
           same_text(x, y, "file") && report_number(x, "line") == report_number(y, "line");
}

typedef bool alike(const json_t *a, const json_t *b);

static const json_t *find(const json_t *bugs, const json_t *like, alike *same)
{
    size_t i;
    const json_t *bug;
    json_array_foreach(bugs, i, bug) if (same(bug, like)) return bug;
    return NULL;
}

/* One that has the same survivor, and is none of those that were there before. */
static const json_t *find_changed(const json_t *before, const json_t *now, const json_t *like)
{
    size_t i;
    const json_t *bug;
    json_array_foreach(now, i, bug) if (same_survivor(bug, like) &&
                                        !find(before, bug, same_cause)) return bug;
    return NULL;
}

static json_t *outcome_of(const json_t *before, const json_t *now, const json_t *bug, bool complete)
{
    const json_t *same = find(now, bug, same_cause);
    const json_t *other = same ? same : find_changed(before, now, bug);
    const char *outcome = same ? "still" : other ? "changed" : complete ? "gone" : "unknown";
    json_t *out = json_object();
    json_object_set_new(out, "id", json_integer(report_number(bug, "id")));
    json_object_set_new(out, "outcome", json_string(outcome));
    json_object_set_new(out, "states", json_integer(report_number(bug, "states")));
    json_object_set_new(out, "states_now",
                        json_integer(other ? report_number(other, "states") : 0));
    json_object_set_new(out, "now", other ? json_integer(report_number(other, "id")) : json_null());
    return out;
}

/* Whether an outcome is that the earlier bug is now this one. */
static bool became(const json_t *outcome, const json_t *bug)
{
    return json_is_integer(json_object_get(outcome, "now")) &&
           report_number(outcome, "now") == report_number(bug, "id");
}

json_t *report_compare(const json_t *before, const json_t *now)
{
    const json_t *earlier = json_object_get(before, "bugs"), *later = json_object_get(now, "bugs");
    const json_t *bug;
    bool complete = json_is_true(json_object_get(json_object_get(now, "states"), "complete"));
    json_t *out = json_object(), *bugs = json_array(), *fresh = json_array();
    size_t i;
    json_array_foreach(earlier, i, bug)
        json_array_append_new(bugs, outcome_of(earlier, later, bug, complete));
    json_array_foreach(later, i, bug) if (!find(bugs, bug, became))
        json_array_append_new(fresh, json_integer(report_number(bug, "id")));
    json_object_set_new(out, "complete", json_boolean(complete));
    json_object_set_new(out, "bugs", bugs);
    json_object_set_new(out, "new", fresh);
    return out;
}
