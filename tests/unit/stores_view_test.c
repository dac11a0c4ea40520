/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stores as people are shown them: by field and value, with lines, instructions and objects where
 * system calls have blocks and files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "engine/report.h"
#include "engine/report_words.h"
#include "engine/stored_objects.h"
#include "tests/unit/stores_sample.h"
#include "views/behaviours.h"
#include "views/links.h"
#include "views/object.h"
#include "views/objects.h"
#include "views/op_words.h"
#include "views/overview.h"
#include "views/schedule.h"
#include "views/trace.h"
#include "views/trace_json.h"
#include "views/why_op.h"

/* --- Events -------------------------------------------------------------------------------- */

static void the_trace_has_fields_lines_and_instructions(void **state)
{
    struct debug *d = *state;
    struct analysis *a = d->analysis;
    struct view *v = trace_view(a->session, a->symbols, a->fields, NULL);
    assert_string_equal(view_row(v, 2),
                        "2|1|store|bucket.slot[0].key = 7 (table 64+8)||insert|hash.c:38");
    assert_string_equal(
        view_row(v, 3),
        "3|1|store|bucket.slot[0].value = 9 (table 72+8) by address||insert|hash.c:39");
    assert_string_equal(view_row(v, 5), "5|1|flush|table line 1 (64+64) clwb||flush|mapped.h:58");
    assert_string_equal(view_row(v, 7), "7|1|fence|sfence||fence|mapped.h:68");
    assert_string_equal(view_row(v, 9), "9|1|store|table 200+4 = 0x5 nt||main|main.c:8");
    assert_int_equal(view_style(v, 2, "bucket.slot"), STYLE_FIELD);
    v->ops->close(v);
    v = trace_view(a->session, a->symbols, NULL, NULL); /* while the rest is being worked out */
    assert_string_equal(view_row(v, 2), "2|1|store|table 64+8 = 0x7||insert|hash.c:38");
    v->ops->close(v);
}

static json_t *event_json(struct debug *d, uint64_t event)
{
    struct trace_json *t =
        trace_json_open(d->analysis->session, d->analysis->symbols, d->analysis->fields);
    struct buf text = {0};
    struct error e;
    assert_true(trace_json_event(t, event, &text, &e));
    json_t *out = json_loadb(text.at, text.n, 0, NULL);
    assert_non_null(out);
    buf_free(&text);
    trace_json_close(t);
    return out;
}

static const char *text_of(const json_t *o, const char *member)
{
    const char *text = json_string_value(json_object_get(o, member));
    return text ? text : "";
}

static void json_has_the_field(void **state)
{
    json_t *o = event_json(*state, 3);
    assert_string_equal(text_of(o, "field"), "entry.value");
    assert_string_equal(text_of(o, "type"), "entry");
    assert_string_equal(text_of(o, "stored"), "bucket.slot[0].value = 9");
    assert_string_equal(text_of(o, "confidence"), "address");
    assert_int_equal(json_integer_value(json_object_get(o, "instance")), 64);
    json_decref(o);
    o = event_json(*state, 9);
    assert_null(json_object_get(o, "field"));
    json_decref(o);
    o = event_json(*state, 5);
    assert_int_equal(json_integer_value(json_object_get(o, "cache_line")), 1);
    json_decref(o);
}

/* --- Ops ----------------------------------------------------------------------------------- */

static void the_stepper_has_fields_and_lines(void **state)
{
    struct debug *d = *state;
    struct schedule_rows *rows = schedule_rows_new(d->analysis);
    struct view *v = schedule_view(rows, d->walk);
    struct error e;
    bool done = false;
    while (!done)
        assert_true(schedule_rows_settle(rows, 0, &done, &e));
    assert_true(walk_begin_prefix(d->walk, debug_op(d, 4)));
    assert_true(walk_lose(d->walk, debug_op(d, 3)));
    assert_string_equal(view_text(v), "2|* store    bucket.slot[0].key = 7|table line 1|insert|\n"
                                      "3|o store    bucket.slot[0].value = 9|table line 1|insert|"
                                      "lost\n"
                                      "4|* store    bucket.tokens = 1|table line 0|insert|\n"
                                      "5|= clwb line 1|table|flush|\n"
                                      "6|= clwb line 0|table|flush|\n"
                                      "|-- crash --|||\n"
                                      "7|= sfence||fence|\n"
                                      "8|- print stdout \"put\\n\"||main|\n"
                                      "9|. store    200+4 nt|table line 3|main|\n");
    assert_string_equal(view_detail(v, 2, 0), "op 1, durable when it returns: 7 sfence");
    v->ops->close(v);
    schedule_rows_free(rows);
}

