/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A scene is at any time what its state says, and gets there by doing little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "engine/scene.h"
#include "tests/unit/folders.h"
#include "tests/unit/state_naive.h"
#include "tests/unit/state_program.h"

enum { NOBODY = 65534 };

/* What is on disk, in the words of state_naive.h */

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void disk_describe_at(struct description *d, struct map links[static 2], const char *real,
                             const char *path)
{
    struct stat st;
    char target[PATH_MAX] = "", *bytes = NULL;
    assert_int_equal(lstat(real, &st), 0);
    /* Inode numbers are long; a file is the count of those seen before it. */
    uint64_t *file = map_put(&links[0], &st.st_ino, sizeof st.st_ino, NULL);
    if (!*file)
        *file = links[0].n;
    uint64_t *seen = map_put(&links[1], file, sizeof *file, NULL);
    if (!S_ISDIR(st.st_mode))
        *seen += (uint64_t)st.st_nlink << 32 | 1;
    enum file_kind kind = S_ISDIR(st.st_mode)   ? FILE_DIRECTORY
                          : S_ISREG(st.st_mode) ? FILE_REGULAR
                          : S_ISLNK(st.st_mode) ? FILE_SYMLINK
                                                : FILE_FIFO;
    if (kind == FILE_SYMLINK)
        assert_true(readlink(real, target, sizeof target - 1) > 0);
    if (kind == FILE_REGULAR) {
        bytes = xmalloc((size_t)st.st_size + 1);
        int fd = open(real, O_RDONLY | O_NOFOLLOW);
        assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
        close(fd);
    }
    describe(d, path, (uint32_t)*file, kind, st.st_mode & 07777, target, (uint64_t)st.st_size,
             bytes);
    free(bytes);
    if (kind != FILE_DIRECTORY)
        return;
    struct dirent **entries;
    int n = scandir(real, &entries, NULL, by_bytes);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        char *below = xasprintf("%s/%s", real, name);
        char *deeper = xasprintf("%s%s%s", path, *path ? "/" : "", name);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            disk_describe_at(d, links, below, deeper);
        free(below);
        free(deeper);
        free(entries[i]);
    }
    free(entries);
}

/* Each file must have as many links as names were found. */
static void check_links(const void *key, size_t size, uint64_t value, void *data)
{
    enum { NAMES_BITS = 16 };
    uint64_t names = value & ((1u << NAMES_BITS) - 1), sum = value >> 32;
    (void)key;
    (void)size;
    (void)data;
    if (names)
        assert_int_equal(sum, names * names);
}

static char *disk_describe(const char *dir)
{
    struct description d = {.lines = 0};
    struct map links[2] = {{0}};
    disk_describe_at(&d, links, dir, "");
    map_each(&links[1], check_links, NULL);
    map_free(&links[0]);
    map_free(&links[1]);
    return description_end(&d);
}

/* Random moves */

struct stage {
    char *top, *dir, *fresh;
    struct scene *scene;
};

static struct stage stage_new(void)
{
    struct stage g = {.top = folder_new_quick()};
    struct error e;
    g.dir = xasprintf("%s/dir", g.top);
    g.fresh = xasprintf("%s/fresh", g.top);
    if (!scene_new(&g.scene, g.dir, &e))
        fail_msg("%s", e.text);
    return g;
}

static void stage_free(struct stage *g)
{
    scene_free(g->scene);
    char *store = xasprintf("%s.store", g->dir);
    assert_int_equal(access(store, F_OK), -1);
    free(store);
    free(g->dir);
    free(g->fresh);
    folder_remove(g->top);
}

static void stage_sync(struct stage *g, struct state *s)
{
    struct error e;
    if (!scene_sync(g->scene, s, &e))
        fail_msg("%s", e.text);
}

static void stage_shows(struct stage *g, const char *expected)
{
    char *found = disk_describe(g->dir);
    if (strcmp(expected, found))
        fail_msg("expected\n%sbut found\n%s", expected, found);
    free(found);
}

/* Back to a random op, then on to another end with some lost. */
struct walk {
    struct program *p;
    struct state *s;
    vec_of(uint32_t) ops;
    vec_of(size_t) marks;
};

static void walk_somewhere(struct walk *w)
{
    struct program *p = w->p;
    size_t keep = pick(p, (unsigned)w->ops.n + 1);
    if (keep < w->ops.n) {
        state_undo(w->s, w->marks.at[keep]);
        w->ops.n = w->marks.n = keep;
    }
    unsigned lost = 2 + pick(p, 10), end = pick(p, 2) ? pick(p, (unsigned)p->ops.n + 1) : UINT_MAX;
    for (uint32_t op = keep ? w->ops.at[keep - 1] + 1 : 0; op < p->ops.n && op < end; op++) {
        if (pick(p, lost) == 0)
            continue;
        vec_push(&w->ops, op);
        vec_push(&w->marks, state_mark(w->s));
        program_apply(p, w->s, op);
    }
}

