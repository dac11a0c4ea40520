/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What ops do to a state, one by one and against the plainest implementation there is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/state_naive.h"
#include "tests/unit/state_program.h"

enum { A = 1, B, C, D }; /* names */

/* By hand. The image: directory 2 as "a", file 3 as "b" with 5,000 bytes of 'o'. */

struct hand {
    struct program *p;
    struct state *s;
    uint64_t old, new; /* payloads of 'o' and 'n' */
};

static int set_up(void **state)
{
    struct hand *h = xcalloc(1, sizeof *h);
    h->p = program_new(0, 0, 0);
    h->old = h->p->bytes.n;
    memset(buf_room(&h->p->bytes, 3 * OP_BLOCK_SIZE), 'o', 3 * OP_BLOCK_SIZE);
    h->new = h->p->bytes.n;
    memset(buf_room(&h->p->bytes, 3 * OP_BLOCK_SIZE), 'n', 3 * OP_BLOCK_SIZE);
    struct event image[] = {
        {.call = CALL_MKDIR, .dir = 1, .name = A, .file = 2, .mode = 0755},
        {.call = CALL_OPEN, .traits = EVENT_CREATED, .dir = 1, .name = B, .file = 3, .mode = 0644},
        {.call = CALL_WRITE, .file = 3, .size = 5000, .payload = h->old},
    };
    vec_push(&h->p->kinds, FILE_DIRECTORY);
    for (int i = 0; i < 17; i++)
        vec_push(&h->p->kinds, FILE_REGULAR);
    for (size_t i = 0; i < sizeof image / sizeof *image; i++)
        program_does(h->p, image[i]);
    h->p->image_events = h->p->events.n;
    *state = h;
    return 0;
}

static int tear_down(void **state)
{
    struct hand *h = *state;
    state_free(h->s);
    program_free(h->p);
    free(h);
    return 0;
}

/* The next op. Events that it is about are there from the beginning in a session, so the state is
 * made with the first op, when the test has said them all. */
static void apply(struct hand *h, struct op op)
{
    if (!h->s)
        h->s = program_start(h->p);
    vec_push(&h->p->ops, op);
    program_apply(h->p, h->s, (uint32_t)h->p->ops.n - 1);
}

static void apply_name(struct hand *h, uint64_t event)
{
    apply(h, (struct op){.kind = OP_NAME, .event = event});
}

struct found {
    const char *path;
    struct state_name name;
    bool is;
};

static bool find_name(void *data, const struct state_name *name)
{
    struct found *f = data;
    if (!strcmp(f->path, name->path)) {
        f->name = *name;
        f->is = true;
    }
    return true;
}

/* Which file a path is, 0 when it is not there. */
static uint32_t at(struct hand *h, const char *path)
{
    struct found f = {.path = path};
    state_walk(h->s, find_name, &f);
    return f.is ? f.name.file : 0;
}

static struct state_name look(struct hand *h, const char *path)
{
    struct found f = {.path = path};
    state_walk(h->s, find_name, &f);
    if (!f.is)
        fail_msg("%s is not there", path);
    return f.name;
}

