/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replay of single events whose meaning is not obvious, of sessions that say impossible things,
 * and the refusals of laying out. (replay_random_test covers the ordinary.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "engine/layout.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/session.h"
#include "tests/unit/folders.h"

struct fixture {
    char *top, *path, *out;
    struct recording *r;
    struct session *s;
    struct tree *t;
    struct replay_counts counts;
    uint64_t position;
};

/* An empty data directory, about to be recorded. */
static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    struct error e;
    f->top = folder_new();
    f->path = xasprintf("%s/s.flotsam", f->top);
    f->out = xasprintf("%s/out", f->top);
    f->position = 1;
    *state = f;
    if (!recording_create(&f->r, f->path, &e))
        return -1;
    recording_file(f->r, FILE_DIRECTORY, ".");
    recording_image_file(f->r, FILE_ROOT, FILE_DIRECTORY, 0755, 0, NULL);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->r)
        recording_abandon(f->r, true);
    tree_free(f->t);
    session_close(f->s);
    folder_remove(f->top);
    free(f->path);
    free(f->out);
    free(f);
    return 0;
}

static uint32_t str(struct fixture *f, const char *text)
{
    return recording_string(f->r, text, strlen(text));
}

static uint32_t file(struct fixture *f, enum file_kind kind)
{
    return recording_file(f->r, kind, "somewhere");
}

static void happen(struct fixture *f, struct event v)
{
    v.entry = f->position++;
    v.exit = f->position++;
    recording_end(f->r, recording_begin(f->r, &v), &v);
}

/* A regular file in the root, of `size` bytes 'x'. */
static uint32_t create(struct fixture *f, const char *name, size_t size)
{
    uint32_t number = file(f, FILE_REGULAR);
    char *bytes = xmalloc(size + 1);
    memset(bytes, 'x', size);
    happen(f, (struct event){.call = CALL_OPEN,
                             .traits = EVENT_CREATED,
                             .mode = 0644,
                             .file = number,
                             .dir = FILE_ROOT,
                             .name = str(f, name)});
    happen(f, (struct event){.call = CALL_WRITE,
                             .file = number,
                             .size = size,
                             .payload = recording_payload(f->r, bytes, size)});
    free(bytes);
    return number;
}

static bool replay(struct fixture *f, struct error *e)
{
    struct recording *r = f->r;
    f->r = NULL;
    if (!recording_finish(r, e) || !session_open(&f->s, f->path, e))
        fail_msg("%s", e->text);
    return replay_end(f->s, &f->t, &f->counts, e);
}

static void replay_well(struct fixture *f)
{
    struct error e;
    if (!replay(f, &e))
        fail_msg("%s", e.text);
}

static void replay_fails(struct fixture *f, const char *because)
{
    struct error e = {{0}};
    assert_false(replay(f, &e));
    if (!strstr(e.text, because))
        fail_msg("\"%s\" does not say \"%s\"", e.text, because);
}

/* A store to the last page reaches behind the end of the file, but does not move it. */
static void stores_do_not_extend(void **state)
{
    struct fixture *f = *state;
    uint32_t x = create(f, "x", 100);
    happen(f, (struct event){.call = CALL_STORE,
                             .file = x,
                             .offset = 96,
                             .size = 8,
                             .payload = recording_payload(f->r, "12345678", 8)});
    happen(f, (struct event){.call = CALL_STORE,
                             .file = x,
                             .offset = 200,
                             .size = 8,
                             .payload = recording_payload(f->r, "12345678", 8)});
    replay_well(f);
    assert_int_equal(tree_file(f->t, x)->size, 100);
    struct extent piece;
    assert_true(extents_find(&tree_file(f->t, x)->extents, 96, &piece));
    assert_int_equal(piece.offset, 96);
    assert_int_equal(piece.size, 4);
}