static void walk_end(struct walk *w)
{
    vec_free(&w->ops);
    vec_free(&w->marks);
    state_free(w->s);
    program_free(w->p);
}

static char *expected_of(struct walk *w)
{
    struct naive *n = naive_new(w->p);
    for (size_t i = 0; i < w->ops.n; i++)
        naive_apply(n, w->ops.at[i]);
    char *text = naive_describe(n);
    naive_free(n);
    return text;
}

static void follows_a_state_wherever_it_goes(void **unused)
{
    enum { PROGRAMS = 120, MOVES = 60, SCENES = 2, IMAGE = 10, STEPS = 30 };
    (void)unused;
    for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
        struct walk w = {.p = program_new(seed, IMAGE, STEPS)};
        struct stage stages[SCENES] = {stage_new(), stage_new()};
        w.s = program_start(w.p);
        for (int i = 0; i < MOVES; i++) {
            walk_somewhere(&w);
            char *expected = expected_of(&w);
            for (int k = 0; k < SCENES; k++) {
                if (k && pick(w.p, 3)) /* one that is left behind for a while */
                    continue;
                stage_sync(&stages[k], w.s);
                stage_shows(&stages[k], expected);
            }
            free(expected);
        }
        struct error e;
        if (!state_lay_out(w.s, stages[0].fresh, NULL, &e))
            fail_msg("%s", e.text);
        folder_same(stages[0].dir, stages[0].fresh);
        for (int k = 0; k < SCENES; k++)
            stage_free(&stages[k]);
        walk_end(&w);
    }
}

/* What it costs */

enum { A = 1, B, C, D, BIG = 40, BIG_BLOCKS = 300 };

static struct scene_counts since(struct stage *g, struct scene_counts before)
{
    struct scene_counts now = *scene_counts(g->scene);
    return (struct scene_counts){
        .renames = now.renames - before.renames,
        .links = now.links - before.links,
        .removals = now.removals - before.removals,
        .made = now.made - before.made,
        .blocks = now.blocks - before.blocks,
        .lengths = now.lengths - before.lengths,
        .modes = now.modes - before.modes,
    };
}

static struct event made(uint16_t call, uint32_t dir, uint32_t name, uint32_t file)
{
    return (struct event){.call = call,
                          .traits = call == CALL_OPEN ? EVENT_CREATED : 0,
                          .dir = dir,
                          .name = name,
                          .file = file,
                          .mode = 0755};
}

/* The image: directories 2 (a), 3 (a/a), 4 (b); 5 (a/a/b) of many blocks, 6 (a/c). */
static struct program *small_tree(void)
{
    struct program *p = program_new(0, 0, 0);
    static const enum file_kind kinds[] = {FILE_DIRECTORY, FILE_DIRECTORY, FILE_DIRECTORY,
                                           FILE_REGULAR, FILE_REGULAR};
    for (size_t i = 0; i < 20; i++)
        vec_push(&p->kinds, i < sizeof kinds / sizeof *kinds ? kinds[i] : FILE_REGULAR);
    size_t size = BIG_BLOCKS * OP_BLOCK_SIZE;
    memset(buf_room(&p->bytes, size), 'o', size);
    program_does(p, made(CALL_MKDIR, 1, A, 2));
    program_does(p, made(CALL_MKDIR, 2, A, 3));
    program_does(p, made(CALL_MKDIR, 1, B, 4));
    program_does(p, made(CALL_OPEN, 3, B, 5));
    program_does(p, made(CALL_OPEN, 2, C, 6));
    program_does(p, (struct event){.call = CALL_WRITE, .file = 5, .size = size, .payload = 1});
    p->image_events = p->events.n;
    return p;
}

static void apply(struct program *p, struct state *s, struct op op)
{
    vec_push(&p->ops, op);
    program_apply(p, s, (uint32_t)p->ops.n - 1);
}

static struct event renamed(uint32_t dir, uint32_t name, uint32_t to, uint32_t to_name,
                            uint32_t file)
{
    return (struct event){.call = CALL_RENAME,
                          .dir = dir,
                          .name = name,
                          .other_dir = to,
                          .other_name = to_name,
                          .file = file};
}

