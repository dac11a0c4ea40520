/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stress: what the random calls (stress_actions.c) need from the program around them (stress.c).
 */
#ifndef TESTS_REAL_STRESS_H
#define TESTS_REAL_STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    FIRST_SLOT = 100, /* descriptors with these numbers are the shared ones */
    SLOTS = 24,
    OWN_SLOTS = SLOTS / 3,
    DIRECTORY_SLOT = FIRST_SLOT + SLOTS, /* only ever a directory below the data directory */
    DIRECTORY_SLOTS = 4,
    BLOCK = 4096,
    BUFFER_SIZE = 8 * BLOCK,
    PATH_MAX_LENGTH = 512,
    ACTIONS_MAX = 64,
};

#define HUGE_OFFSET ((off_t)5 << 30)         /* past 32 bits */
#define FILE_LIMIT  (((off_t)6 << 30) + 100) /* RLIMIT_FSIZE: writes across it are short */

struct actor {
    uint64_t seed;
    unsigned number;
    int calls;
    char *buffer; /* BUFFER_SIZE bytes, aligned for O_DIRECT */
    char *cliff;  /* the first byte after good memory */
    int pipe[2];
    unsigned made[ACTIONS_MAX], succeeded[ACTIONS_MAX];
};

struct action {
    const char *name;
    unsigned weight;
    long (*run)(struct actor *a); /* negative when the call failed */
};

extern const struct action actions[];
extern const size_t action_count;
const struct action *pick_action(struct actor *a);

/* Choices; each consumes the actor's own random numbers only. */
uint64_t next(struct actor *a);
unsigned below(struct actor *a, unsigned n);
bool chance(struct actor *a, unsigned percent);
int slot(struct actor *a);
off_t place(struct actor *a);
size_t length(struct actor *a);
const void *bytes(struct actor *a, size_t *size);

/* Moves a new descriptor to a slot and closes it where it was. */
void keep(struct actor *a, int fd);

/* Paths, absolute or relative to wherever the process stands, written to out. */
const char *path(struct actor *a, char out[PATH_MAX_LENGTH]);
const char *directory(struct actor *a, char out[PATH_MAX_LENGTH]);
const char *fifo(struct actor *a, char out[PATH_MAX_LENGTH]);
const char *top(void);

/* A path with the descriptor that it is relative to. */
struct at {
    int dir;
    const char *name;
};
struct at at_path(struct actor *a, char out[PATH_MAX_LENGTH]);

#endif