/* Contents as runs: "o5000 0:100 n3". */
static void holds(struct hand *h, uint32_t file, const char *expected)
{
    static char bytes[64 * 1024];
    struct found f = {.path = "b"};
    struct error e;
    state_walk(h->s, find_name, &f);
    uint64_t size = f.name.size;
    struct buf text = {0};
    assert_true(f.is && f.name.file == file && size < sizeof bytes);
    if (!state_read(h->s, file, 0, bytes, size, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0, n; i < size; i += n) {
        for (n = 1; i + n < size && bytes[i + n] == bytes[i];)
            n++;
        buf_printf(&text, "%s%c%zu", i ? " " : "", bytes[i] ? bytes[i] : '0', n);
    }
    assert_string_equal(buf_string(&text), expected);
    buf_free(&text);
}

static void data_beyond_the_length_is_hidden_until_a_length_covers_it(void **state)
{
    struct hand *h = *state;
    apply(h, (struct op){
                 .kind = OP_DATA, .file = 3, .offset = 5000, .length = 100, .payload = h->new});
    holds(h, 3, "o5000");
    size_t mark = state_mark(h->s);
    apply(h, (struct op){.kind = OP_SIZE, .file = 3, .size = 5050});
    holds(h, 3, "o5000 n50");
    state_undo(h->s, mark);
    holds(h, 3, "o5000");
    apply(h, (struct op){.kind = OP_ALLOC,
                         .flags = OP_EXTENDS,
                         .file = 3,
                         .offset = 4096,
                         .length = 4096,
                         .size = 5200});
    holds(h, 3, "o5000 n100 0100");
}

static void shrinking_drops_data_for_good(void **state)
{
    struct hand *h = *state;
    apply(h, (struct op){.kind = OP_SIZE, .file = 3, .size = 10});
    holds(h, 3, "o10");
    apply(h, (struct op){.kind = OP_SIZE, .file = 3, .size = 5000});
    holds(h, 3, "o10 04990");
}

static void a_length_also_drops_what_was_hidden(void **state)
{
    struct hand *h = *state;
    apply(h,
          (struct op){.kind = OP_DATA, .file = 3, .offset = 9000, .length = 10, .payload = h->new});
    apply(h, (struct op){.kind = OP_SIZE, .file = 3, .size = 6000});
    apply(h, (struct op){.kind = OP_SIZE, .file = 3, .size = 9100});
    holds(h, 3, "o5000 04100");
}

static void alloc_changes_no_bytes_and_at_least_the_length(void **state)
{
    struct hand *h = *state;
    apply(h, (struct op){.kind = OP_ALLOC, .file = 3, .offset = 8192, .length = 4096});
    holds(h, 3, "o5000");
    apply(h, (struct op){.kind = OP_ALLOC,
                         .flags = OP_EXTENDS,
                         .file = 3,
                         .offset = 0,
                         .length = 4096,
                         .size = 4000});
    holds(h, 3, "o5000");
    apply(h, (struct op){.kind = OP_ALLOC,
                         .flags = OP_EXTENDS,
                         .file = 3,
                         .offset = 4096,
                         .length = 4096,
                         .size = 5001});
    holds(h, 3, "o5000 01");
}

static void data_goes_over_block_boundaries(void **state)
{
    struct hand *h = *state;
    apply(h, (struct op){.kind = OP_DATA,
                         .flags = OP_EXTENDS,
                         .file = 3,
                         .offset = 4000,
                         .length = 6000,
                         .payload = h->new,
                         .size = 10000});
    holds(h, 3, "o4000 n6000");
    apply(h, (struct op){.kind = OP_ZERO, .file = 3, .offset = 4090, .length = 10});
    holds(h, 3, "o4000 n90 010 n5900");
    apply(h,
          (struct op){
              .kind = OP_DATA, .file = 3, .offset = 0, .length = 8192, .payload = PAYLOAD_ZEROS});
    holds(h, 3, "08192 n1808");
}

static void ranges_do_what_their_fallocate_did(void **state)
{
    struct hand *h = *state;
    static const struct {
        uint32_t flags;
        uint64_t offset, size;
        const char *expected;
    } cases[] = {
        {FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4990, 100, "o4990 010"},
        {FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 4990, 100, "o4990 010"},
        {FALLOC_FL_ZERO_RANGE, 4990, 100, "o4990 0100"},
        {FALLOC_FL_COLLAPSE_RANGE, 0, 4096, "o904"},
        {FALLOC_FL_COLLAPSE_RANGE, 4096, 4096, "o4096"}, /* its end was lost before */
        {FALLOC_FL_INSERT_RANGE, 4096, 4096, "o4096 04096 o904"},
        {FALLOC_FL_INSERT_RANGE, 1024, 1024, "o1024 01024 o3976"},
        {FALLOC_FL_INSERT_RANGE, 8192, 4096, "o5000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        program_does(h->p, (struct event){.call = CALL_FALLOCATE,
                                          .file = 3,
                                          .flags = cases[i].flags,
                                          .offset = cases[i].offset,
                                          .size = cases[i].size});
    h->s = program_start(h->p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t mark = state_mark(h->s);
        apply(h, (struct op){.kind = OP_RANGE, .file = 3, .event = i + 1});
        holds(h, 3, cases[i].expected);
        state_undo(h->s, mark);
        holds(h, 3, "o5000");
    }
}

static void names_come_move_and_go(void **state)
{
    struct hand *h = *state;
    uint64_t make = program_does(h->p, (struct event){.call = CALL_OPEN,
                                                      .traits = EVENT_CREATED,
                                                      .dir = 2,
                                                      .name = C,
                                                      .file = 4,
                                                      .mode = 0600});
    uint64_t over = program_does(h->p, (struct event){.call = CALL_RENAME,
                                                      .dir = 2,
                                                      .name = C,
                                                      .other_dir = 1,
                                                      .other_name = B,
                                                      .file = 4,
                                                      .other = 3});
    uint64_t link =
        program_does(h->p, (struct event){.call = CALL_LINK, .dir = 2, .name = D, .file = 4});
    uint64_t chmod =
        program_does(h->p, (struct event){.call = CALL_CHMOD, .file = 4, .mode = 0640});
    uint64_t away =
        program_does(h->p, (struct event){.call = CALL_UNLINK, .dir = 1, .name = B, .file = 4});
    apply_name(h, make);
    assert_int_equal(at(h, "a/c"), 4);
    apply_name(h, over);
    assert_int_equal(at(h, "a/c"), 0);
    assert_int_equal(at(h, "b"), 4);
    apply_name(h, link);
    assert_int_equal(look(h, "b").names, 2);
    apply_name(h, chmod);
    assert_int_equal(look(h, "a/d").mode, 0640);
    apply_name(h, away);
    assert_int_equal(at(h, "b"), 0);
    assert_int_equal(look(h, "a/d").names, 1);
}

static void exchange_swaps_directories_and_files(void **state)
{
    struct hand *h = *state;
    apply_name(h, program_does(h->p, (struct event){.call = CALL_RENAME,
                                                    .dir = 1,
                                                    .name = A,
                                                    .other_dir = 1,
                                                    .other_name = B,
                                                    .file = 2,
                                                    .other = 3,
                                                    .flags = RENAME_EXCHANGE}));
    assert_int_equal(at(h, "a"), 3);
    assert_int_equal(at(h, "b"), 2);
}

static void what_was_lost_before_does_not_make_an_op_fail(void **state)
{
    struct hand *h = *state;
    uint64_t mkdir = program_does(
        h->p, (struct event){.call = CALL_MKDIR, .dir = 1, .name = C, .file = 10, .mode = 0711});
    h->p->kinds.at[10] = FILE_DIRECTORY;
    uint64_t make = program_does(h->p, (struct event){.call = CALL_OPEN,
                                                      .traits = EVENT_CREATED,
                                                      .dir = 10,
                                                      .name = A,
                                                      .file = 11,
                                                      .mode = 0604});
    uint64_t rename = program_does(h->p, (struct event){.call = CALL_RENAME,
                                                        .dir = 10,
                                                        .name = A,
                                                        .other_dir = 1,
                                                        .other_name = D,
                                                        .file = 11});
    /* The directory was lost: its entry waits for it. */
    apply_name(h, make);
    assert_int_equal(at(h, "c"), 0);
    size_t mark = state_mark(h->s);
    apply_name(h, mkdir);
    assert_int_equal(at(h, "c/a"), 11);
    assert_int_equal(look(h, "c").mode, 0711);
    state_undo(h->s, mark);
    state_undo(h->s, 0);
    /* The creation was lost: the file is what it was created as. */
    apply(h, (struct op){.kind = OP_DATA,
                         .flags = OP_EXTENDS,
                         .file = 11,
                         .length = 7,
                         .size = 7,
                         .payload = h->new});
    apply_name(h, rename);
    assert_int_equal(at(h, "d"), 11);
    assert_int_equal(look(h, "d").mode, 0604);
    assert_int_equal(look(h, "d").size, 7);
    /* The creation comes after all: the contents stay. */
    apply_name(h, make);
    assert_int_equal(look(h, "d").size, 7);
}

static void a_directory_has_one_name_and_never_lies_in_itself(void **state)
{
    struct hand *h = *state;
    h->p->kinds.at[10] = FILE_DIRECTORY;
    uint64_t below = program_does(
        h->p, (struct event){.call = CALL_MKDIR, .dir = 2, .name = A, .file = 10, .mode = 0755});
    uint64_t into = program_does(
        h->p,
        (struct event){
            .call = CALL_RENAME, .dir = 1, .name = A, .other_dir = 10, .other_name = B, .file = 2});
    uint64_t twice = program_does(
        h->p,
        (struct event){
            .call = CALL_RENAME, .dir = 1, .name = D, .other_dir = 1, .other_name = C, .file = 10});
    apply_name(h, below);
    struct state_hash before = state_hash(h->s);
    apply_name(h, into);
    struct state_hash after = state_hash(h->s);
    assert_int_equal(at(h, "a/a"), 10);
    assert_memory_equal(&before, &after, sizeof before);
    apply_name(h, twice);
    assert_int_equal(at(h, "a/a"), 0);
    assert_int_equal(at(h, "c"), 10);
}

static void what_moves_in_brings_its_contents_and_what_moves_out_is_gone(void **state)
{
    struct hand *h = *state;
    uint64_t in = program_does(h->p, (struct event){.call = CALL_RENAME,
                                                    .traits = EVENT_MOVED_IN,
                                                    .other_dir = 1,
                                                    .other_name = B,
                                                    .file = 5,
                                                    .other = 3,
                                                    .mode = 0640,
                                                    .size = 4100,
                                                    .payload = h->new});
    uint64_t out = program_does(
        h->p, (struct event){
                  .call = CALL_RENAME, .traits = EVENT_MOVED_OUT, .dir = 1, .name = A, .file = 2});
    apply_name(h, in);
    holds(h, 5, "n4100");
    assert_int_equal(look(h, "b").mode, 0640);
    apply_name(h, out);
    assert_int_equal(at(h, "a"), 0);
}

static void a_copy_counts_once(void **state)
{
    struct hand *h = *state;
    struct op op = {.kind = OP_DATA, .file = 3, .length = 10, .payload = h->new};
    struct op later = {.kind = OP_DATA, .file = 3, .length = 5, .payload = h->old};
    struct op copy = op;
    copy.flags = OP_CARRIED;
    copy.carried = 0;
    apply(h, op);
    apply(h, later);
    apply(h, copy);
    holds(h, 3, "o5 n5 o4990");
    state_undo(h->s, 0);
    struct error e;
    assert_true(state_apply(h->s, &copy, 2, &e));
    assert_true(state_apply(h->s, &later, 3, &e));
    assert_true(state_apply(h->s, &copy, 4, &e));
    holds(h, 3, "o5 n5 o4990");
}

static void a_replaced_name_goes_without_the_rename(void **state)
{
    struct hand *h = *state;
    uint64_t over = program_does(h->p, (struct event){.call = CALL_RENAME,
                                                      .dir = 2,
                                                      .name = C,
                                                      .other_dir = 1,
                                                      .other_name = B,
                                                      .file = 4,
                                                      .other = 3});
    struct op rename = {.kind = OP_NAME, .file = 4, .event = over};
    struct op replaced = {.kind = OP_NAME, .flags = OP_REPLACED, .file = 3, .event = over};
    struct error e;
    replaced.carried = 0;
    h->s = program_start(h->p);
    assert_true(state_apply(h->s, &replaced, 1, &e));
    assert_int_equal(at(h, "b"), 0);
    /* A copy of the rename may still come. */
    struct op copy = rename;
    copy.flags = OP_CARRIED;
    copy.carried = 0;
    assert_true(state_apply(h->s, &copy, 2, &e));
    assert_int_equal(at(h, "b"), 4);
    state_undo(h->s, 0);
    assert_int_equal(at(h, "b"), 3);
    assert_true(state_apply(h->s, &rename, 0, &e));
    assert_true(state_apply(h->s, &replaced, 1, &e)); /* nothing is left to go */
    assert_int_equal(at(h, "b"), 4);
}

static void a_failed_read_leaves_the_state_as_it_was(void **state)
{
    struct hand *h = *state;
    struct error e;
    struct op op = {.kind = OP_DATA,
                    .flags = OP_EXTENDS,
                    .file = 3,
                    .offset = 100,
                    .length = 9000,
                    .size = 9100};
    h->s = program_start(h->p);
    struct state_hash before = state_hash(h->s);
    op.payload = h->p->bytes.n - 5000; /* there is something for the first blocks only */
    assert_false(state_apply(h->s, &op, 0, &e));
    struct state_hash after = state_hash(h->s);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(state_mark(h->s), 0);
    holds(h, 3, "o5000");
    op.offset = UINT64_MAX - 3;
    assert_false(state_apply(h->s, &op, 0, &e));
}

static void many_small_patches_of_one_block_are_all_there(void **state)
{
    struct hand *h = *state;
    for (uint64_t i = 0; i < 300; i++)
        apply(h, (struct op){
                     .kind = OP_DATA, .file = 3, .offset = i * 4, .length = 2, .payload = h->new});
    char bytes[1200];
    struct error e;
    /* Bytes of other blocks push those of this one out of the cache. */
    apply(h, (struct op){.kind = OP_DATA, .file = 4, .length = OP_BLOCK_SIZE, .payload = h->new});
    for (uint64_t i = 0; i < 5000; i++)
        apply(h, (struct op){.kind = OP_DATA,
                             .file = 5,
                             .offset = i * OP_BLOCK_SIZE,
                             .length = 1,
                             .payload = h->new});
    assert_true(state_read(h->s, 3, 0, bytes, sizeof bytes, &e));
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], i % 4 < 2 ? 'n' : 'o');
}

