/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool_command: a checker's command line, ready to be executed. A command that needs nothing of
 * the shell is executed directly, which saves a process start per crash state; every other goes
 * to /bin/sh -c. Both mean the same.
 */
#ifndef ENGINE_POOL_COMMAND_H
#define ENGINE_POOL_COMMAND_H

#include <stdbool.h>

#include "engine/error.h"

struct pool_command {
    char *path;  /* what to execute; relative paths begin in the checker's folder */
    char **argv; /* ended by NULL */
};

/* command may hold {dir}, which becomes dir; folder is where it will run. Fails when the program
 * that the command begins with does not exist or may not be executed. */
bool pool_command_make(struct pool_command *c, const char *command, const char *dir,
                       const char *folder, struct error *e);
void pool_command_free(struct pool_command *c);

/* The program that a name without a slash stands for, by PATH; NULL: none. The caller frees it. */
char *pool_command_find(const char *name, const char *folder);

#endif
