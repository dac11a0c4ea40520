/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session comes from anybody: what is wrong with it is said, and nothing it holds can do harm.
 */
#include "tests/unit/session_sample.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/buf.h"
#include "engine/session_schema.h"

/* ---- Helpers ---- */

static bool any_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                     const char *target)
{
    (void)mode;
    (void)size;
    *(size_t *)data += file + kind + (target ? strlen(target) : 0);
    return true;
}

static bool any_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    *(size_t *)data += dir + file + strlen(name);
    return true;
}

static bool any_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    *(size_t *)data += file + offset + size + payload;
    return true;
}

static void any_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    *(size_t *)data += strlen(kind) + strlen(what) + count;
}

static bool read_event(struct session *s, uint64_t number, struct error *e)
{
    struct event event;
    if (!session_event(s, number, &event, e))
        return false;
    char bytes[256];
    const struct frame *frames;
    struct module_info module;
    struct file_info file;
    struct thread_info thread;
    size_t n = session_stack(s, event.stack, &frames);
    for (size_t i = 0; i < n; i++)
        session_module(s, frames[i].module, &module);
    session_file(s, event.file, &file);
    session_thread(s, event.thread, &thread);
    assert_true(strlen(session_string(s, event.path)) < 1 << 20);
    size_t size = event.size < sizeof bytes ? event.size : sizeof bytes;
    return event.call == CALL_LSEEK || session_payload(s, event.payload, 0, bytes, size, e);
}

/* Reads all that the interface offers. True when nothing was wrong. */
static bool read_everything(const char *path, struct error *e)
{
    struct session *s;
    size_t sum = 0;
    if (!session_open(&s, path, e))
        return false;
    const struct image_visitor visitor = {any_file, any_name, any_extent};
    bool ok = session_image(s, &visitor, &sum, e);
    ok = session_notices(s, any_notice, &sum, e) && ok;
    for (uint64_t i = 1; i <= session_event_count(s) && ok; i++)
        ok = read_event(s, i, e);
    session_meta(s, "program");
    session_close(s);
    return ok;
}

static void make_sample(const char *path, uint64_t events)
{
    struct recording *r = sample_create(path);
    sample_begin(r);
    recording_image_file(r, 1, FILE_DIRECTORY, 0755, 0, NULL);
    recording_image_file(r, 2, FILE_REGULAR, 0644, 4, NULL);
    recording_image_name(r, 1, "log", 2);
    recording_image_extent(r, 2, 0, 4, recording_payload(r, "data", 4));
    recording_notice(r, "mapping", "log");
    for (uint64_t i = 1; i <= events; i++)
        sample_record(r, i);
    sample_finish(r);
}

static void expect_message(const char *text, const char *path, const char *why)
{
    if (!strstr(text, path) || !strstr(text, why))
        fail_msg("\"%s\" does not name %s and \"%s\"", text, path, why);
}

static void expect_no_open(const char *path, const char *why)
{
    struct session *s;
    struct error e;
    assert_false(session_open(&s, path, &e));
    expect_message(e.text, path, why);
}

static void expect_damage(const char *path, const char *why)
{
    struct error e = {""};
    assert_false(read_everything(path, &e));
    expect_message(e.text, path, why);
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static struct buf read_file(const char *path)
{
    struct buf b = {0};
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &st), 0);
    char *room = buf_room(&b, (size_t)st.st_size);
    assert_int_equal(read(fd, room, (size_t)st.st_size), st.st_size);
    close(fd);
    return b;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* ---- What is not a session ---- */

static void what_is_no_session_is_said(void **state)
{
    struct place *p = *state;
    expect_no_open(p->path, "No such file");
    expect_no_open(p->folder, "is a directory");
    write_file(p->path, "", 0);
    expect_no_open(p->path, "is empty");
    write_file(p->path, "short", 5);
    expect_no_open(p->path, "not a flotsam session");
    char text[8192];
    memset(text, 'x', sizeof text);
    write_file(p->path, text, sizeof text);
    expect_no_open(p->path, "not a flotsam session");
    unlink(p->path);
    change(p->path, "CREATE TABLE events (x)");
    expect_no_open(p->path, "of another program");
    unlink(p->path);
    assert_int_equal(mkfifo(p->path, 0600), 0);
    expect_no_open(p->path, "is not a file");
}