/* Random programs */

enum { PROGRAMS = 1500, MOVES = 10, IMAGE_STEPS = 8, STEPS = 14 };

/* The ops applied at the moment, with the mark from before each. */
struct position {
    vec_of(uint32_t) ops;
    vec_of(size_t) marks;
};

/* Goes to another set of ops, by way of what both begin with. */
static void move_to(struct program *p, struct state *s, struct position *now, const bool *in)
{
    size_t keep = 0;
    uint32_t op = 0;
    for (; keep < now->ops.n; keep++, op++) {
        while (op < now->ops.at[keep] && !in[op])
            op++;
        if (op != now->ops.at[keep] || !in[op])
            break;
    }
    if (keep < now->ops.n) {
        state_undo(s, now->marks.at[keep]);
        now->ops.n = now->marks.n = keep;
    }
    for (op = keep ? now->ops.at[keep - 1] + 1 : 0; op < p->ops.n; op++) {
        if (!in[op])
            continue;
        vec_push(&now->ops, op);
        vec_push(&now->marks, state_mark(s));
        program_apply(p, s, op);
    }
}

static void pick_ops(struct program *p, bool *in)
{
    unsigned lost = pick(p, 4);
    size_t end = pick(p, 3) ? p->ops.n : pick(p, (unsigned)p->ops.n + 1);
    for (size_t i = 0; i < p->ops.n; i++)
        in[i] = i < end && (lost == 0 || pick(p, lost == 1 ? 10 : 2) != 0);
}