static void sentences_name_fields_and_the_model_of_stores(void **state)
{
    struct debug *d = *state;
    struct view *v;
    struct error e;
    struct buf prose = {0};
    assert_true(why_op_view(&v, d->analysis, debug_op(d, 3), debug_op(d, 4), &e));
    for (size_t n = 0; *view_detail(v, 2, n); n++)
        buf_printf(&prose, "%s ", view_detail(v, 2, n));
    assert_non_null(strstr(prose.at, "Op 1 (store bucket.slot[0].value = 9 (table 72+8)) need not "
                                     "persist before op 2 (store bucket.tokens = 1 (table 0+8)): "
                                     "under px86 a crash may lose the first"));
    assert_non_null(strstr(prose.at, "durable once event 7 sfence has returned"));
    v->ops->close(v);
    buf_free(&prose);
}

/* --- Behaviours, report, overview ---------------------------------------------------------- */

static void a_behaviour_of_stores_is_named_by_type_and_place(void **state)
{
    struct debug *d = *state;
    const struct behaviours *list = d->analysis->behaviours;
    bool found = false, function = false;
    for (size_t i = 0; i < list->n; i++) {
        struct cell c = {0};
        json_t *o = json_object();
        behaviour_words(&c, d->analysis, &list->at[i]);
        behaviour_set_work(o, d->analysis, &list->at[i]);
        if (list->at[i].flags & BEHAVIOUR_TYPE && strstr(buf_string(&c.text), "bucket")) {
            found = true;
            assert_string_equal(buf_string(&c.text), "type bucket at table 0");
            assert_true(json_is_null(json_object_get(o, "function")));
            assert_string_equal(text_of(o, "type"), "bucket");
            assert_string_equal(text_of(o, "path"), "table");
            assert_int_equal(json_integer_value(json_object_get(o, "instance")), 0);
        } else if (!(list->at[i].flags & BEHAVIOUR_TYPE)) {
            function = true;
            assert_string_equal(buf_string(&c.text), "main");
            assert_string_equal(text_of(o, "function"), "main");
            assert_null(json_object_get(o, "type"));
        }
        json_decref(o);
        cell_free(&c);
    }
    assert_true(found && function);
}

static void a_report_has_the_field_first(void **state)
{
    struct debug *d = *state;
    json_t *op = report_op(d->analysis, debug_op(d, 4), false);
    struct buf text = {0};
    report_add_op(&text, op, 0);
    assert_string_equal(text.at, "store bucket.tokens = 1 (table 0+8)");
    assert_string_equal(text_of(op, "field"), "bucket.tokens");
    assert_string_equal(text_of(op, "type"), "bucket");
    json_decref(op);
    buf_clear(&text);
    op = report_op(d->analysis, debug_op(d, 9), false);
    report_add_op(&text, op, 0);
    assert_string_equal(text.at, "store table 200+4");
    json_decref(op);
    buf_free(&text);
}

static void the_overview_says_what_is_taken_for_stores(void **state)
{
    struct debug *d = *state;
    struct overview o = {.session = d->run->s, .analysis = d->analysis};
    struct view *v;
    struct error e;
    assert_true(overview_view(&v, &o, 100, &e));
    const char *text = view_text(v);
    assert_non_null(strstr(text, "model|ext4, stores px86\n"));
    assert_non_null(strstr(text, "stores|4, of which 3 (75 %) are known by type and field\n"));
    v->ops->close(v);
}

/* --- Objects ------------------------------------------------------------------------------- */

struct looked {
    struct stored_objects *objects;
    struct walk_states *states;
};

static struct looked look(struct debug *d)
{
    struct state_source source = state_session_source(d->analysis->session);
    return (struct looked){stored_objects_find(d->analysis),
                           walk_states_new(d->walk, d->analysis->graph, &source)};
}

static void look_away(struct looked *l)
{
    stored_objects_free(l->objects);
    walk_states_free(l->states);
}