static void costs_what_differs(void **unused)
{
    (void)unused;
    struct program *p = small_tree();
    uint64_t move = program_does(p, renamed(1, A, 4, D, 2));
    struct event over = renamed(2, C, 3, B, 6);
    over.other = 5;
    uint64_t replace = program_does(p, over);
    uint64_t swap = program_does(p, (struct event){.call = CALL_RENAME,
                                                   .dir = 1,
                                                   .name = A,
                                                   .other_dir = 1,
                                                   .other_name = B,
                                                   .file = 2,
                                                   .other = 4,
                                                   .flags = RENAME_EXCHANGE});
    struct state *s = program_start(p);
    struct stage g = stage_new();
    stage_sync(&g, s);
    struct scene_counts first = *scene_counts(g.scene);
    assert_int_equal(first.made, 5);
    assert_int_equal(first.blocks, BIG_BLOCKS);

    /* Nothing, or something done and undone. */
    size_t mark = state_mark(s);
    apply(p, s, (struct op){.kind = OP_DATA, .file = 5, .offset = 9, .length = 5, .payload = 1});
    apply(p, s, (struct op){.kind = OP_SIZE, .file = 5, .size = 10});
    state_undo(s, mark);
    stage_sync(&g, s);
    struct scene_counts none = since(&g, first);
    assert_memory_equal(&none, &(struct scene_counts){0}, sizeof none);

    /* One block. */
    apply(p, s,
          (struct op){
              .kind = OP_DATA, .file = 5, .offset = 70000, .length = 5, .payload = PAYLOAD_ZEROS});
    stage_sync(&g, s);
    struct scene_counts one = since(&g, first);
    assert_memory_equal(&one, &(struct scene_counts){.blocks = 1}, sizeof one);

    /* A directory with all that is in it. */
    first = *scene_counts(g.scene);
    mark = state_mark(s);
    apply(p, s, (struct op){.kind = OP_NAME, .event = move});
    stage_sync(&g, s);
    struct scene_counts moved = since(&g, first);
    assert_memory_equal(&moved, &(struct scene_counts){.renames = 1}, sizeof moved);

    /* Back, and a rename over a file with contents: neither is written again. */
    state_undo(s, mark);
    stage_sync(&g, s);
    first = *scene_counts(g.scene);
    apply(p, s, (struct op){.kind = OP_NAME, .event = replace});
    stage_sync(&g, s);
    state_undo(s, mark);
    stage_sync(&g, s);
    struct scene_counts there_and_back = since(&g, first);
    assert_int_equal(there_and_back.blocks, 0);
    assert_int_equal(there_and_back.made, 0);
    assert_true(there_and_back.renames <= 4);

    /* Two directories that swap. */
    first = *scene_counts(g.scene);
    apply(p, s, (struct op){.kind = OP_NAME, .event = swap});
    stage_sync(&g, s);
    struct scene_counts swapped = since(&g, first);
    assert_memory_equal(&swapped, &(struct scene_counts){.renames = 4}, sizeof swapped);
    stage_free(&g);
    state_free(s);
    program_free(p);
}

/* Bytes behind the end of the file, in its last block, come into sight, go, and come again. */
static void shows_hidden_bytes_each_time_they_come_into_sight(void **unused)
{
    (void)unused;
    struct program *p = small_tree();
    struct state *s = program_start(p);
    struct stage g = stage_new();
    struct error e;
    apply(p, s, (struct op){.kind = OP_DATA, .file = 6, .length = 200, .payload = 1});
    apply(p, s, (struct op){.kind = OP_ALLOC, .flags = OP_EXTENDS, .file = 6, .size = 50});
    stage_sync(&g, s);
    for (int round = 0; round < 3; round++) {
        size_t mark = state_mark(s);
        apply(p, s, (struct op){.kind = OP_ALLOC, .flags = OP_EXTENDS, .file = 6, .size = 150});
        for (int shown = 1; shown >= 0; shown--) {
            stage_sync(&g, s);
            if (!state_lay_out(s, g.fresh, NULL, &e))
                fail_msg("%s", e.text);
            folder_same(g.dir, g.fresh);
            folder_remove(xstrdup(g.fresh));
            state_undo(s, mark);
        }
    }
    stage_free(&g);
    state_free(s);
    program_free(p);
}

/* Files that wait in the store without end would fill the disk. */
static void forgets_large_files_that_have_no_name(void **unused)
{
    (void)unused;
    struct program *p = small_tree();
    uint64_t gone =
        program_does(p, (struct event){.call = CALL_UNLINK, .dir = 3, .name = B, .file = 5});
    struct state *s = program_start(p);
    struct stage g = stage_new();
    apply(p, s, (struct op){.kind = OP_SIZE, .file = 5, .size = UINT64_C(300) << 20});
    stage_sync(&g, s);
    size_t mark = state_mark(s);
    apply(p, s, (struct op){.kind = OP_NAME, .event = gone});
    stage_sync(&g, s);
    char *stored = xasprintf("%s.store/5", g.dir);
    assert_int_equal(access(stored, F_OK), -1);
    free(stored);
    state_undo(s, mark);
    stage_sync(&g, s);
    struct error e;
    if (!state_lay_out(s, g.fresh, NULL, &e))
        fail_msg("%s", e.text);
    folder_same(g.dir, g.fresh);
    stage_free(&g);
    state_free(s);
    program_free(p);
}

