/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * made: sessions of any length for benchmarks, of a run that is made up: a few threads at a few
 * dozen tasks, each of which appends to a log and then replaces a file, changes blocks in place or
 * writes a new file. Some tasks never sync; and for long stretches nobody does.
 *
 * Who looks at a session wants more than who works it out: MADE_RICH has deeper stacks, calls of
 * other kinds (truncate, fallocate, mkdir, link, symlink, chmod), acknowledgements, and the text of
 * the program's sources.
 */
#ifndef TESTS_BENCH_MADE_H
#define TESTS_BENCH_MADE_H

#include <stdint.h>

#include "engine/error.h"

enum made_kind { MADE_PLAIN, MADE_RICH };

/* files: how many more are there before the run, empty, which nobody touches. With some, the first
 * write of the run has twice as many blocks. */
bool made_session(const char *path, uint64_t events, uint64_t files, enum made_kind kind,
                  struct error *e);

#endif
