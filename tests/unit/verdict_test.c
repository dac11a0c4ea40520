/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session's table of verdicts: what belongs to a key, what outlives a check, and what a session
 * from a stranger may hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "engine/verdict.h"
#include "tests/unit/run_sample.h"

static struct verdicts *open_table(struct run *f)
{
    struct verdicts *v;
    struct error e;
    if (!f->s)
        run_end(f);
    if (!verdicts_open(&v, f->s, &e))
        fail_msg("%s", e.text);
    return v;
}

static void close_table(struct verdicts *v)
{
    struct error e;
    if (!verdicts_close(v, &e))
        fail_msg("%s", e.text);
}

static void add(struct verdicts *v, struct verdict_key key, struct verdict verdict)
{
    struct error e;
    if (!verdicts_add(v, &key, &verdict, &e))
        fail_msg("%s", e.text);
}

static struct verdict_key key_of(uint64_t image, uint64_t told, const char *checker)
{
    return verdict_key((struct state_hash){.low = image, .high = 7}, told, checker);
}

/* Image, what was told, checker: a change of any is another key. */
static void a_key_has_three_parts(void **state)
{
    struct verdicts *v = open_table(*state);
    struct verdict found;
    struct verdict_key key = key_of(1, 2, "./check"),
                       others[] = {key_of(3, 2, "./check"), key_of(1, 3, "./check"),
                                   key_of(1, 0, "./check"), key_of(1, 2, "./check ")};
    add(v, key, (struct verdict){.kind = VERDICT_CONSISTENT});
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(verdicts_find(v, &others[i], &found));
    assert_true(verdicts_find(v, &key, &found));
    assert_false(verdict_is_bad(&found));
    assert_string_equal(found.output, "");
    verdict_clear(&found);
    close_table(v);
}

static void everything_is_kept(void **state)
{
    struct run *f = *state;
    char output[] = "two\nlines \x1b";
    struct verdict_key key = key_of(1, 2, "c");
    struct verdicts *v = open_table(f);
    add(v, key, (struct verdict){.kind = VERDICT_CRASHED, .signal = 11});
    add(v, key,
        (struct verdict){
            .kind = VERDICT_HUNG, .exit = 3, .signal = 9, .seconds = 1.5, .output = output});
    close_table(v);
    session_close(f->s);
    struct error e;
    if (!session_open(&f->s, f->path, &e))
        fail_msg("%s", e.text);
    v = open_table(f);
    struct verdict found;
    assert_true(verdicts_find(v, &key, &found));
    assert_true(verdict_is_bad(&found));
    assert_int_equal(found.kind, VERDICT_HUNG);
    assert_int_equal(found.exit, 3);
    assert_int_equal(found.signal, 9);
    assert_true(found.seconds > 1.4 && found.seconds < 1.6);
    assert_string_equal(found.output, output);
    verdict_clear(&found);
    close_table(v);
}

/* A key of another size is no key. */
static void keys_are_looked_for_among_those_of_the_session(void **state)
{
    struct run *f = *state;
    struct verdicts *v = open_table(f);
    struct verdict_key here = key_of(1, 2, "c"), later = key_of(3, 2, "c");
    struct verdict found;
    add(v, here, (struct verdict){.kind = VERDICT_CONSISTENT});
    close_table(v);
    assert_int_equal(sqlite3_exec(session_db(f->s),
                                  "INSERT INTO verdicts VALUES (x'00', 1, 0, 0, 0, ''), "
                                  "(zeroblob(64), 1, 0, 0, 0, ''), ('x', 1, 0, 0, 0, '')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    v = open_table(f);
    assert_false(verdicts_find(v, &later, &found));
    add(v, later, (struct verdict){.kind = VERDICT_HUNG});
    assert_true(verdicts_flush(v, NULL));
    assert_true(verdicts_find(v, &later, &found));
    assert_int_equal(found.kind, VERDICT_HUNG);
    verdict_clear(&found);
    assert_true(verdicts_find(v, &here, &found));
    assert_int_equal(found.kind, VERDICT_CONSISTENT);
    verdict_clear(&found);
    close_table(v);
}

/* A kind that is none is no verdict: its state is checked again. */
static void unknown_kinds_are_no_verdicts(void **state)
{
    struct run *f = *state;
    struct verdicts *v = open_table(f);
    struct verdict_key key = key_of(1, 2, "c");
    struct verdict found;
    add(v, key, (struct verdict){.kind = VERDICT_CONSISTENT});
    assert_true(verdicts_flush(v, NULL));
    const char *const kinds[] = {"0", "-1", "5", "'x'", "4294967297"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *sql = xasprintf("UPDATE verdicts SET kind = %s, output = zeroblob(3)", kinds[i]);
        assert_int_equal(sqlite3_exec(session_db(f->s), sql, NULL, NULL, NULL), SQLITE_OK);
        free(sql);
        assert_false(verdicts_find(v, &key, &found));
    }
    close_table(v);
}

/* Whoever has the session open besides can write to it while verdicts wait to be written. */
static void nobody_waits_for_verdicts_that_wait(void **state)
{
    struct run *f = *state;
    struct verdicts *v = open_table(f);
    struct session *other;
    struct verdict found;
    struct verdict_key key = key_of(1, 2, "c");
    assert_true(session_open(&other, f->path, NULL));
    sqlite3_busy_timeout(session_db(other), 0);
    add(v, key, (struct verdict){.kind = VERDICT_INCONSISTENT});
    assert_true(verdicts_find(v, &key, &found));
    verdict_clear(&found);
    assert_true(session_set_meta(other, "note", "1", NULL));
    assert_true(verdicts_flush(v, NULL));
    assert_true(session_set_meta(other, "note", "2", NULL));
    session_close(other);
    close_table(v);
}

static void another_table_of_that_name_is_an_error(void **state)
{
    struct run *f = *state;
    struct verdicts *v;
    struct error e;
    run_end(f);
    assert_int_equal(sqlite3_exec(session_db(f->s), "CREATE TABLE verdicts (x)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_false(verdicts_open(&v, f->s, &e));
    assert_non_null(strstr(e.text, "verdicts cannot be kept"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(a_key_has_three_parts),
        run_case(everything_is_kept),
        run_case(keys_are_looked_for_among_those_of_the_session),
        run_case(unknown_kinds_are_no_verdicts),
        run_case(nobody_waits_for_verdicts_that_wait),
        run_case(another_table_of_that_name_is_an_error),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
