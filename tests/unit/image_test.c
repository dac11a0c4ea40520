/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a directory holds before a run: captured into a session, read back and laid out, it is the
 * same directory again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "engine/image.h"
#include "engine/layout.h"
#include "engine/replay.h"
#include "engine/session.h"
#include "tests/unit/folders.h"

enum { MIB = 1024 * 1024, NOBODY = 65534 };

struct place {
    char *top, *data, *out, *session;
    int fd; /* of data */
};

static int set_up(void **state)
{
    struct place *p = xcalloc(1, sizeof *p);
    p->top = folder_new();
    p->data = xasprintf("%s/data", p->top);
    p->out = xasprintf("%s/out", p->top);
    p->session = xasprintf("%s/s.flotsam", p->top);
    *state = p;
    assert_int_equal(mkdir(p->data, 0755), 0);
    p->fd = open(p->data, O_RDONLY | O_DIRECTORY);
    return p->fd < 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    close(p->fd);
    folder_remove(p->top);
    free(p->data);
    free(p->out);
    free(p->session);
    free(p);
    return 0;
}

static void put(const struct place *p, const char *name, mode_t mode, off_t offset,
                const void *bytes, size_t size)
{
    int fd = openat(p->fd, name, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, offset), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void capture(const struct place *p, const struct image_options *options)
{
    struct recording *r;
    struct error e;
    if (!recording_create(&r, p->session, &e) || !image_capture(r, p->data, options, &e) ||
        !recording_finish(r, &e))
        fail_msg("%s", e.text);
}

static void lay_out(const struct place *p, struct layout_counts *counts)
{
    struct session *s;
    struct tree *t = NULL;
    struct error e;
    if (!session_open(&s, p->session, &e) || !replay_start(s, &t, &e) ||
        !tree_lay_out(t, s, p->out, counts, &e))
        fail_msg("%s", e.text);
    tree_free(t);
    session_close(s);
}

static void everything_comes_back(void **state)
{
    struct place *p = *state;
    char *bytes = xmalloc(3 * MIB);
    for (size_t i = 0; i < 3 * MIB; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    put(p, "empty", 0600, 0, "", 0);
    put(p, "large", 04751, 0, bytes, 3 * MIB - 5);
    put(p, "\xff \n\x1b[31m", 0400, 0, "odd", 3);
    assert_int_equal(mkdirat(p->fd, "d", 0700), 0);
    assert_int_equal(mkdirat(p->fd, "d/e", 0700), 0);
    put(p, "d/e/file", 0640, 0, "x", 1);
    assert_int_equal(linkat(p->fd, "d/e/file", p->fd, "a link", 0), 0);
    assert_int_equal(symlinkat("/etc/passwd", p->fd, "out"), 0);
    assert_int_equal(symlinkat("d", p->fd, "in"), 0);
    assert_int_equal(mkfifoat(p->fd, "fifo", 0622), 0);
    assert_int_equal(fchmodat(p->fd, "fifo", 0622, 0), 0);
    assert_int_equal(fchmodat(p->fd, "d/e", 0551, 0), 0);
    assert_int_equal(fchmodat(p->fd, "d", 03777, 0), 0);
    assert_int_equal(fchmodat(p->fd, ".", 0710, 0), 0);
    free(bytes);
    mode_t before = umask(077);
    capture(p, NULL);
    lay_out(p, NULL);
    umask(before);
    folder_same(p->data, p->out);
}

struct extents_seen {
    uint64_t bytes, zeros, largest;
};

static bool see_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    struct extents_seen *seen = data;
    (void)file;
    (void)offset;
    seen->bytes += size;
    seen->zeros += payload == PAYLOAD_ZEROS ? size : 0;
    seen->largest = size > seen->largest ? size : seen->largest;
    return true;
}

/* 6 GiB, of which 2 MiB are data and 1 MiB are zeros that were written. */
static void holes_are_not_stored(void **state)
{
    struct place *p = *state;
    char *bytes = xmalloc(2 * MIB);
    memset(bytes, 'x', 2 * MIB);
    put(p, "sparse", 0644, (off_t)5 * 1024 * MIB, bytes, 2 * MIB);
    memset(bytes, 0, MIB);
    put(p, "sparse", 0644, 64 * MIB, bytes, MIB);
    free(bytes);
    char *path = xasprintf("%s/sparse", p->data);
    assert_int_equal(truncate(path, (off_t)6 * 1024 * MIB), 0);
    free(path);
    capture(p, NULL);

    struct session *s;
    struct error e;
    struct extents_seen seen = {0};
    struct image_visitor visitor = {.extent = see_extent};
    assert_true(session_open(&s, p->session, &e));
    assert_true(session_image(s, &visitor, &seen, &e));
    session_close(s);
    assert_int_equal(seen.bytes, 3 * MIB);
    assert_int_equal(seen.zeros, MIB);
    assert_int_equal(seen.largest, MIB);

    lay_out(p, NULL);
    struct stat st;
    path = xasprintf("%s/sparse", p->out);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, (off_t)6 * 1024 * MIB);
    assert_true(st.st_blocks * 512 < 16 * MIB);
    free(path);
}