/* Hash of the text to the state's hash and back: equal where and only where the other is. */
static void check_hash(struct map same[static 2], const char *text, struct state_hash hash)
{
    uint64_t of_text = XXH3_64bits(text, strlen(text)) | 1, of_state = hash.low | 1;
    uint64_t *state_of = map_put(&same[0], &of_text, sizeof of_text, NULL);
    uint64_t *text_of = map_put(&same[1], &hash, sizeof hash, NULL);
    if ((*state_of && *state_of != of_state) || (*text_of && *text_of != of_text))
        fail_msg("the hash and what can be seen do not agree:\n%s", text);
    *state_of = of_state;
    *text_of = of_text;
}

static void every_set_of_ops_gives_what_the_plainest_way_gives(void **unused)
{
    (void)unused;
    struct map same[2] = {{0}};
    for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
        struct program *p = program_new(seed, seed % 3 ? IMAGE_STEPS : 0, STEPS);
        struct state *s = program_start(p);
        struct position now = {.ops.n = 0};
        bool *in = xcalloc(p->ops.n + 1, 1);
        struct state_hash start = state_hash(s);
        for (int i = 0; i < MOVES; i++) {
            pick_ops(p, in);
            move_to(p, s, &now, in);
            struct naive *n = naive_new(p);
            for (uint32_t op = 0; op < p->ops.n; op++)
                if (in[op])
                    naive_apply(n, op);
            char *expected = naive_describe(n), *found = state_describe(s);
            if (strcmp(expected, found))
                fail_msg("seed %u, move %d: expected\n%sbut found\n%s", seed, i, expected, found);
            check_hash(same, found, state_hash(s));
            free(expected);
            free(found);
            naive_free(n);
        }
        state_undo(s, 0);
        struct state_hash end = state_hash(s);
        assert_memory_equal(&start, &end, sizeof start);
        vec_free(&now.ops);
        vec_free(&now.marks);
        free(in);
        state_free(s);
        program_free(p);
    }
    map_free(&same[0]);
    map_free(&same[1]);
}

