/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From anything on a screen to the rest: compared with what a look at everything finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/debug_sample.h"
#include "tests/unit/report_sample.h"
#include "views/links.h"

enum { MOST = 64 };

static struct links *settled(struct debug *d)
{
    struct links *l = links_new(d->analysis);
    struct error e;
    bool done = false;
    while (!done)
        assert_true(links_settle(l, 0, &done, &e));
    return l;
}

/* All that there are, as "3 5 7". */
static const char *numbers(struct links *l, enum subject_kind from, uint64_t number,
                           enum subject_kind to)
{
    static struct buf text;
    struct subject out[MOST], subject = {from, number, NULL};
    size_t n = links_to(l, &subject, to, out, MOST);
    buf_free(&text);
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(out[i].kind, to);
        buf_printf(&text, "%s%llu", i ? " " : "", (unsigned long long)out[i].number);
    }
    return buf_string(&text);
}

static void an_op_leads_to_its_event_line_and_file(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    struct subject line, from = {SUBJECT_OP, debug_op(d, 6), NULL};
    assert_string_equal(numbers(l, SUBJECT_OP, debug_op(d, 6), SUBJECT_EVENT), "6");
    assert_string_equal(numbers(l, SUBJECT_OP, debug_op(d, 6), SUBJECT_FILE), "3");
    assert_int_equal(links_to(l, &from, SUBJECT_LINE, &line, 1), 1);
    assert_int_equal(line.number, 131);
    assert_string_equal(line.path, "/src/db.c");
    assert_string_equal(numbers(l, SUBJECT_EVENT, 2, SUBJECT_OP), "1 2");
    assert_string_equal(numbers(l, SUBJECT_EVENT, 7, SUBJECT_OP), "");
    assert_string_equal(numbers(l, SUBJECT_FILE, 2, SUBJECT_OP), "0 1 2 7 8");
    links_free(l);
}

static void a_line_leads_to_all_ops_on_it(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    struct subject out[MOST], line = {SUBJECT_LINE, 103, "/src/log.c"};
    assert_int_equal(links_to(l, &line, SUBJECT_OP, out, MOST), 4); /* of events 2 and 8 */
    assert_int_equal(out[0].number, 1);
    assert_int_equal(out[3].number, 8);
    line.number = 104;
    assert_int_equal(links_to(l, &line, SUBJECT_OP, out, MOST), 0);
    line = (struct subject){SUBJECT_LINE, 103, "/src/db.c"};
    assert_int_equal(links_to(l, &line, SUBJECT_OP, out, MOST), 0);
    for (uint32_t op = 0; op < d->analysis->graph->n; op++)
        assert_true(links_op_line(l, op) < links_line_count(l));
    links_free(l);
}

/* Every behaviour whose ops hold it, the smallest first. */
static void an_op_leads_to_the_behaviours_that_hold_it(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    const struct behaviours *list = d->analysis->behaviours;
    assert_true(list->n > 1);
    for (uint32_t op = 0; op < d->analysis->graph->n; op++) {
        struct subject out[MOST], from = {SUBJECT_OP, op, NULL};
        size_t n = links_to(l, &from, SUBJECT_BEHAVIOUR, out, MOST), there = 0;
        for (uint32_t b = 0; b < list->n; b++) {
            uint32_t ops[MOST];
            size_t count = behaviour_ops(list, &list->at[b], ops);
            for (size_t i = 0; i < count; i++)
                there += ops[i] == op;
        }
        assert_int_equal(n, there);
        for (size_t i = 1; i < n; i++)
            assert_true(list->at[out[i - 1].number].ops <= list->at[out[i].number].ops);
    }
    links_free(l);
}

static void behaviours_groups_and_ops_lead_to_each_other(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    struct error e;
    struct environments *environments;
    struct group_options options = GROUP_DEFAULTS;
    assert_string_equal(numbers(l, SUBJECT_OP, 0, SUBJECT_GROUP), ""); /* not known yet */
    assert_true(analysis_environments(&environments, d->analysis, &e));
    struct groups *groups =
        groups_form(d->analysis->behaviours, d->analysis->graph, environments, &options);
    links_groups(l, groups);
    for (uint32_t b = 0; b < d->analysis->behaviours->n; b++) {
        struct subject of[MOST], from = {SUBJECT_BEHAVIOUR, b, NULL};
        size_t n = links_to(l, &from, SUBJECT_GROUP, of, MOST);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) {
            struct subject members[MOST];
            size_t m = links_to(l, &of[i], SUBJECT_BEHAVIOUR, members, MOST);
            bool back = false;
            assert_int_equal(m, groups->at[of[i].number].members);
            for (size_t k = 0; k < m; k++)
                back |= members[k].number == b;
            assert_true(back);
        }
    }
    assert_string_not_equal(numbers(l, SUBJECT_OP, 0, SUBJECT_GROUP), "");
    links_free(l);
    groups_free(groups);
    environments_free(environments);
}