static void goes_on_after_a_failure(void **unused)
{
    (void)unused;
    struct program *p = small_tree();
    struct state *s = program_start(p);
    struct stage g = stage_new();
    struct rlimit before, small = {.rlim_cur = 20 * OP_BLOCK_SIZE};
    struct error e;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(scene_sync(g.scene, s, &e));
    assert_non_null(strstr(e.text, "\"b\""));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    stage_sync(&g, s);
    if (!state_lay_out(s, g.fresh, NULL, &e))
        fail_msg("%s", e.text);
    folder_same(g.dir, g.fresh);
    stage_free(&g);
    state_free(s);
    program_free(p);
}

static void is_given_an_empty_folder_and_one_state(void **unused)
{
    (void)unused;
    struct program *p = small_tree();
    struct state *s = program_start(p), *other = program_start(p);
    struct stage g = stage_new();
    struct scene *second;
    struct error e;
    stage_sync(&g, s);
    assert_false(scene_sync(g.scene, other, &e));
    assert_false(scene_new(&second, g.dir, &e));
    assert_non_null(strstr(e.text, "not empty"));
    assert_false(state_lay_out(s, g.dir, NULL, &e));
    stage_free(&g);
    state_free(s);
    state_free(other);
    program_free(p);
}

/* Without privileges modes keep one out of one's own directories. */
static void work_in_closed_directories(void)
{
    struct program *p = small_tree();
    static const struct {
        uint32_t file, mode;
    } modes[] = {{2, 0}, {3, 0500}, {5, 0400}, {4, 0100}, {1, 0500}, {6, 06711}};
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        number = program_does(
            p, (struct event){.call = CALL_CHMOD, .file = modes[i].file, .mode = modes[i].mode});
    uint64_t move = program_does(p, renamed(2, A, 4, A, 3));
    struct state *s = program_start(p);
    struct stage g = stage_new();
    stage_sync(&g, s);
    for (uint64_t i = 1; i <= number; i++)
        apply(p, s, (struct op){.kind = OP_NAME, .event = i});
    size_t mark = state_mark(s);
    for (int round = 0; round < 2; round++) {
        stage_sync(&g, s);
        apply(p, s, (struct op){.kind = OP_NAME, .event = move});
        apply(p, s, (struct op){.kind = OP_DATA, .file = 5, .length = 10});
        apply(p, s,
              (struct op){.kind = OP_DATA,
                          .flags = OP_EXTENDS,
                          .file = 6,
                          .length = 10,
                          .payload = 1,
                          .size = 10});
        stage_sync(&g, s);
        struct stat st;
        assert_int_equal(stat(g.dir, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0500);
        char *b = xasprintf("%s/b", g.dir), *a = xasprintf("%s/a", g.dir);
        assert_int_equal(stat(b, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0100);
        char *below = xasprintf("%s/a", b), *file = xasprintf("%s/a/b", b);
        assert_int_equal(stat(below, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0500);
        assert_int_equal(stat(file, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0400);
        assert_int_equal(stat(a, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0);
        /* The file in there, seen by opening the way. */
        char *closed = xasprintf("%s/c", a);
        assert_int_equal(chmod(a, 0700), 0);
        assert_int_equal(stat(closed, &st), 0);
        assert_int_equal(st.st_mode & 07777, 06711);
        assert_int_equal(st.st_size, 10);
        assert_int_equal(chmod(a, 0), 0);
        free(closed);
        free(a);
        free(b);
        free(below);
        free(file);
        state_undo(s, mark);
    }
    state_undo(s, 0);
    stage_sync(&g, s);
    stage_free(&g);
    state_free(s);
    program_free(p);
}

static void modes_do_not_keep_it_out(void **unused)
{
    (void)unused;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(2);
        work_in_closed_directories();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_state_wherever_it_goes),
        cmocka_unit_test(costs_what_differs),
        cmocka_unit_test(shows_hidden_bytes_each_time_they_come_into_sight),
        cmocka_unit_test(forgets_large_files_that_have_no_name),
        cmocka_unit_test(goes_on_after_a_failure),
        cmocka_unit_test(is_given_an_empty_folder_and_one_state),
        cmocka_unit_test(modes_do_not_keep_it_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