static void what_is_written_to_a_fifo_is_not_kept(void **state)
{
    struct fixture *f = *state;
    uint32_t fifo = file(f, FILE_FIFO);
    happen(f, (struct event){.call = CALL_MKNOD,
                             .mode = S_IFIFO | 0600,
                             .file = fifo,
                             .dir = FILE_ROOT,
                             .name = str(f, "fifo")});
    happen(f, (struct event){.call = CALL_WRITE,
                             .file = fifo,
                             .size = 1,
                             .payload = recording_payload(f->r, "x", 1)});
    replay_well(f);
    assert_int_equal(tree_file(f->t, fifo)->kind, FILE_FIFO);
}

/* inside and outside change places: one goes out with its name, the other comes in. */
static void exchange_with_the_outside(void **state)
{
    struct fixture *f = *state;
    uint32_t inside = create(f, "n", 5), second = create(f, "m", 5);
    uint32_t first_in = file(f, FILE_REGULAR), second_in = file(f, FILE_SYMLINK);
    happen(f, (struct event){.call = CALL_RENAME,
                             .traits = EVENT_MOVED_OUT,
                             .flags = RENAME_EXCHANGE,
                             .file = inside,
                             .dir = FILE_ROOT,
                             .name = str(f, "n")});
    happen(f, (struct event){.call = CALL_RENAME,
                             .traits = EVENT_MOVED_IN,
                             .file = first_in,
                             .other_dir = FILE_ROOT,
                             .other_name = str(f, "n"),
                             .mode = 0600,
                             .size = 3,
                             .payload = recording_payload(f->r, "abc", 3)});
    happen(f, (struct event){.call = CALL_RENAME,
                             .traits = EVENT_MOVED_IN,
                             .flags = RENAME_EXCHANGE,
                             .file = second_in,
                             .other = second,
                             .other_dir = FILE_ROOT,
                             .other_name = str(f, "m"),
                             .size = 4,
                             .payload = recording_payload(f->r, "/etc", 4)});
    replay_well(f);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "n"), first_in);
    assert_int_equal(tree_file(f->t, first_in)->size, 3);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "m"), second_in);
    assert_string_equal(tree_file(f->t, second_in)->target, "/etc");
    assert_int_equal(tree_file(f->t, inside)->links, 0);
    assert_int_equal(tree_file(f->t, second)->links, 0);
}

/* The whiteout takes the old name by an event of its own. */
static void rename_with_a_whiteout(void **state)
{
    struct fixture *f = *state;
    uint32_t moved = create(f, "n", 5), whiteout = file(f, FILE_OTHER);
    happen(f, (struct event){.call = CALL_RENAME,
                             .flags = RENAME_WHITEOUT,
                             .file = moved,
                             .dir = FILE_ROOT,
                             .name = str(f, "n"),
                             .other_dir = FILE_ROOT,
                             .other_name = str(f, "m")});
    happen(f, (struct event){.call = CALL_RENAME,
                             .traits = EVENT_MOVED_IN,
                             .file = whiteout,
                             .other_dir = FILE_ROOT,
                             .other_name = str(f, "n")});
    replay_well(f);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "m"), moved);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "n"), whiteout);
}

/* A name from outside of a file that has one inside already: nothing new comes in. */
static void a_second_name_comes_in(void **state)
{
    struct fixture *f = *state;
    uint32_t known = create(f, "n", 5);
    happen(f, (struct event){.call = CALL_RENAME,
                             .file = known,
                             .other_dir = FILE_ROOT,
                             .other_name = str(f, "m")});
    replay_well(f);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "m"), known);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "n"), known);
    assert_int_equal(tree_file(f->t, known)->size, 5);
}

static void exchange_with_something_unknown_only_takes_away(void **state)
{
    struct fixture *f = *state;
    happen(f, (struct event){.call = CALL_RENAME,
                             .traits = EVENT_MOVED_OUT,
                             .flags = RENAME_EXCHANGE,
                             .file = create(f, "n", 5),
                             .dir = FILE_ROOT,
                             .name = str(f, "n")});
    replay_well(f);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "n"), 0);
}

