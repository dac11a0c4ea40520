/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * target: what the samples of this folder share, so that each shows little but its own idea. The
 * calls that a sample is about stand in the sample itself, never here.
 */
#ifndef TARGET_H
#define TARGET_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `make FIXED=1` builds a sample without its mistake. */
#ifdef FIXED
enum { fixed = 1 };
#else
enum { fixed = 0 };
#endif

enum { PATH_LENGTH = 4096, LINE_LENGTH = 64 };

/* The keys of those samples that are stores of values, from 0. */
enum { KEYS = 8 };

/* What a checker exits with. */
enum { CONSISTENT = 0, INCONSISTENT = 1, RECOVERY_FAILED = 99 };

static inline bool complain(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return false;
}

static inline const char *path_in(char path[PATH_LENGTH], const char *dir, const char *name)
{
    snprintf(path, PATH_LENGTH, "%s/%s", dir, name);
    return path;
}

static inline int open_in(const char *dir, const char *name, int flags)
{
    char path[PATH_LENGTH];
    int fd = open(path_in(path, dir, name), flags, 0644);
    if (fd < 0 && errno != ENOENT)
        complain(path);
    return fd;
}

static inline bool sync_folder(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok || complain(dir);
}

/* Reads at most size bytes of a file; the number read, 0 when there is no such file. */
static inline size_t read_in(const char *dir, const char *name, void *bytes, size_t size)
{
    int fd = open_in(dir, name, O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, bytes, size);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* FNV-1a. Never 0, so that a block of zeros is no sound record. */
static inline uint32_t checksum(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ p[i]) * 16777619u;
    return sum ? sum : 1;
}

/* The lines that the program had printed before the crash; NULL when it had printed nothing. */
static inline FILE *acknowledgements(void)
{
    const char *printed = getenv("FLOTSAM_STDOUT");
    return printed ? fopen(printed, "r") : NULL;
}

/* The next whole line; a line without its end was not printed. */
static inline bool next_line(FILE *f, char line[LINE_LENGTH])
{
    return f && fgets(line, LINE_LENGTH, f) && strchr(line, '\n');
}

/* For programs that count: the number in the last line that begins with the word; 0 when there is
 * none. */
static inline int acknowledged(const char *word)
{
    char line[LINE_LENGTH];
    size_t length = strlen(word);
    int number = 0;
    FILE *f = acknowledgements();
    while (next_line(f, line))
        if (!strncmp(line, word, length) && line[length] == ' ')
            number = atoi(line + length + 1);
    if (f)
        fclose(f);
    return number;
}

/* For stores of values that only grow, 0 where there is none: plays the lines "put KEY VALUE" and
 * compares. One put more may have begun. What the checker shall exit with. */
static inline int hold_to_puts(const int32_t values[KEYS])
{
    char line[LINE_LENGTH];
    int32_t expected[KEYS] = {0}, newest = 0;
    int different = 0, which = 0, key, value;
    FILE *f = acknowledgements();
    while (next_line(f, line))
        if (sscanf(line, "put %d %d", &key, &value) == 2 && key >= 0 && key < KEYS)
            expected[key] = newest = value;
    if (f)
        fclose(f);
    for (int i = 0; i < KEYS; i++)
        if (values[i] != expected[i]) {
            different++;
            which = i;
        }
    if (different == 0 || (different == 1 && values[which] == newest + 1))
        return CONSISTENT;
    fprintf(stderr, "%d keys are wrong; key %d is %d, acknowledged was %d\n", different, which,
            values[which], expected[which]);
    return INCONSISTENT;
}

#endif
