/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random operations, done by the kernel in one folder and recorded as events at the same time:
 * the session replayed into another folder must give the same. The kernel is the specification.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/falloc.h>

#include "engine/image.h"
#include "engine/layout.h"
#include "engine/replay.h"
#include "engine/session.h"
#include "tests/unit/folders.h"

enum {
    RUNS = 300,
    STEPS_BEFORE = 60, /* done before the recording begins: the starting image */
    STEPS = 200,
    LEAST = 100, /* successful calls of each family, or the test shows little */
    NAMES = 6,
    HELD = 4,
    REACH = 60000, /* writes begin below this */
    WRITE_MAX = 9000,
    BLOCK = 4096,
    SPOT_MAX = 256,
};

struct world {
    unsigned seed;
    bool finished;
    char *top, *data, *outside, *out;
    char *quick, *session;
    int fd, outside_fd;
    struct recording *r; /* NULL before the recording begins */
    struct map numbers;  /* inode to file number, of everything that has a name */
    uint64_t position;
    struct held {
        int fd; /* 0: none */
        uint32_t file;
    } held[HELD];
    uint64_t successes[CALL_COUNT];
    char bytes[WRITE_MAX];
};

/* A place for a name: its directory and its path, both from the data directory. */
struct spot {
    uint32_t dir;
    char dir_path[SPOT_MAX], name[8], path[SPOT_MAX];
};

static unsigned pick(unsigned n)
{
    return (unsigned)rand() % n;
}

static mode_t pick_mode(void)
{
    /* Without privileges the kernel takes set-id bits away, and closed folders cannot be read. */
    return geteuid() == 0 ? pick(010000) : 0700 | pick(0100);
}