static void other_formats_are_refused(void **state)
{
    struct place *p = *state;
    make_sample(p->path, 10);
    change(p->path, "PRAGMA user_version = 7");
    expect_no_open(p->path, "was made by a newer flotsam (format 7, this one reads up to 1): "
                            "upgrade flotsam to open it");
    change(p->path, "PRAGMA user_version = 0");
    expect_no_open(p->path, "no format version");
    change(p->path, "PRAGMA user_version = 1; PRAGMA application_id = 1");
    expect_no_open(p->path, "of another program");
}

static void odd_paths_are_paths(void **state)
{
    struct place *p = *state;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(p->folder), 0);
    make_sample(":memory:", 3);
    make_sample("file:x?mode=memory", 4);
    struct session *s = sample_open(":memory:");
    assert_int_equal(session_event_count(s), 3);
    session_close(s);
    s = sample_open("file:x?mode=memory");
    assert_int_equal(session_event_count(s), 4);
    session_close(s);
    assert_int_equal(fchdir(here), 0);
    close(here);
}

/* ---- Damage ---- */

static void a_cut_file_never_opens(void **state)
{
    struct place *p = *state;
    struct error e;
    make_sample(p->path, 3000);
    assert_true(read_everything(p->path, &e));
    struct buf whole = read_file(p->path);
    uint64_t seed = 11;
    for (size_t size = 1; size < whole.n; size += 1 + sample_random(&seed) % 1500) {
        write_file(p->path, whole.at, size);
        expect_no_open(p->path, size < SQLITE_HEADER_SIZE ? "too short" : "is damaged");
    }
    write_file(p->path, whole.at, whole.n - 1);
    expect_no_open(p->path, "it was cut off");
    buf_free(&whole);
}

static void check_events(const char *path)
{
    struct session *s = sample_open(path);
    for (uint64_t i = 1; i <= session_event_count(s); i++)
        sample_check(s, i);
    session_close(s);
}

/* A flipped byte is found or does not matter; it never crashes and never changes an event or its
 * bytes unnoticed, because blocks have checksums. */
static void flipped_bytes_do_no_harm(void **state)
{
    struct place *p = *state;
    make_sample(p->path, 50);
    change(p->path, "PRAGMA page_size = 512; VACUUM"); /* less empty space to flip in vain */
    struct buf whole = read_file(p->path);
    uint64_t seed = 5;
    int noticed = 0;
    enum { ROUNDS = 4000 };
    for (int round = 0; round < ROUNDS; round++) {
        struct error e;
        size_t at[3];
        char old[3];
        int flips = 1 + (int)(sample_random(&seed) % 3);
        for (int i = 0; i < flips; i++) {
            at[i] = sample_random(&seed) % whole.n;
            old[i] = whole.at[at[i]];
            whole.at[at[i]] ^= (char)(1 + sample_random(&seed) % 255);
        }
        write_file(p->path, whole.at, whole.n);
        if (read_everything(p->path, &e))
            check_events(p->path);
        else
            noticed++;
        for (int i = flips; i-- > 0;)
            whole.at[at[i]] = old[i];
    }
    assert_true(noticed > ROUNDS / 10);
    buf_free(&whole);
}

