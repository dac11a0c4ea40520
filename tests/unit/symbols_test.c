/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/compile.h"

#include <sqlite3.h>

#include "engine/buf.h"
#include "engine/recording.h"
#include "engine/source.h"
#include "engine/symbols.h"

/* A folder with the nested program in it and a session that has one stack: libc's write, called
 * from the program's probe, called from code that belongs to no file. */
struct fixture {
    char *folder, *program, *session;
    uint64_t probe;
    uint32_t stack, system_stack;
};

static void record(struct fixture *f, const char *id)
{
    struct recording *r;
    struct error e;

    if (!recording_create(&r, f->session, &e))
        fail_msg("%s", e.text);
    recording_meta(r, "cwd", f->folder);
    uint32_t program = recording_module(r, f->program, id);
    uint32_t gone = recording_module(r, "/nowhere/libc.so.6", "00ff");
    const struct frame frames[] = {
        {gone, FRAME_EXACT, 0x1000},
        {program, 0, f->probe + 1}, /* returns to the byte after the probe's instruction */
        {0, 0, 0x7fff0001},
    };
    f->stack = recording_stack(r, frames, 3);
    f->system_stack = recording_stack(r, frames, 1);
    if (!recording_finish(r, &e))
        fail_msg("%s", e.text);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    char id[128];

    f->folder = folder_make();
    f->program = path_in(f->folder, "prog");
    f->session = path_in(f->folder, "s.flotsam");
    file_write(f->folder, "prog.c", NESTED_PROGRAM);
    shell(f->folder, "cc -g -O2 -o prog prog.c");
    f->probe = symbol_address(f->folder, "prog", "probe");
    build_id(f->folder, "prog", id, sizeof id);
    record(f, id);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    folder_remove(f->folder);
    free(f->program);
    free(f->session);
    free(f);
    return 0;
}

static struct session *open_session(const struct fixture *f)
{
    struct session *s;
    struct error e;

    if (!session_open(&s, f->session, &e))
        fail_msg("%s", e.text);
    return s;
}

/* All locations of a stack, a line each. */
static char *describe(struct session *s, struct symbols *sy, uint32_t stack)
{
    const struct frame *frames;
    struct buf out = {0};
    size_t n = session_stack(s, stack, &frames);

    for (size_t i = 0; i < n; i++) {
        const struct location *at;
        size_t m = symbols_frame(sy, &frames[i], &at);
        for (size_t k = 0; k < m; k++) {
            const char *slash = strrchr(at[k].file, '/');
            buf_printf(&out, "%s %s:%u%s%s%s\n", at[k].function, slash ? slash + 1 : at[k].file,
                       at[k].line, at[k].flags & LOCATION_INLINED ? " inlined" : "",
                       at[k].flags & LOCATION_SYSTEM ? " system" : "",
                       at[k].flags & LOCATION_UNKNOWN ? " unknown" : "");
        }
    }
    return out.at;
}

static void expect_stack(const struct fixture *f, const char *expected)
{
    struct session *s = open_session(f);
    struct symbols *sy = symbols_open(s);
    char *got = describe(s, sy, f->stack);

    assert_string_equal(got, expected);
    free(got);
    symbols_close(sy);
    session_close(s);
}

#define RESOLVED                                                                                   \
    "libc.so.6+0x1000 :0 system unknown\n"                                                         \
    "leaf prog.c:3 inlined\n"                                                                      \
    "middle prog.c:7 inlined\n"                                                                    \
    "outer prog.c:11\n"                                                                            \
    "0x7fff0000 :0 system unknown\n"

static void every_frame_has_an_answer(void **state)
{
    expect_stack(*state, RESOLVED);
}

static void a_stack_goes_by_its_innermost_frame_with_source(void **state)
{
    struct fixture *f = *state;
    struct session *s = open_session(f);
    struct symbols *sy = symbols_open(s);
    const struct location *l = symbols_stack(sy, f->stack);

    assert_non_null(l);
    assert_string_equal(l->function, "leaf");
    assert_int_equal(l->line, 3);
    assert_true(location_has_source(l));
    assert_false(symbols_sourceless(sy));
    assert_ptr_equal(l, symbols_stack(sy, f->stack));

    l = symbols_stack(sy, f->system_stack);
    assert_non_null(l);
    assert_string_equal(l->function, "libc.so.6+0x1000");
    assert_false(location_has_source(l));

    assert_null(symbols_stack(sy, 0));
    assert_null(symbols_stack(sy, 12345));
    symbols_close(sy);
    session_close(s);
}

static void count_problem(void *data, const char *path, const char *why)
{
    buf_printf(data, "%s: %s\n", path, why);
}