struct seen {
    uint64_t skipped_ino;
    uint32_t files[16];
    int names, directories;
    bool order;
};

static bool is_ours(void *data, uint64_t dev, uint64_t ino, const char *path)
{
    struct seen *seen = data;
    (void)dev;
    return ino == seen->skipped_ino || !strcmp(path, "s.flotsam-journal");
}

static void captured(void *data, const struct image_name *name)
{
    struct seen *seen = data;
    seen->files[seen->names++] = name->file;
    seen->directories += name->kind == FILE_DIRECTORY;
    bool parent_known = !name->parent;
    for (int i = 0; i + 1 < seen->names; i++)
        parent_known = parent_known || seen->files[i] == name->parent;
    seen->order = seen->order && parent_known;
}

static void the_caller_learns_each_name_and_may_skip_some(void **state)
{
    struct place *p = *state;
    struct stat st;
    put(p, "s.flotsam", 0644, 0, "session", 7);
    put(p, "s.flotsam-journal", 0644, 0, "journal", 7);
    assert_int_equal(mkdirat(p->fd, "d", 0755), 0);
    put(p, "d/s.flotsam-journal", 0644, 0, "another", 7);
    assert_int_equal(linkat(p->fd, "d/s.flotsam-journal", p->fd, "twin", 0), 0);
    assert_int_equal(fstatat(p->fd, "s.flotsam", &st, 0), 0);
    struct seen seen = {.skipped_ino = st.st_ino, .order = true};
    struct image_options options = {.skip = is_ours, .captured = captured, .data = &seen};
    capture(p, &options);
    assert_int_equal(seen.names, 4); /* itself, d, twin, d/s.flotsam-journal */
    assert_int_equal(seen.directories, 2);
    assert_int_equal(seen.files[0], FILE_ROOT);
    assert_int_equal(seen.files[2], seen.files[3]);
    assert_true(seen.order);
    assert_int_equal(unlinkat(p->fd, "s.flotsam", 0), 0);
    assert_int_equal(unlinkat(p->fd, "s.flotsam-journal", 0), 0);
    lay_out(p, NULL);
    folder_same(p->data, p->out);
}

/* Deeper than descriptors or path names reach: made, captured, laid out and compared by going down
 * step by step. */
static void depth_has_no_limit(void **state)
{
    enum { DEPTH = 3000 };
    struct place *p = *state;
    int fd = open(p->data, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "d", 0755), 0);
        int below = openat(fd, "d", O_RDONLY | O_DIRECTORY);
        close(fd);
        fd = below;
    }
    close(fd);
    capture(p, NULL);
    struct layout_counts counts;
    lay_out(p, &counts);
    assert_int_equal(counts.names, DEPTH);
    fd = open(p->out, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        int below = openat(fd, "d", O_RDONLY | O_DIRECTORY);
        assert_true(below >= 0);
        close(fd);
        fd = below;
    }
    close(fd);
}

static void what_cannot_be_read_is_named(void **state)
{
    struct place *p = *state;
    struct recording *r;
    struct error e = {{0}};
    put(p, "secret", 0, 0, "x", 1);
    /* From there, since nobody may be able to come there from the root. */
    assert_int_equal(chmod(p->top, 0755), 0);
    assert_int_equal(chdir(p->top), 0);
    assert_true(recording_create(&r, p->session, &e));
    /* By system call: the C library would change the recording's writer thread too. */
    bool was_root = geteuid() == 0;
    if (was_root)
        assert_int_equal(syscall(SYS_setresuid, -1, NOBODY, -1), 0);
    bool ok = image_capture(r, "data", NULL, &e);
    if (was_root)
        assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
    assert_int_equal(chdir("/"), 0);
    recording_abandon(r, true);
    assert_false(ok);
    assert_non_null(strstr(e.text, "secret"));
    assert_non_null(strstr(e.text, strerror(EACCES)));
}

static void a_missing_directory_is_named(void **state)
{
    struct place *p = *state;
    struct recording *r;
    struct error e = {{0}};
    assert_true(recording_create(&r, p->session, &e));
    assert_false(image_capture(r, p->out, NULL, &e));
    recording_abandon(r, true);
    assert_non_null(strstr(e.text, p->out));
}

static void sockets_are_left_out(void **state)
{
    struct place *p = *state;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/sock", p->data);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    capture(p, NULL);
    struct layout_counts counts;
    lay_out(p, &counts);
    assert_int_equal(counts.left_out, 1);
    assert_int_equal(counts.names, 0);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        test(everything_comes_back),
        test(holes_are_not_stored),
        test(the_caller_learns_each_name_and_may_skip_some),
        test(depth_has_no_limit),
        test(what_cannot_be_read_is_named),
        test(a_missing_directory_is_named),
        test(sockets_are_left_out),
    };
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