static bool reads_as_nobody(const char *path, const char *why)
{
    enum { NOBODY = 65534 };
    pid_t child = fork();
    if (child == 0) {
        struct error e = {""};
        if (getuid() == 0 && setuid(NOBODY) != 0)
            _exit(2);
        bool ok = read_everything(path, &e);
        _exit(ok == !why && (!why || strstr(e.text, why)) ? 0 : 1);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

/* As another user, because root may write everything. */
static void read_only_files_open(void **state)
{
    struct place *p = *state;
    make_sample(p->path, 10);
    assert_int_equal(chmod(p->path, 0444), 0);
    assert_int_equal(chmod(p->folder, 0555), 0);
    assert_true(reads_as_nobody(p->path, NULL));
    assert_int_equal(chmod(p->folder, 0755), 0);
}

/* What another process says of a session is seen from the next job on; what was handed out before
 * is still there, and old. */
static void what_others_write_is_read_again(void **state)
{
    struct place *p = *state;
    struct session *s;
    struct error e;
    make_sample(p->path, 10);
    change(p->path, "INSERT OR REPLACE INTO meta VALUES ('checker', 'old')");
    assert_true(session_open(&s, p->path, &e));
    const char *old = session_meta(s, "checker");
    assert_string_equal(old, "old");
    change(p->path, "INSERT OR REPLACE INTO meta VALUES ('checker', 'new')");
    assert_string_equal(session_meta(s, "checker"), "old");
    session_read_meta_again(s);
    assert_string_equal(session_meta(s, "checker"), "new");
    assert_string_equal(old, "old");
    session_close(s);
}

/* A writer dies inside a transaction: its journal has what the file lacks. */
static void a_transaction_cut_short_is_undone(void **state)
{
    struct place *p = *state;
    char from[160], to[160], journal[160];
    struct error e;
    sqlite3 *db;
    snprintf(from, sizeof from, "%s-journal", p->path);
    snprintf(to, sizeof to, "%s/copy", p->folder);
    snprintf(journal, sizeof journal, "%s/copy-journal", p->folder);
    make_sample(p->path, 1500);
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA cache_size = 1; BEGIN;"
                                  "UPDATE events SET records = zeroblob(200000);"
                                  "UPDATE packs SET bytes = zeroblob(200000)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    struct buf file = read_file(p->path), undo = read_file(from);
    sqlite3_close(db);
    write_file(to, file.at, file.n);
    assert_false(read_everything(to, &e));
    write_file(journal, undo.at, undo.n);
    assert_int_equal(chmod(to, 0444), 0);
    assert_int_equal(chmod(journal, 0444), 0);
    assert_int_equal(chmod(p->folder, 0555), 0);
    assert_true(reads_as_nobody(to, "recorder that was killed"));
    assert_int_equal(chmod(p->folder, 0755), 0);
    assert_int_equal(chmod(to, 0644), 0);
    assert_int_equal(chmod(journal, 0644), 0);
    if (!read_everything(to, &e))
        fail_msg("%s", e.text);
    check_events(to);
    buf_free(&file);
    buf_free(&undo);
}

/* Each entry: what somebody does to a sound session, and what is said then. */
static void hostile_tables_are_noticed(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *sql, *why;
    } cases[] = {
        {"DROP TABLE events", "no such table"},
        {"DROP TABLE events; CREATE VIEW events AS SELECT 1 AS first, 1 AS count, '' AS records",
         "prohibited"},
        {"DELETE FROM events WHERE first = 1", "chunk of event 1 is missing"},
        {"DELETE FROM events WHERE first = 1025", "1024 of 1500 events are left"},
        {"DELETE FROM events", "0 of 1500 events are left"},
        {"UPDATE events SET count = 1023 WHERE first = 1", "has 1023 records"},
        {"UPDATE events SET count = 5000000000 WHERE first = 1025", "does not fit"},
        {"UPDATE events SET count = -1 WHERE first = 1025", "does not fit"},
        {"UPDATE events SET first = 1026 WHERE first = 1025", "wrong place"},
        {"UPDATE events SET first = 9000000000000001 WHERE first = 1025", "fit"},
        {"UPDATE events SET records = zeroblob(100)", "does not unpack"},
        {"UPDATE events SET records = NULL WHERE first = -1; UPDATE events SET records = ''",
         "does not unpack"},
        {"UPDATE events SET records = (SELECT bytes FROM packs)", "does not unpack"},
        {"DELETE FROM packs; DELETE FROM image_extents", "bytes are not there"},
        {"UPDATE packs SET size = size - 1", "does not unpack"},
        {"UPDATE packs SET size = size + 1", "does not unpack"},
        {"UPDATE packs SET bytes = zeroblob(30)", "does not unpack"},
        {"UPDATE packs SET number = 1", "is missing"},
        {"DELETE FROM strings", "string that is not there"},
        {"DELETE FROM stacks", "stack that is not there"},
        {"DELETE FROM threads", "thread that is not there"},
        {"DELETE FROM files", "not there"},
        {"UPDATE strings SET id = 4000000000", "does not fit"},
        {"UPDATE strings SET id = -1", "does not fit"},
        {"UPDATE image_names SET name = 'a/b'", "bad name"},
        {"UPDATE image_names SET name = '..'", "bad name"},
        {"UPDATE image_names SET name = ''", "bad name"},
        {"UPDATE image_names SET file = 99", "cannot be"},
        {"UPDATE image_names SET file = 1", "cannot be"},
        {"UPDATE image_files SET kind = 9 WHERE file = 2", "makes no sense"},
        {"UPDATE image_files SET kind = 3 WHERE file = 2", "makes no sense"},
        {"UPDATE image_files SET size = -1 WHERE file = 2", "makes no sense"},
        {"UPDATE image_files SET file = 9 WHERE file = 2", "is not there"},
        {"UPDATE image_files SET kind = 2 WHERE file = 2; UPDATE image_names SET dir = 2",
         "has no name"},
        {"UPDATE image_extents SET offset = 1", "makes no sense"},
        {"UPDATE image_extents SET size = 0", "makes no sense"},
        {"UPDATE image_extents SET size = -1", "makes no sense"},
        {"UPDATE image_extents SET payload = 1000000", "makes no sense"},
        {"UPDATE image_extents SET file = 1", "makes no sense"},
        {"INSERT INTO image_extents VALUES (2, 2, 2, 0)", "makes no sense"},
        {"UPDATE notices SET count = -1", "makes no sense"},
    };
    make_sample(p->path, 1500);
    struct buf whole = read_file(p->path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(p->path, whole.at, whole.n);
        change(p->path, cases[i].sql);
        struct error e = {""};
        if (read_everything(p->path, &e))
            fail_msg("unnoticed: %s", cases[i].sql);
        if (!strstr(e.text, cases[i].why))
            fail_msg("\"%s\" gives \"%s\", not \"%s\"", cases[i].sql, e.text, cases[i].why);
    }
    buf_free(&whole);
}

/* Records that a recorder would never write: each is sound but for one thing. */
static void hostile_records_are_noticed(void **state)
{
    struct place *p = *state;
    const struct event sound = sample_event(1);
    struct event bad[13];
    enum { N = sizeof bad / sizeof bad[0] };
    for (int i = 0; i < N; i++)
        bad[i] = sound;
    bad[0].call = CALL_COUNT;
    bad[1].call = CALL_NONE;
    bad[2].file = 3;
    bad[3].other_dir = UINT32_MAX;
    bad[4].path = 2000;
    bad[5].other_name = 2000;
    bad[6].stack = 2;
    bad[7].thread = 2;
    bad[8].exit = bad[8].entry - 1;
    bad[9].payload = 1;
    bad[10].offset = INT64_MAX;
    bad[11].size = UINT64_MAX;
    bad[12].call = CALL_UNLINK;
    bad[12].name = 2; /* "../x" */
    for (int i = 0; i <= N; i++) {
        struct recording *r = sample_create(p->path);
        sample_begin(r);
        recording_string(r, "../x", 4);
        const struct event *event = i < N ? &bad[i] : &sound;
        recording_end(r, recording_begin(r, event), event);
        sample_finish(r);
        if (i < N)
            expect_damage(p->path, "event 1: it");
        else
            assert_true(read_everything(p->path, NULL));
    }
}

/* A failed call has whatever arguments the program gave. */
static void failed_calls_may_say_anything(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    sample_begin(r);
    struct event event = sample_event(1);
    event.traits = EVENT_FAILED;
    event.offset = UINT64_MAX;
    event.size = UINT64_MAX;
    event.call = CALL_MKDIR;
    event.name = recording_string(r, "..", 2);
    recording_end(r, recording_begin(r, &event), &event);
    sample_finish(r);
    struct error e;
    if (!read_everything(p->path, &e))
        fail_msg("%s", e.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(what_is_no_session_is_said),
        place_test(other_formats_are_refused),
        place_test(odd_paths_are_paths),
        place_test(read_only_files_open),
        place_test(what_others_write_is_read_again),
        place_test(a_transaction_cut_short_is_undone),
        place_test(a_cut_file_never_opens),
        place_test(flipped_bytes_do_no_harm),
        place_test(hostile_tables_are_noticed),
        place_test(hostile_records_are_noticed),
        place_test(failed_calls_may_say_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
