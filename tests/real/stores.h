/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program that stores to mapped files in every way there is; see stores.c.
 */
#ifndef TESTS_REAL_STORES_H
#define TESTS_REAL_STORES_H

#include <stdbool.h>
#include <stddef.h>

void must(const char *what, bool ok);

/* A shared mapping of the file (made, and of that size). */
char *map_file(const char *name, size_t size);

/* stores_instructions.c: instructions of every kind, on a page of zeros each. */
enum { INSTRUCTION_PAGES = 16, PAGE = 4096 };
void all_instructions(char *map);

/* One that Valgrind cannot run. */
int avx512(char *map);
int movdir64b(char *map);

#endif
