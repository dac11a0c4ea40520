/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * filter: the seccomp filter that stops a program only at the calls that are watched; everything
 * else runs at native speed.
 */
#ifndef TRACER_FILTER_H
#define TRACER_FILTER_H

#include <linux/filter.h>

#include "engine/error.h"

struct filter {
    struct sock_fprog program;
};

/* Compiles the filter. Done before the fork: the child may then only install it. */
bool filter_build(struct filter *filter, struct error *e);
void filter_free(struct filter *filter);

/* Puts the calling process under the filter, for good and for all its children. Only system calls;
 * returns 0, or an errno. */
int filter_install(const struct filter *filter);

#endif