static uint32_t number_at(struct world *w, int fd, const char *path)
{
    struct stat st;
    if (fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    const uint64_t *number = map_get(&w->numbers, &st.st_ino, sizeof st.st_ino);
    return number ? (uint32_t)*number : 0;
}

static uint32_t number_of(struct world *w, const char *path)
{
    return number_at(w, w->fd, path);
}

static struct spot pick_spot(struct world *w)
{
    struct spot s = {.dir_path = "."};
    for (int depth = 0; depth < 4 && pick(3); depth++) {
        char next[SPOT_MAX];
        struct stat st;
        snprintf(next, sizeof next, "%.200s/n%u", s.dir_path, pick(NAMES));
        if (fstatat(w->fd, next, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            memcpy(s.dir_path, next, sizeof next);
    }
    s.dir = number_of(w, s.dir_path);
    snprintf(s.name, sizeof s.name, "n%u", pick(NAMES));
    snprintf(s.path, sizeof s.path, "%.200s/%s", s.dir_path, s.name);
    return s;
}

/* Something new has this name: gives it a number. */
static uint32_t appeared(struct world *w, int fd, const char *path, enum file_kind kind)
{
    struct stat st;
    assert_int_equal(fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH), 0);
    uint32_t number = w->r ? recording_file(w->r, kind, path) : 0;
    *map_put(&w->numbers, &st.st_ino, sizeof st.st_ino, NULL) = number;
    return number;
}

static mode_t mode_of(int fd, const char *path)
{
    struct stat st;
    assert_int_equal(fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH), 0);
    return st.st_mode;
}

static uint32_t string(struct world *w, const char *text)
{
    return w->r ? recording_string(w->r, text, strlen(text)) : 0;
}

static uint64_t payload(struct world *w, const void *bytes, size_t size)
{
    return w->r ? recording_payload(w->r, bytes, size) : 0;
}

/* Records an event whose call returned `result`, or −1 with errno. */
static void record(struct world *w, struct event v, int64_t result)
{
    int error = errno;
    if (!w->r)
        return;
    v.entry = w->position++;
    v.exit = UINT64_MAX;
    v.traits |= EVENT_UNFINISHED;
    uint64_t number = recording_begin(w->r, &v);
    v.exit = w->position++;
    v.traits &= ~(uint32_t)EVENT_UNFINISHED;
    v.result = result < 0 ? -error : result;
    if (result < 0)
        v.traits |= EVENT_FAILED;
    else
        w->successes[v.call]++;
    recording_end(w->r, number, &v);
}

/* Contents */

/* A descriptor to a regular file, one with or one without a name; -1 when there is none. */
static int pick_file(struct world *w, int flags, uint32_t *file)
{
    const struct held *h = &w->held[pick(HELD)];
    struct stat st;
    int fd;
    if (h->fd && pick(3) == 0) {
        *file = h->file;
        fd = dup(h->fd);
    } else {
        struct spot s = pick_spot(w);
        *file = number_of(w, s.path);
        fd = openat(w->fd, s.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    }
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        fcntl(fd, F_SETFL, flags);
    return fd;
}

static void fill(struct world *w, size_t size)
{
    bool zeros = pick(4) == 0;
    for (size_t i = 0; i < size; i++)
        w->bytes[i] = zeros ? 0 : (char)rand();
}

static void op_write(struct world *w)
{
    uint32_t file;
    bool append = pick(3) == 0;
    int fd = pick_file(w, append ? O_APPEND : 0, &file);
    if (fd < 0)
        return;
    size_t size = pick(WRITE_MAX);
    off_t offset = append ? lseek(fd, 0, SEEK_END) : pick(REACH);
    fill(w, size);
    ssize_t n = append ? write(fd, w->bytes, size) : pwrite(fd, w->bytes, size, offset);
    struct event v = {.call = CALL_WRITE, .file = file, .offset = (uint64_t)offset};
    v.size = n < 0 ? size : (size_t)n;
    v.payload = payload(w, w->bytes, v.size);
    v.traits = append ? EVENT_APPEND : 0;
    record(w, v, n);
    fcntl(fd, F_SETFL, 0); /* a held description is shared with its copies */
    close(fd);
}

static void op_copy(struct world *w)
{
    uint32_t from, to;
    int in = pick_file(w, 0, &from), out = pick_file(w, 0, &to);
    if (in >= 0 && out >= 0) {
        off_t in_at = pick(REACH), out_at = pick(REACH);
        struct event v = {.call = CALL_COPY, .file = to, .other = from};
        v.offset = (uint64_t)out_at;
        v.other_offset = (uint64_t)in_at;
        ssize_t n = copy_file_range(in, &in_at, out, &out_at, pick(WRITE_MAX), 0);
        int error = errno;
        v.size = n < 0 ? 0 : (size_t)n;
        assert_int_equal(pread(out, w->bytes, v.size, (off_t)v.offset), v.size);
        v.payload = payload(w, w->bytes, v.size);
        errno = error;
        record(w, v, n);
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
}

static void op_truncate(struct world *w)
{
    uint32_t file;
    int fd = pick_file(w, 0, &file);
    if (fd < 0)
        return;
    off_t size = pick(8) ? pick(REACH) : ((off_t)1 << 33) + pick(REACH);
    int result = ftruncate(fd, size);
    record(w, (struct event){.call = CALL_TRUNCATE, .file = file, .size = (uint64_t)size}, result);
    if (size > REACH) /* a large hole makes comparing slow: cut it off again */
        record(w, (struct event){.call = CALL_TRUNCATE, .file = file, .size = REACH},
               ftruncate(fd, REACH));
    close(fd);
}

static void op_fallocate(struct world *w)
{
    static const int modes[] = {
        0,
        FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_ZERO_RANGE,
        FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_COLLAPSE_RANGE,
        FALLOC_FL_INSERT_RANGE,
        FALLOC_FL_UNSHARE_RANGE,
    };
    uint32_t file;
    int fd = pick_file(w, 0, &file);
    if (fd < 0)
        return;
    int mode = modes[pick(sizeof modes / sizeof *modes)];
    off_t offset = pick(REACH), size = 1 + pick(WRITE_MAX);
    if (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) {
        offset = offset / BLOCK * BLOCK;
        size = (size + BLOCK) / BLOCK * BLOCK;
    }
    struct event v = {.call = CALL_FALLOCATE, .file = file, .flags = (uint32_t)mode};
    v.offset = (uint64_t)offset;
    v.size = (uint64_t)size;
    record(w, v, fallocate(fd, mode, offset, size));
    close(fd);
}

/* Names */

static void keep(struct world *w, int fd, uint32_t file)
{
    struct held *h = &w->held[pick(HELD)];
    if (!w->r || pick(2)) {
        close(fd);
        return;
    }
    if (h->fd)
        close(h->fd);
    *h = (struct held){fd, file};
}

static void op_open(struct world *w)
{
    struct spot s = pick_spot(w);
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK;
    flags |= (pick(4) ? O_CREAT : 0) | (pick(4) ? 0 : O_TRUNC) | (pick(4) ? 0 : O_EXCL);
    struct stat before;
    bool existed = fstatat(w->fd, s.path, &before, AT_SYMLINK_NOFOLLOW) == 0;
    int fd = openat(w->fd, s.path, flags, pick_mode());
    struct event v = {.call = CALL_OPEN, .dir = s.dir, .name = string(w, s.name)};
    v.flags = (uint32_t)flags;
    if (fd < 0) {
        v.traits = existed ? 0 : EVENT_CREATED;
        record(w, v, fd);
        return;
    }
    v.file = existed ? number_of(w, s.path) : appeared(w, w->fd, s.path, FILE_REGULAR);
    v.mode = mode_of(fd, "") & 07777;
    v.traits = !existed                                       ? EVENT_CREATED
               : (flags & O_TRUNC) && S_ISREG(before.st_mode) ? EVENT_TRUNCATED
                                                              : 0;
    record(w, v, fd);
    keep(w, fd, v.file);
}

static void op_tmpfile(struct world *w)
{
    struct spot s = pick_spot(w), to = pick_spot(w);
    int fd = openat(w->fd, s.dir_path, O_TMPFILE | O_RDWR, pick_mode());
    if (fd < 0)
        return;
    struct event v = {.call = CALL_OPEN, .traits = EVENT_CREATED, .dir = s.dir};
    v.file = appeared(w, fd, "", FILE_REGULAR);
    v.mode = mode_of(fd, "") & 07777;
    record(w, v, fd);
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    int result = linkat(AT_FDCWD, from, w->fd, to.path, AT_SYMLINK_FOLLOW);
    struct event link = {.call = CALL_LINK, .file = v.file, .dir = to.dir};
    link.name = string(w, to.name);
    record(w, link, result);
    keep(w, fd, v.file);
}

static void op_make(struct world *w)
{
    struct spot s = pick_spot(w);
    struct event v = {.dir = s.dir, .name = string(w, s.name)};
    char target[64];
    int result;
    enum file_kind kind;
    switch (pick(5)) {
    case 0:
        snprintf(target, sizeof target, "%.20s/n%u", pick(2) ? ".." : "/nowhere", pick(NAMES));
        result = symlinkat(target, w->fd, s.path);
        v.call = CALL_SYMLINK;
        v.size = strlen(target);
        v.payload = payload(w, target, strlen(target));
        kind = FILE_SYMLINK;
        break;
    case 1:
        result = mkfifoat(w->fd, s.path, pick_mode());
        v.call = CALL_MKNOD;
        kind = FILE_FIFO;
        break;
    default:
        result = mkdirat(w->fd, s.path, pick_mode());
        v.call = CALL_MKDIR;
        kind = FILE_DIRECTORY;
    }
    int error = errno;
    if (result == 0) {
        v.file = appeared(w, w->fd, s.path, kind);
        v.mode = mode_of(w->fd, s.path) & (kind == FILE_FIFO ? ~(mode_t)0 : 07777);
    }
    errno = error;
    record(w, v, result);
}

static void op_remove(struct world *w)
{
    struct spot s = pick_spot(w);
    struct stat st;
    bool directory = fstatat(w->fd, s.path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    directory ^= pick(8) == 0; /* the wrong call now and then */
    struct event v = {.call = directory ? CALL_RMDIR : CALL_UNLINK, .dir = s.dir};
    v.file = number_of(w, s.path);
    v.name = string(w, s.name);
    record(w, v, unlinkat(w->fd, s.path, directory ? AT_REMOVEDIR : 0));
}

static void op_rename(struct world *w)
{
    static const unsigned flags[] = {0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE};
    struct spot from = pick_spot(w), to = pick_spot(w);
    struct event v = {.call = CALL_RENAME, .dir = from.dir, .other_dir = to.dir};
    v.name = string(w, from.name);
    v.other_name = string(w, to.name);
    v.file = number_of(w, from.path);
    v.other = number_of(w, to.path);
    v.flags = flags[pick(sizeof flags / sizeof *flags)];
    record(w, v, renameat2(w->fd, from.path, w->fd, to.path, v.flags));
}

static void op_link(struct world *w)
{
    struct spot from = pick_spot(w), to = pick_spot(w);
    struct event v = {.call = CALL_LINK, .dir = to.dir, .name = string(w, to.name)};
    v.file = number_of(w, from.path);
    record(w, v, linkat(w->fd, from.path, w->fd, to.path, 0));
}

static void op_chmod(struct world *w)
{
    struct spot s = pick_spot(w);
    struct stat st;
    const char *path = pick(5) ? s.path : s.dir_path;
    if (fstatat(w->fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(st.st_mode))
        return;
    struct event v = {.call = CALL_CHMOD, .file = number_of(w, path), .mode = pick_mode()};
    record(w, v, fchmodat(w->fd, path, v.mode, 0));
}

static void op_move_in(struct world *w)
{
    struct spot to = pick_spot(w);
    size_t size = pick(WRITE_MAX);
    bool link = pick(2);
    fill(w, size);
    int fd = openat(w->outside_fd, "f", O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, w->bytes, size), size);
    assert_int_equal(fchmod(fd, pick_mode()), 0);
    struct event v = {.call = link ? CALL_LINK : CALL_RENAME, .traits = EVENT_MOVED_IN};
    v.mode = mode_of(fd, "") & 07777;
    v.size = size;
    v.payload = payload(w, w->bytes, size);
    *(link ? &v.name : &v.other_name) = string(w, to.name);
    *(link ? &v.dir : &v.other_dir) = to.dir;
    v.other = number_of(w, to.path);
    int result = link ? linkat(w->outside_fd, "f", w->fd, to.path, 0)
                      : renameat(w->outside_fd, "f", w->fd, to.path);
    int error = errno;
    if (result == 0)
        v.file = appeared(w, w->fd, to.path, FILE_REGULAR);
    errno = error;
    record(w, v, result);
    close(fd);
    unlinkat(w->outside_fd, "f", 0);
}

static void op_move_out(struct world *w)
{
    struct spot from = pick_spot(w);
    if (pick(3))
        return;
    struct event v = {.call = CALL_RENAME, .dir = from.dir, .traits = EVENT_MOVED_OUT};
    v.name = string(w, from.name);
    v.file = number_of(w, from.path);
    int result = renameat(w->fd, from.path, w->outside_fd, "gone");
    record(w, v, result);
    if (result == 0) /* its other names may be inside, and count links */
        folder_remove(xasprintf("%s/gone", w->outside));
}

/* A call that never returned: it is taken to have had no effect. */
static void op_unfinished(struct world *w)
{
    struct spot s = pick_spot(w);
    struct event v = {.call = CALL_UNLINK, .dir = s.dir, .traits = EVENT_UNFINISHED};
    if (!w->r)
        return;
    v.entry = w->position++;
    v.exit = UINT64_MAX;
    v.file = number_of(w, s.path);
    v.name = string(w, s.name);
    recording_begin(w->r, &v);
}

static void step(struct world *w)
{
    static void (*const ops[])(struct world *) = {
        op_open,     op_open,    op_open,     op_write,     op_write,     op_write,
        op_write,    op_copy,    op_copy,     op_make,      op_make,      op_remove,
        op_remove,   op_rename,  op_rename,   op_link,      op_chmod,     op_move_in,
        op_move_out, op_tmpfile, op_truncate, op_fallocate, op_fallocate, op_unfinished,
    };
    ops[pick(sizeof ops / sizeof *ops)](w);
}

/* Runs */

static int set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof *w);
    w->top = folder_new();
    w->data = xasprintf("%s/data", w->top);
    w->outside = xasprintf("%s/outside", w->top);
    w->out = xasprintf("%s/out", w->top);
    w->quick = folder_new_quick();
    w->session = xasprintf("%s/s.flotsam", w->quick);
    w->finished = true;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    if (w->finished) {
        folder_remove(w->top);
        folder_remove(w->quick);
    } else {
        print_message("the seed was %u; see %s and %s\n", w->seed, w->top, w->quick);
        free(w->top);
        free(w->quick);
    }
    map_free(&w->numbers);
    free(w->data);
    free(w->outside);
    free(w->out);
    free(w->session);
    free(w);
    return 0;
}

static void captured(void *data, const struct image_name *name)
{
    struct world *w = data;
    *map_put(&w->numbers, &name->ino, sizeof name->ino, NULL) = name->file;
}

static void record_run(struct world *w)
{
    struct error e;
    struct image_options options = {.captured = captured, .data = w};
    w->finished = false;
    map_free(&w->numbers);
    assert_int_equal(mkdir(w->data, 0755), 0);
    assert_int_equal(mkdir(w->outside, 0755), 0);
    w->fd = open(w->data, O_RDONLY | O_DIRECTORY);
    w->outside_fd = open(w->outside, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < STEPS_BEFORE; i++)
        step(w);
    map_free(&w->numbers);
    if (!recording_create(&w->r, w->session, &e) || !image_capture(w->r, w->data, &options, &e))
        fail_msg("%s", e.text);
    for (int i = 0; i < STEPS; i++)
        step(w);
    if (!recording_finish(w->r, &e))
        fail_msg("%s", e.text);
    w->r = NULL;
    for (int i = 0; i < HELD; i++)
        if (w->held[i].fd)
            close(w->held[i].fd);
    memset(w->held, 0, sizeof w->held);
    close(w->fd);
    close(w->outside_fd);
}

static void replay_run(struct world *w)
{
    struct error e;
    struct session *s;
    struct tree *t = NULL;
    struct replay_counts counts;
    if (!session_open(&s, w->session, &e) || !replay_end(s, &t, &counts, &e) ||
        !tree_lay_out(t, s, w->out, NULL, &e))
        fail_msg("%s", e.text);
    tree_free(t);
    session_close(s);
    assert_true(counts.applied > 0);
}

static void replays_what_the_kernel_did(void **state)
{
    struct world *w = *state;
    mode_t before = umask(027);
    for (w->seed = 1; w->seed <= RUNS; w->seed++) {
        srand(w->seed);
        record_run(w);
        replay_run(w);
        folder_same(w->data, w->out);
        folder_remove(xstrdup(w->data));
        folder_remove(xstrdup(w->outside));
        folder_remove(xstrdup(w->out));
    }
    for (int call = 1; call < CALL_COUNT; call++)
        if (replay_changes((enum call)call) && call != CALL_STORE && w->successes[call] < LEAST)
            fail_msg("calls of family %d succeeded only %llu times", call,
                     (unsigned long long)w->successes[call]);
    umask(before);
    w->finished = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replays_what_the_kernel_did, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("replay_random", tests, NULL, NULL);
}
