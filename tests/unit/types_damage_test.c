/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Apart from types_test.c for the reason that binary_damage_test.c gives: libdw leaks on damage.
 */
#include "tests/unit/damage.h"

#include "engine/type_words.h"
#include "engine/types.h"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdw.so\n";
}

static struct binary *only_binary(void *data, uint32_t module)
{
    return module == 1 ? data : NULL;
}

static bool show(void *data, const struct type_leaf *leaf)
{
    static const unsigned char object[1 << 16];
    struct buf *out = data;

    if (leaf->offset < sizeof object && leaf->size < sizeof object - leaf->offset)
        type_leaf_words(out, leaf, object);
    buf_text(out, type_name(leaf->type));
    return out->n < sizeof object;
}

/* Asks everything that can be asked about a piece of code. */
static size_t ask(struct binary *b, uint64_t low, uint64_t high)
{
    enum { STEP = 3, MEMORY = 0x10000 };
    static const unsigned char bytes[64] = {0, 0x10, 1};
    struct types *t = types_open(only_binary, b);
    size_t typed = 0;

    for (uint64_t at = low; at < high; at++) {
        struct frame frames[] = {
            {.module = 1, .flags = FRAME_EXACT, .address = at},
            {.module = 1, .address = high - (at - low)},
            {.module = 1, .address = at + STEP},
        };
        struct type_store store = {
            .frames = frames, .frame_count = 3, .address = MEMORY + at, .size = 8, .bytes = bytes};
        struct type_answer a;
        struct buf out = {0};
        types_stores(t, &store, 1, &a);
        types_path(&a, store.address, store.size, &out);
        types_store_words(&a, store.address, store.size, bytes, NULL, &out);
        if (a.type)
            type_walk(a.type, 0, a.type->size, show, &out);
        typed += a.type != NULL;
        buf_free(&out);
    }
    types_close(t);
    return typed;
}

enum { CODE = 600 }; /* bytes of code that are asked about */

static void ask_damaged(const char *path, void *data)
{
    uint64_t probe = *(uint64_t *)data;
    struct error why;
    struct binary *b = binary_open(path, "", 0, BINARY_LINES, &why);

    if (b)
        ask(b, probe, probe + CODE);
    binary_close(b);
}

/* Damage anywhere in the file may cost answers, never more. */
static void damaged_binaries_do_no_harm(const char *build)
{
    enum { ROUNDS = 300, FLIPS = 12 };
    char *folder = folder_make(), *path = path_in(folder, "prog");
    char *top = realpath("tests/unit/types", NULL);
    struct error why;

    assert_non_null(top);
    char *command = xasprintf("%s -D_GNU_SOURCE -I'%s' -o prog '%s/trees.c'", build, top, top);
    shell(folder, command);
    uint64_t probe = symbol_address(folder, "prog", "level_insert");
    struct binary *b = binary_open(path, "", 0, BINARY_LINES, &why);
    assert_non_null(b);
    assert_true(ask(b, probe, probe + CODE) > 0);
    binary_close(b);
    damage_file(folder, "prog", ROUNDS, FLIPS, ask_damaged, &probe);
    free(command);
    free(top);
    free(path);
    folder_remove(folder);
}

static void damaged_binaries_of_gcc_do_no_harm(void **state)
{
    (void)state;
    damaged_binaries_do_no_harm("gcc -g -O1");
}

static void damaged_binaries_of_clang_do_no_harm(void **state)
{
    (void)state;
    damaged_binaries_do_no_harm("clang -g -O0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_binaries_of_gcc_do_no_harm),
        cmocka_unit_test(damaged_binaries_of_clang_do_no_harm),
    };

    return cmocka_run_group_tests_name("types_damage", tests, NULL, NULL);
}
