/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests that need a program to look at: a folder of their own, files in it, a compiler.
 */
#ifndef TESTS_UNIT_COMPILE_H
#define TESTS_UNIT_COMPILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/mem.h"

/* Three functions in one another; `probe` is the address inside the innermost. The lines are what
 * the tests expect: leaf at 3, called at 7, called at 11. */
#define NESTED_PROGRAM                                                                             \
    "static inline __attribute__((always_inline)) void leaf(void)\n"                               \
    "{\n"                                                                                          \
    "    __asm__ volatile(\".globl probe\\nprobe: nop\");\n"                                       \
    "}\n"                                                                                          \
    "static inline __attribute__((always_inline)) void middle(void)\n"                             \
    "{\n"                                                                                          \
    "    leaf();\n"                                                                                \
    "}\n"                                                                                          \
    "__attribute__((noinline)) int outer(int x)\n"                                                 \
    "{\n"                                                                                          \
    "    middle();\n"                                                                              \
    "    return x;\n"                                                                              \
    "}\n"                                                                                          \
    "int main(int argc, char **argv)\n"                                                            \
    "{\n"                                                                                          \
    "    return outer(argc) + (argv == 0);\n"                                                      \
    "}\n"

static inline char *folder_make(void)
{
    char template[] = "/tmp/flotsam-test-XXXXXX";

    assert_non_null(mkdtemp(template));
    char *real = realpath(template, NULL);
    assert_non_null(real);
    return real;
}

static inline void shell(const char *folder, const char *command)
{
    char *line = xasprintf("cd '%s' && { %s; }", folder, command);

    if (system(line) != 0)
        fail_msg("failed: %s", line);
    free(line);
}

static inline void folder_remove(char *folder)
{
    char *line = xasprintf("rm -rf '%s'", folder);
    assert_int_equal(system(line), 0);
    free(line);
    free(folder);
}

static inline char *path_in(const char *folder, const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static inline void file_write(const char *folder, const char *name, const char *text)
{
    char *path = path_in(folder, name);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    free(path);
}

/* The first line that a command prints, without its newline. */
static inline void shell_line(const char *folder, const char *command, char *out, size_t size)
{
    char *line = xasprintf("cd '%s' && { %s; }", folder, command);
    FILE *f = popen(line, "r");

    assert_non_null(f);
    out[0] = 0;
    if (!fgets(out, (int)size, f))
        out[0] = 0;
    out[strcspn(out, "\n")] = 0;
    pclose(f);
    free(line);
}

/* The address of a symbol as nm has it. */
static inline uint64_t symbol_address(const char *folder, const char *program, const char *symbol)
{
    char line[256], *command = xasprintf("nm '%s' | grep ' %s$'", program, symbol);

    shell_line(folder, command, line, sizeof line);
    free(command);
    assert_true(line[0] != 0);
    return strtoull(line, NULL, 16);
}

static inline void build_id(const char *folder, const char *program, char *out, size_t size)
{
    char *command = xasprintf("readelf -n '%s' | sed -n 's/.*Build ID: //p'", program);

    shell_line(folder, command, out, size);
    free(command);
}

#endif