static void objects_with_what_became_of_their_stores(void **state)
{
    struct debug *d = *state;
    struct looked l = look(d);
    struct view *v = objects_view(d->analysis, l.objects, d->walk);
    assert_int_equal(l.objects->n, 2);
    assert_true(walk_begin_prefix(d->walk, debug_op(d, 4)));
    assert_true(walk_lose(d->walk, debug_op(d, 3)));
    /* What lies in the bucket counts for it, too. */
    assert_string_equal(view_text(v), "0|entry|table|64|16|2|o 1 lost\n"
                                      "1|bucket|table|0|96|3|o 1 lost\n");
    assert_int_equal(view_subject(v, 2).kind, SUBJECT_OBJECT);
    assert_true(walk_begin_prefix(d->walk, NO_OP));
    assert_string_equal(view_text(v), "0|entry|table|64|16|2|~ 2 in flight\n"
                                      "1|bucket|table|0|96|3|~ 3 in flight\n");
    v->ops->close(v);
    look_away(&l);
}

static const char *settled(struct view *v)
{
    struct error e;
    bool done = false;
    while (!done)
        if (!object_view_settle(v, 0, &done, &e))
            fail_msg("%s", e.text);
    return view_text(v);
}

static void an_object_field_by_field(void **state)
{
    struct debug *d = *state;
    struct looked l = look(d);
    struct view *v = object_view(d->analysis, l.objects, 1, d->walk, l.states);
    struct cell title = {0};
    assert_true(walk_begin_prefix(d->walk, debug_op(d, 4)));
    assert_true(walk_lose(d->walk, debug_op(d, 3)));
    assert_non_null(strstr(view_row(v, 1), "working out the state"));
    assert_string_equal(settled(v), "* tokens|1|1|4 persisted\n"
                                    "* slot[0].key|7|7|2 persisted\n"
                                    "o slot[0].value|9|0|3 lost\n"
                                    "  slot[1].key|0|0|\n"
                                    "  slot[1].value|0|0|\n");
    assert_int_equal(view_style(v, 3, "9"), STYLE_DATA_MISSING);
    assert_int_equal(view_style(v, 3, "lost"), STYLE_OP_LOST);
    assert_int_equal(view_style(v, 1, "1"), STYLE_DATA_SAME);
    /* To the store, and back from it. */
    assert_int_equal(view_subject(v, 3).kind, SUBJECT_OP);
    assert_int_equal(view_subject(v, 3).number, debug_op(d, 3));
    assert_int_equal(v->ops->find(v, &(struct subject){SUBJECT_OP, debug_op(d, 3), NULL}), 3);
    assert_int_equal(v->ops->find(v, &(struct subject){SUBJECT_OP, debug_op(d, 9), NULL}), 0);
    object_view_title(v, &title);
    assert_string_equal(title.text.at, "bucket at table 0: without a crash, and in this state");
    cell_free(&title);
    /* What the crash came before. */
    assert_true(walk_lose(d->walk, debug_op(d, 2)));
    assert_non_null(strstr(settled(v), "o slot[0].key|7|0|2 lost\n"));
    v->ops->close(v);
    look_away(&l);
}

static void from_a_store_to_its_objects_and_back(void **state)
{
    struct debug *d = *state;
    struct looked l = look(d);
    struct links *links = links_new(d->analysis);
    struct subject found[4], store = {SUBJECT_OP, debug_op(d, 3), NULL};
    links_objects(links, l.objects);
    assert_int_equal(links_to(links, &store, SUBJECT_OBJECT, found, 4), 2);
    assert_int_equal(found[0].number, 0); /* the entry, then the bucket around it */
    assert_int_equal(found[1].number, 1);
    assert_int_equal(links_to(links, &found[1], SUBJECT_OP, found, 4), 3);
    assert_int_equal(found[2].number, debug_op(d, 4));
    struct subject untyped = {SUBJECT_OP, debug_op(d, 9), NULL};
    assert_int_equal(links_to(links, &untyped, SUBJECT_OBJECT, found, 4), 0);
    links_free(links);
    look_away(&l);
}

int main(void)
{
    setlocale(LC_ALL, "C");
    const struct CMUnitTest tests[] = {
        stores_case(the_trace_has_fields_lines_and_instructions),
        stores_case(json_has_the_field),
        stores_case(the_stepper_has_fields_and_lines),
        stores_case(sentences_name_fields_and_the_model_of_stores),
        stores_case(a_behaviour_of_stores_is_named_by_type_and_place),
        stores_case(a_report_has_the_field_first),
        stores_case(the_overview_says_what_is_taken_for_stores),
        stores_case(objects_with_what_became_of_their_stores),
        stores_case(an_object_field_by_field),
        stores_case(from_a_store_to_its_objects_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