static void bugs_lead_to_their_ops_and_back(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    json_t *report =
        sample_json("{'model': 'ext4', 'bugs': [{'id': 1, 'survived': [{'op': 6, 'event': 6}],"
                    " 'lost': [{'op': 2, 'event': 2}], 'behaviour': {'id': 0}},"
                    " {'id': 2, 'survived': [{'event': 7}], 'lost': [{'op': 2, 'event': 2},"
                    " {'op': -3, 'event': 99999}, {'op': 4000000000}, 7, null]}, 'nothing']}");
    assert_non_null(report);
    links_report(l, report);
    assert_string_equal(numbers(l, SUBJECT_BUG, 1, SUBJECT_OP), "6 2");
    assert_string_equal(numbers(l, SUBJECT_BUG, 2, SUBJECT_OP), "2");
    assert_string_equal(numbers(l, SUBJECT_BUG, 2, SUBJECT_EVENT), "7 2");
    assert_string_equal(numbers(l, SUBJECT_BUG, 1, SUBJECT_LINE), "131 103");
    assert_string_equal(numbers(l, SUBJECT_BUG, 1, SUBJECT_BEHAVIOUR), "0");
    assert_string_equal(numbers(l, SUBJECT_OP, 2, SUBJECT_BUG), "1 2");
    assert_string_equal(numbers(l, SUBJECT_OP, 3, SUBJECT_BUG), "");
    assert_string_equal(numbers(l, SUBJECT_EVENT, 7, SUBJECT_BUG), "2");
    assert_string_equal(numbers(l, SUBJECT_FILE, 2, SUBJECT_BUG), "1 2");
    assert_string_equal(numbers(l, SUBJECT_BUG, 9, SUBJECT_OP), "");
    /* Op numbers of another model are others. */
    json_object_set_new(report, "model", json_string("posix"));
    links_report(l, report);
    assert_string_equal(numbers(l, SUBJECT_BUG, 1, SUBJECT_OP), "");
    assert_string_equal(numbers(l, SUBJECT_BUG, 1, SUBJECT_EVENT), "6 2");
    links_report(l, NULL);
    assert_string_equal(numbers(l, SUBJECT_BUG, 1, SUBJECT_EVENT), "");
    json_decref(report);
    links_free(l);
}

/* A state of the last check, its crash before a position as it was recorded. */
static void keep_state(struct debug *d, int id, uint32_t last, uint32_t lost, uint64_t crash)
{
    sqlite3_stmt *insert;
    sqlite3 *db = session_db(d->run->s);
    assert_int_equal(
        sqlite3_exec(db,
                     "CREATE TABLE IF NOT EXISTS states (id INTEGER PRIMARY KEY, last, lost,"
                     " crash, behaviour, grouped, verdict, model)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO states VALUES (?,?,?,?,0,-1,2,'ext4')", -1,
                                        &insert, NULL),
                     SQLITE_OK);
    sqlite3_bind_int(insert, 1, id);
    sqlite3_bind_int64(insert, 2, last);
    sqlite3_bind_blob(insert, 3, &lost, sizeof lost, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, (sqlite3_int64)crash);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
}

/* Both lack the manifest's data; only in the second had "saved" been printed. */
static void a_state_leads_to_the_bugs_that_it_shows(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    struct event print;
    struct error e;
    json_t *report = sample_json(
        "{'model': 'ext4', 'bugs': [{'survived': [{'op': 6, 'event': 6}], 'lost': [{'op': 2,"
        " 'event': 2}]}, {'survived': [{'event': 7}], 'lost': [{'op': 2, 'event': 2}]},"
        " {'survived': [{'op': 2}], 'lost': []}]}");
    links_report(l, report);
    assert_true(session_event(d->run->s, 7, &print, &e));
    keep_state(d, 1, 6, 2, session_position_recorded(print.exit));
    keep_state(d, 2, 6, 2, session_position_recorded(print.exit) + 1);
    keep_state(d, 3, 60, 2, 1); /* damaged */
    assert_string_equal(numbers(l, SUBJECT_STATE, 1, SUBJECT_BUG), "1");
    assert_string_equal(numbers(l, SUBJECT_STATE, 2, SUBJECT_BUG), "1 2");
    assert_string_equal(numbers(l, SUBJECT_STATE, 2, SUBJECT_OP), "6");
    assert_string_equal(numbers(l, SUBJECT_STATE, 2, SUBJECT_BEHAVIOUR), "0");
    assert_string_equal(numbers(l, SUBJECT_STATE, 3, SUBJECT_BUG), "");
    assert_string_equal(numbers(l, SUBJECT_STATE, 4, SUBJECT_BUG), "");
    json_decref(report);
    links_free(l);
}

static void what_is_not_there_leads_nowhere(void **state)
{
    struct debug *d = *state;
    struct links *l = settled(d);
    for (int from = SUBJECT_NONE; from <= SUBJECT_LINE; from++)
        for (int to = SUBJECT_NONE; to <= SUBJECT_LINE; to++) {
            struct subject none = {(enum subject_kind)from, UINT64_MAX, NULL}, out;
            size_t n = links_to(l, &none, (enum subject_kind)to, &out, 1);
            assert_int_equal(n, from == SUBJECT_FILE && to == SUBJECT_FILE);
        }
    assert_string_equal(numbers(l, SUBJECT_EVENT, 0, SUBJECT_OP), "");
    links_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        debug_case(an_op_leads_to_its_event_line_and_file),
        debug_case(a_line_leads_to_all_ops_on_it),
        debug_case(an_op_leads_to_the_behaviours_that_hold_it),
        debug_case(behaviours_groups_and_ops_lead_to_each_other),
        debug_case(bugs_lead_to_their_ops_and_back),
        debug_case(a_state_leads_to_the_bugs_that_it_shows),
        debug_case(what_is_not_there_leads_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