/* rename(x, y) began before x was created and returned after: it must have waited. */
static void overlapping_calls_take_the_order_that_is_possible(void **state)
{
    struct fixture *f = *state;
    uint32_t x = file(f, FILE_REGULAR);
    struct event rename = {.call = CALL_RENAME,
                           .traits = EVENT_OVERLAPPED,
                           .file = x,
                           .dir = FILE_ROOT,
                           .name = str(f, "x"),
                           .other_dir = FILE_ROOT,
                           .other_name = str(f, "y"),
                           .entry = 1,
                           .exit = 4};
    struct event open = {.call = CALL_OPEN,
                         .traits = EVENT_OVERLAPPED | EVENT_CREATED,
                         .file = x,
                         .dir = FILE_ROOT,
                         .name = str(f, "x"),
                         .entry = 2,
                         .exit = 3};
    uint64_t first = recording_begin(f->r, &rename), second = recording_begin(f->r, &open);
    recording_end(f->r, second, &open);
    recording_end(f->r, first, &rename);
    f->position = 5;
    create(f, "z", 1);
    replay_well(f);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "y"), x);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "x"), 0);
    assert_int_equal(f->counts.reordered, 1);
}

static void calls_that_only_look_overlapping_are_no_excuse(void **state)
{
    struct fixture *f = *state;
    uint32_t x = file(f, FILE_REGULAR);
    happen(f, (struct event){.call = CALL_UNLINK,
                             .traits = EVENT_OVERLAPPED,
                             .file = x,
                             .dir = FILE_ROOT,
                             .name = str(f, "x")});
    create(f, "y", 1);
    happen(f, (struct event){.call = CALL_OPEN,
                             .traits = EVENT_CREATED,
                             .file = x,
                             .dir = FILE_ROOT,
                             .name = str(f, "x")});
    replay_fails(f, "event 1 (unlink)");
}

static void what_could_not_be_replayed_is_counted(void **state)
{
    struct fixture *f = *state;
    uint32_t x = create(f, "x", 10);
    struct event unlink = {.call = CALL_UNLINK,
                           .traits = EVENT_UNFINISHED,
                           .file = x,
                           .dir = FILE_ROOT,
                           .name = str(f, "x"),
                           .exit = UINT64_MAX};
    unlink.entry = f->position++;
    recording_begin(f->r, &unlink);
    happen(f, (struct event){.call = CALL_MMAP, .traits = EVENT_WRITABLE, .file = x, .size = 10});
    happen(f, (struct event){.call = CALL_FSYNC, .file = x});
    replay_well(f);
    assert_int_equal(tree_lookup(f->t, FILE_ROOT, "x"), x);
    assert_int_equal(f->counts.events, 5);
    assert_int_equal(f->counts.applied, 2);
    assert_int_equal(f->counts.unfinished, 1);
    assert_int_equal(f->counts.mappings, 1);
}

/* a -> /etc, and then a file "in" a. */
static void a_symbolic_link_is_no_directory(void **state)
{
    struct fixture *f = *state;
    uint32_t a = file(f, FILE_SYMLINK);
    happen(f, (struct event){.call = CALL_SYMLINK,
                             .file = a,
                             .dir = FILE_ROOT,
                             .name = str(f, "a"),
                             .size = 4,
                             .payload = recording_payload(f->r, "/etc", 4)});
    happen(f, (struct event){.call = CALL_OPEN,
                             .traits = EVENT_CREATED,
                             .mode = 0644,
                             .file = file(f, FILE_REGULAR),
                             .dir = a,
                             .name = str(f, "passwd")});
    replay_fails(f, "a directory");
}

static void names_that_lead_out_are_refused(void **state)
{
    struct fixture *f = *state;
    happen(f, (struct event){.call = CALL_OPEN,
                             .traits = EVENT_CREATED,
                             .mode = 0644,
                             .file = file(f, FILE_REGULAR),
                             .dir = FILE_ROOT,
                             .name = str(f, "../escaped")});
    replay_fails(f, "name");
}