static void what_has_no_name_is_not_found(void **state)
{
    static const char *const others[] = {"c", "a/", "/a", "/", "a/c", "b/c", "a//c", "ab", "a/."};
    struct hand *h = *state;
    struct buf path = {0};
    struct state_name found;
    uint64_t remove = program_does(
        h->p, (struct event){
                  .call = CALL_UNLINK, .dir = 1, .name = B, .file = 3, .traits = EVENT_LAST_NAME});
    apply(h, (struct op){.kind = OP_SIZE, .file = 3, .size = 100});
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(state_find(h->s, others[i], &found));
    assert_true(state_find(h->s, "", &found));
    assert_int_equal(found.kind, FILE_DIRECTORY);
    assert_true(state_find_file(h->s, 3, &path, &found));
    assert_string_equal(found.path, "b");
    apply_name(h, remove);
    assert_false(state_find(h->s, "b", &found));
    assert_false(state_find_file(h->s, 3, &path, &found));
    assert_false(state_find_file(h->s, 17, &path, &found));
    buf_free(&path);
}

static void names_that_are_one_file_have_another_hash_than_two_like_files(void **state)
{
    struct hand *h = *state;
    struct event make = {
        .call = CALL_OPEN, .traits = EVENT_CREATED, .dir = 2, .name = C, .file = 6, .mode = 0600};
    uint64_t one = program_does(h->p, make);
    make.name = D;
    make.file = 7;
    uint64_t two = program_does(h->p, make);
    uint64_t link =
        program_does(h->p, (struct event){.call = CALL_LINK, .dir = 2, .name = D, .file = 6});
    apply_name(h, one);
    size_t mark = state_mark(h->s);
    apply_name(h, two);
    struct state_hash like = state_hash(h->s);
    state_undo(h->s, mark);
    apply_name(h, link);
    struct state_hash same = state_hash(h->s);
    assert_memory_not_equal(&like, &same, sizeof like);
}

int main(void)
{
#define by_hand(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        by_hand(data_beyond_the_length_is_hidden_until_a_length_covers_it),
        by_hand(shrinking_drops_data_for_good),
        by_hand(a_length_also_drops_what_was_hidden),
        by_hand(alloc_changes_no_bytes_and_at_least_the_length),
        by_hand(data_goes_over_block_boundaries),
        by_hand(ranges_do_what_their_fallocate_did),
        by_hand(names_come_move_and_go),
        by_hand(exchange_swaps_directories_and_files),
        by_hand(what_was_lost_before_does_not_make_an_op_fail),
        by_hand(a_directory_has_one_name_and_never_lies_in_itself),
        by_hand(what_moves_in_brings_its_contents_and_what_moves_out_is_gone),
        by_hand(a_copy_counts_once),
        by_hand(a_replaced_name_goes_without_the_rename),
        by_hand(a_failed_read_leaves_the_state_as_it_was),
        by_hand(many_small_patches_of_one_block_are_all_there),
        by_hand(what_has_no_name_is_not_found),
        by_hand(names_that_are_one_file_have_another_hash_than_two_like_files),
        cmocka_unit_test(every_set_of_ops_gives_what_the_plainest_way_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
