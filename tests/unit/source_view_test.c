/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source beside a schedule: which lines have ops that survived, were lost or were in flight.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "engine/source.h"
#include "tests/unit/debug_sample.h"
#include "views/links.h"
#include "views/source.h"

/* As if the recorder had kept the text: line n of 140 says so; one is hostile. */
static void keep_source(struct debug *d, const char *path)
{
    sqlite3 *db = session_db(d->run->s);
    sqlite3_stmt *insert;
    struct buf text = {0};
    for (int line = 1; line <= 140; line++)
        buf_printf(&text, line == 54 ? "\t\"\x1b[2J\xff\";\r\n" : "line %d\n", line);
    char *file = xasprintf("%s/db.c", d->run->top);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fwrite(text.at, 1, text.n, out);
    fclose(out);
    struct error e;
    const char *paths[] = {file};
    assert_true(source_capture(d->run->s, paths, 1, &e));
    assert_int_equal(sqlite3_prepare_v2(db, "UPDATE sources SET path = ?", -1, &insert, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(insert, 1, path, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    remove(file);
    free(file);
    buf_free(&text);
}

struct shown {
    struct links *links;
    struct view *view;
};

static struct shown show(struct debug *d, const char *path)
{
    struct shown s = {.links = links_new(d->analysis)};
    struct error e;
    bool done = false;
    while (!done)
        assert_true(links_settle(s.links, 0, &done, &e));
    s.view = source_view(d->analysis, s.links, d->walk, path);
    return s;
}

static void hide(struct shown *s)
{
    s->view->ops->close(s->view);
    links_free(s->links);
}

static void lines_have_the_marks_of_their_ops(void **state)
{
    struct debug *d = *state;
    keep_source(d, "/src/db.c");
    struct shown s = show(d, "/src/db.c");
    assert_int_equal(s.view->ops->count(s.view), 140);
    assert_string_equal(view_row(s.view, 131), "|131|*|line 131");
    assert_string_equal(view_row(s.view, 20), "|20||line 20");
    walk_lose(d->walk, debug_op(d, 4) + 1); /* the data of tmp: made durable before the rename */
    assert_string_equal(view_row(s.view, 60), "|60|*~|line 60");
    assert_string_equal(view_row(s.view, 131), "|131|.|line 131");
    assert_string_equal(view_row(s.view, 61), "|61||line 61");
    walk_begin_run(d->walk);
    walk_lose(d->walk, debug_op(d, 1));
    assert_string_equal(view_row(s.view, 21), "|21|~|line 21");
    source_view_current(s.view, 60);
    assert_string_equal(view_row(s.view, 60), ">|60|~|line 60");
    hide(&s);
}

/* A line in a loop has ops of all kinds: by counting each. */
static void marks_are_those_of_all_ops_on_the_line(void **state)
{
    struct debug *d = *state;
    unsigned seed = 3;
    keep_source(d, "/src/log.c");
    struct shown s = show(d, "/src/log.c");
    for (int i = 0; i < 200; i++) {
        static const char *const signs[] = {"*", "o", "~", "."};
        bool has[4] = {false};
        size_t n;
        const uint32_t *ops = links_line(s.links, "/src/log.c", 103, &n);
        walk_toggle(d->walk, (uint32_t)rand_r(&seed) % (uint32_t)d->analysis->graph->n);
        assert_true(n > 1);
        for (size_t k = 0; k < n; k++)
            has[walk_mark(d->walk, ops[k])] = true;
        char wanted[32] = "|103|";
        for (int mark = 0; mark < 3; mark++)
            strcat(wanted, has[mark] ? signs[mark] : "");
        if (!has[0] && !has[1] && !has[2])
            strcat(wanted, signs[3]);
        strcat(wanted, "|line 103");
        assert_string_equal(view_row(s.view, 103), wanted);
    }
    hide(&s);
}

static void details_are_the_ops_of_the_line(void **state)
{
    struct debug *d = *state;
    keep_source(d, "/src/log.c");
    struct shown s = show(d, "/src/log.c");
    assert_string_equal(view_detail(s.view, 103, 0), "* 2 write MANIFEST 0+4096 alloc");
    assert_string_equal(view_detail(s.view, 103, 3), "* 8 write MANIFEST 13+14 data");
    assert_string_equal(view_detail(s.view, 103, 4), "");
    assert_string_equal(view_detail(s.view, 102, 0), "");
    hide(&s);
}

static void lines_are_found_by_file_and_number(void **state)
{
    struct debug *d = *state;
    keep_source(d, "/src/db.c");
    struct shown s = show(d, "/src/db.c");
    struct subject line = {SUBJECT_LINE, 131, "/src/db.c"};
    assert_int_equal(s.view->ops->find(s.view, &line), 131);
    assert_int_equal(view_subject(s.view, 131).number, 131);
    assert_string_equal(view_subject(s.view, 131).path, "/src/db.c");
    line.path = "/src/log.c";
    assert_int_equal(s.view->ops->find(s.view, &line), 0);
    line = (struct subject){SUBJECT_LINE, 141, "/src/db.c"};
    assert_int_equal(s.view->ops->find(s.view, &line), 0);
    hide(&s);
}

static void text_is_shown_safely_and_the_title_says_what_became_of_the_file(void **state)
{
    struct debug *d = *state;
    struct cell c = {0};
    keep_source(d, "/src/db.c");
    struct shown s = show(d, "/src/db.c");
    assert_non_null(strstr(view_row(s.view, 54), "\"\\x1b[2J\\xff\";"));
    assert_null(strstr(view_row(s.view, 54), "\\r"));
    source_view_title(s.view, &c);
    assert_int_equal(strncmp(buf_string(&c.text), "db.c  ", 6), 0); /* no such file here */
    cell_free(&c);
    hide(&s);
    s = show(d, "/nowhere/\x1b[31m.c");
    assert_int_equal(s.view->ops->count(s.view), 1);
    assert_int_equal(view_subject(s.view, 1).kind, SUBJECT_NONE);
    view_row(s.view, 1);
    source_view_title(s.view, &c);
    assert_null(strchr(buf_string(&c.text), '\x1b'));
    cell_free(&c);
    hide(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        debug_case(lines_have_the_marks_of_their_ops),
        debug_case(marks_are_those_of_all_ops_on_the_line),
        debug_case(details_are_the_ops_of_the_line),
        debug_case(lines_are_found_by_file_and_number),
        debug_case(text_is_shown_safely_and_the_title_says_what_became_of_the_file),
    };
    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
