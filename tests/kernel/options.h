/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options: which model a file system with these mount options has.
 */
#ifndef TESTS_KERNEL_OPTIONS_H
#define TESTS_KERNEL_OPTIONS_H

#include "engine/buf.h"
#include "engine/error.h"

/* Adds the model's name and switches in the words of expected.h. Fails when there is no model for
 * an option. */
bool options_model(const char *fs, const char *options, struct buf *out, struct error *e);

#endif
