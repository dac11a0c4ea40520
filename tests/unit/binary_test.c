/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/compile.h"

#include <sys/stat.h>
#include <time.h>

#include "engine/binary.h"
#include "engine/buf.h"

static void add_site(void *data, const struct binary_site *s)
{
    struct buf *out = data;
    const char *slash = s->file ? strrchr(s->file, '/') : NULL;

    buf_printf(out, "%s%s %s:%u\n", s->function ? s->function : "?", s->inlined ? " inlined" : "",
               slash     ? slash + 1
               : s->file ? s->file
                         : "-",
               s->line);
}

static void expect_sites(const char *folder, const char *program, uint64_t address,
                         const char *expected)
{
    char id[128], *path = path_in(folder, program);
    struct error why;
    struct buf got = {0};

    build_id(folder, program, id, sizeof id);
    struct binary *b = binary_open(path, id, 0, BINARY_LINES, &why);
    if (!b)
        fail_msg("%s: %s", path, why.text);
    binary_sites(b, address, add_site, &got);
    assert_string_equal(buf_string(&got), expected);
    binary_close(b);
    buf_free(&got);
    free(path);
}

#define NESTED_SITES "leaf inlined prog.c:3\nmiddle inlined prog.c:7\nouter prog.c:11\n"

/* Every way to build a program that users have gives the same answer. */
static void inlined_functions_come_innermost_first(void **state)
{
    static const char *const builds[] = {
        "cc -g -O2 -o prog prog.c",
        "cc -g -O2 -no-pie -o prog prog.c",
        "cc -g -O2 -static -o prog prog.c",
        "cc -g -O0 -gdwarf-4 -o prog prog.c",
        "cc -g -O2 -shared -fPIC -o prog prog.c",
        "cc -g -O2 -gsplit-dwarf -o prog prog.c",
        "cc -g -O2 -gz -o prog prog.c",
        "mkdir -p sub && cd sub && cc -g -O2 -o ../prog ../prog.c",
        "! command -v clang >/dev/null || clang -g -O2 -o prog prog.c", /* no .debug_aranges */
        "! command -v clang >/dev/null || clang -g -O1 -gdwarf-4 -no-pie -o prog prog.c",
    };

    (void)state;
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        char *folder = folder_make();
        file_write(folder, "prog.c", NESTED_PROGRAM);
        shell(folder, "cc -g -O2 -o prog prog.c"); /* for where a compiler is not there */
        shell(folder, builds[i]);
        expect_sites(folder, "prog", symbol_address(folder, "prog", "probe"), NESTED_SITES);
        folder_remove(folder);
    }
}

static void separate_debug_files_are_found(void **state)
{
    char *folder = folder_make();

    (void)state;
    file_write(folder, "prog.c", NESTED_PROGRAM);
    shell(folder, "cc -g -O2 -o prog prog.c");
    uint64_t probe = symbol_address(folder, "prog", "probe");
    shell(folder, "objcopy --only-keep-debug prog prog.debug && strip prog"
                  " && objcopy --add-gnu-debuglink=prog.debug prog");
    expect_sites(folder, "prog", probe, NESTED_SITES);
    folder_remove(folder);
}

static void without_debug_info_the_symbol_table_answers(void **state)
{
    char *folder = folder_make();

    (void)state;
    file_write(folder, "prog.c", NESTED_PROGRAM);
    shell(folder, "cc -O2 -o prog prog.c && cc -O2 -shared -fPIC -o lib.so prog.c");
    uint64_t address = symbol_address(folder, "prog", "outer");
    expect_sites(folder, "prog", address, "outer -:0\n");

    address = symbol_address(folder, "lib.so", "outer");
    shell(folder, "strip lib.so prog");
    expect_sites(folder, "lib.so", address, "outer -:0\n"); /* .dynsym stays */
    expect_sites(folder, "prog", address, "");              /* nothing does */
    folder_remove(folder);
}