static void what_cannot_be_used_is_told_once(void **state)
{
    struct fixture *f = *state;
    struct session *s = open_session(f);
    struct symbols *sy = symbols_open(s);
    struct buf told = {0};

    shell(f->folder, "cc -g -O0 -o prog prog.c"); /* another program by the same name */
    for (int i = 0; i < 3; i++)
        symbols_stack(sy, f->stack);
    symbols_problems(sy, count_problem, &told);
    char *expected = xasprintf("/nowhere/libc.so.6: no longer there\n"
                               "%s: changed since the recording\n",
                               f->program);
    assert_string_equal(buf_string(&told), expected);
    free(expected);
    buf_free(&told);

    const struct location *l = symbols_stack(sy, f->stack);
    assert_false(location_has_source(l));
    assert_int_equal(strncmp(l->function, "prog+0x", strlen("prog+0x")), 0); /* not libc's */
    assert_false(symbols_sourceless(sy)); /* another program is the reason, not a missing -g */
    symbols_close(sy);
    session_close(s);
}

static void a_program_without_debug_info_is_noticed(void **state)
{
    struct fixture *f = *state;
    char id[128];

    shell(f->folder, "cc -O2 -o prog prog.c");
    build_id(f->folder, "prog", id, sizeof id);
    struct recording *r;
    struct error e;
    assert_true(recording_create(&r, f->session, &e));
    uint32_t program = recording_module(r, f->program, id);
    f->stack = recording_stack(r, &(struct frame){program, 0, f->probe}, 1);
    assert_true(recording_finish(r, &e));

    struct session *s = open_session(f);
    struct symbols *sy = symbols_open(s);
    assert_false(symbols_sourceless(sy)); /* nothing was asked yet */
    symbols_stack(sy, f->stack);
    assert_true(symbols_sourceless(sy));
    symbols_close(sy);
    session_close(s);
}

static void a_captured_session_explains_itself_elsewhere(void **state)
{
    struct fixture *f = *state;
    struct error e;

    if (!symbols_capture(f->session, &e))
        fail_msg("%s", e.text);
    shell(f->folder, "rm prog prog.c");
    expect_stack(f, RESOLVED);

    struct session *s = open_session(f);
    struct symbols *sy = symbols_open(s);
    const struct location *l = symbols_stack(sy, f->stack);
    struct source *src = source_open(s, l->file);
    size_t n;
    const char *line = source_line(src, l->line, &n);
    assert_non_null(line);
    assert_non_null(memmem(line, n, "probe: nop", strlen("probe: nop")));
    assert_int_equal(source_state(src), SOURCE_GONE);
    source_close(src);
    symbols_close(sy);
    session_close(s);
}

static void looking_is_remembered(void **state)
{
    struct fixture *f = *state;

    expect_stack(f, RESOLVED);
    shell(f->folder, "rm prog");
    expect_stack(f, RESOLVED);
}

static void a_session_that_cannot_be_written_is_read_all_the_same(void **state)
{
    struct fixture *f = *state;

    shell(f->folder, "chmod 444 s.flotsam && cp s.flotsam before");
    expect_stack(f, RESOLVED);
    if (geteuid() != 0) /* root writes what it likes */
        shell(f->folder, "cmp s.flotsam before");
}

/* What a stranger may have put into the table. */
static void damaged_tables_do_no_harm(void **state)
{
    static const char *const damages[] = {
        "INSERT INTO symbols SELECT 2, address, 0, x'ff00', 17, -5 FROM symbols",
        "UPDATE symbols SET line = 9223372036854775807",
        "UPDATE symbols SET line = 'x', file = x'80ff', function = ''",
        "DROP TABLE symbols; CREATE TABLE symbols (module)",
        "DROP TABLE symbols",
        "DROP TABLE sources",
    };
    struct fixture *f = *state;
    struct error e;

    assert_true(symbols_capture(f->session, &e));
    shell(f->folder, "cp s.flotsam good");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        shell(f->folder, "cp good s.flotsam");
        sqlite3 *db;
        assert_int_equal(sqlite3_open(f->session, &db), SQLITE_OK);
        sqlite3_exec(db, damages[i], NULL, NULL, NULL);
        sqlite3_close(db);
        struct session *s;
        if (!session_open(&s, f->session, &e))
            continue; /* refusing is fine, too */
        struct symbols *sy = symbols_open(s);
        free(describe(s, sy, f->stack));
        const struct location *l = symbols_stack(sy, f->stack);
        assert_non_null(l);
        assert_true(l->line <= INT32_MAX);
        source_close(source_open(s, l->file));
        symbols_close(sy);
        session_close(s);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_frame_has_an_answer),
        TEST(a_stack_goes_by_its_innermost_frame_with_source),
        TEST(what_cannot_be_used_is_told_once),
        TEST(a_program_without_debug_info_is_noticed),
        TEST(a_captured_session_explains_itself_elsewhere),
        TEST(looking_is_remembered),
        TEST(a_session_that_cannot_be_written_is_read_all_the_same),
        TEST(damaged_tables_do_no_harm),
    };

    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