static void an_image_with_a_bad_name_is_refused(void **state)
{
    struct fixture *f = *state;
    uint32_t x = file(f, FILE_REGULAR);
    recording_image_file(f->r, x, FILE_REGULAR, 0644, 0, NULL);
    recording_image_name(f->r, FILE_ROOT, "../escaped", x);
    replay_fails(f, "name");
}

static void impossible_events_are_named(void **state)
{
    struct fixture *f = *state;
    create(f, "x", 1);
    happen(f, (struct event){.call = CALL_UNLINK,
                             .file = file(f, FILE_REGULAR),
                             .dir = FILE_ROOT,
                             .name = str(f, "missing")});
    replay_fails(f, "event 3 (unlink) cannot be replayed: directory 1 has no entry \"missing\"");
}

static void a_folder_that_is_not_empty_is_left_alone(void **state)
{
    struct fixture *f = *state;
    struct error e = {{0}};
    create(f, "x", 1);
    replay_well(f);
    assert_false(tree_lay_out(f->t, f->s, f->top, NULL, &e));
    assert_non_null(strstr(e.text, "is not empty: give a new folder; nothing was changed"));
    assert_int_equal(folder_count(f->top), 3); /* ".", ".." and the session */
    assert_false(tree_lay_out(f->t, f->s, f->path, NULL, &e));
    assert_non_null(strstr(e.text, f->path));
    assert_int_equal(mkdir(f->out, 0700), 0);
    assert_true(tree_lay_out(f->t, f->s, f->out, NULL, &e));
}

/* A limit on the size of files stands for a full disk. */
static void a_failure_in_the_middle_says_what_is_left(void **state)
{
    struct fixture *f = *state;
    struct error e = {{0}};
    create(f, "small", 10);
    create(f, "too large", 100000);
    replay_well(f);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool ok = tree_lay_out(f->t, f->s, f->out, NULL, &e);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(ok);
    assert_non_null(strstr(e.text, "too large: File too large"));
    assert_non_null(strstr(e.text, "remove it"));
}

/* Many small appends become few writes, and come back right. */
static void a_long_log_is_quick(void **state)
{
    enum { APPENDS = 200000, SIZE = 20 };
    struct fixture *f = *state;
    uint32_t log = create(f, "log", 0);
    char line[SIZE + 1];
    for (unsigned i = 0; i < APPENDS; i++) {
        snprintf(line, sizeof line, "%019u\n", i);
        happen(f, (struct event){.call = CALL_WRITE,
                                 .file = log,
                                 .offset = (uint64_t)i * SIZE,
                                 .size = SIZE,
                                 .payload = recording_payload(f->r, line, SIZE)});
    }
    replay_well(f);
    struct error e;
    assert_true(tree_lay_out(f->t, f->s, f->out, NULL, &e));
    char *path = xasprintf("%s/log", f->out);
    FILE *in = fopen(path, "r");
    for (unsigned i = 0; i < APPENDS; i++) {
        char expected[SIZE + 1], got[SIZE + 2];
        snprintf(expected, sizeof expected, "%019u\n", i);
        assert_non_null(fgets(got, sizeof got, in));
        assert_string_equal(got, expected);
    }
    assert_int_equal(fgetc(in), EOF);
    fclose(in);
    free(path);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        test(stores_do_not_extend),
        test(what_is_written_to_a_fifo_is_not_kept),
        test(exchange_with_the_outside),
        test(rename_with_a_whiteout),
        test(a_second_name_comes_in),
        test(exchange_with_something_unknown_only_takes_away),
        test(overlapping_calls_take_the_order_that_is_possible),
        test(calls_that_only_look_overlapping_are_no_excuse),
        test(what_could_not_be_replayed_is_counted),
        test(a_symbolic_link_is_no_directory),
        test(names_that_lead_out_are_refused),
        test(an_image_with_a_bad_name_is_refused),
        test(impossible_events_are_named),
        test(a_folder_that_is_not_empty_is_left_alone),
        test(a_failure_in_the_middle_says_what_is_left),
        test(a_long_log_is_quick),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