static void functions_of_cpp_are_demangled(void **state)
{
    char *folder = folder_make();

    (void)state;
    file_write(folder, "prog.cc",
               "template <class T> struct Table {\n"
               "    T x;\n"
               "    void put() const { __asm__ volatile(\".globl probe\\nprobe: nop\"); }\n"
               "};\n"
               "namespace {\n"
               "__attribute__((noinline)) void fill(const Table<long> &t) {\n"
               "    t.put();\n"
               "}\n"
               "}\n"
               "int main() {\n"
               "    fill(Table<long>());\n"
               "}\n");
    shell(folder, "c++ -g -O2 -o prog prog.cc");
    expect_sites(folder, "prog", symbol_address(folder, "prog", "probe"),
                 "Table<long>::put inlined prog.cc:3\n"
                 "(anonymous namespace)::fill prog.cc:7\n");
    folder_remove(folder);
}

static void add_file(void *data, const struct binary_site *s)
{
    buf_printf(data, "%s\n", s->file);
}

static void files_are_absolute(void **state)
{
    char *folder = folder_make(), *path = path_in(folder, "prog");
    struct error why;
    struct binary *b;
    struct buf got = {0};

    (void)state;
    file_write(folder, "prog.c", NESTED_PROGRAM);
    shell(folder, "mkdir sub && cd sub && cc -g -O2 -o ../prog ../prog.c");
    b = binary_open(path, "", 0, BINARY_LINES, &why);
    assert_non_null(b);
    binary_sites(b, symbol_address(folder, "prog", "probe"), add_file, &got);
    char *expected = xasprintf("%s/sub/../prog.c\n", folder);
    assert_int_equal(strncmp(buf_string(&got), expected, strlen(expected)), 0);
    free(expected);
    buf_free(&got);
    binary_close(b);
    free(path);
    folder_remove(folder);
}

static void another_binary_gives_no_answers(void **state)
{
    char *folder = folder_make(), *path = path_in(folder, "prog"), id[128];
    struct error why;
    struct stat st;

    (void)state;
    file_write(folder, "prog.c", NESTED_PROGRAM);
    shell(folder, "cc -g -O2 -o prog prog.c");
    build_id(folder, "prog", id, sizeof id);
    shell(folder, "cc -g -O0 -o prog prog.c");
    assert_null(binary_open(path, id, 0, BINARY_LINES, &why));
    assert_string_equal(why.text, "changed since the recording");

    /* Without a build id the time has to do. */
    shell(folder, "cc -g -O0 -Wl,--build-id=none -o prog prog.c");
    assert_int_equal(stat(path, &st), 0);
    assert_null(binary_open(path, "", st.st_mtime - 10, BINARY_LINES, &why));
    struct binary *b = binary_open(path, "", st.st_mtime + 10, BINARY_LINES, &why);
    assert_non_null(b);
    binary_close(b);
    assert_null(binary_open(path, id, 0, BINARY_LINES, &why)); /* it had one then */

    shell(folder, "rm prog");
    assert_null(binary_open(path, id, 0, BINARY_LINES, &why));
    assert_string_equal(why.text, "no longer there");
    free(path);
    folder_remove(folder);
}

static void what_is_no_binary_is_refused(void **state)
{
    char *folder = folder_make();
    struct error why;
    static const char *const names[] = {"text", "pipe", "folder", "empty", "link"};

    (void)state;
    file_write(folder, "text", "hello\n");
    file_write(folder, "empty", "");
    shell(folder, "mkfifo pipe && mkdir folder && ln -s link link");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_in(folder, names[i]);
        why.text[0] = 0;
        assert_null(binary_open(path, "", 0, BINARY_LINES, &why)); /* and does not wait for the pipe */
        assert_true(why.text[0] != 0);
        free(path);
    }
    assert_null(binary_open("[vdso]", "", 0, BINARY_LINES, &why));
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_functions_come_innermost_first),
        cmocka_unit_test(separate_debug_files_are_found),
        cmocka_unit_test(without_debug_info_the_symbol_table_answers),
        cmocka_unit_test(functions_of_cpp_are_demangled),
        cmocka_unit_test(files_are_absolute),
        cmocka_unit_test(another_binary_gives_no_answers),
        cmocka_unit_test(what_is_no_binary_is_refused),
    };

    return cmocka_run_group_tests_name("binary", tests, NULL, NULL);
}
