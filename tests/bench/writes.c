/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The benchmark's plain loop: small writes with an fdatasync now and then, and a file renamed into
 * place now and then; called through as many functions as in a storage engine (LevelDB: ten).
 *
 *     writes DIR [WRITES]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_WRITES = 20000, SIZE = 120, SYNC_EVERY = 20, RENAME_EVERY = 200, LAYERS = 8 };

static int write_record(int fd, int i)
{
    char record[SIZE];

    memset(record, 'a' + i % 26, sizeof record);
    if (write(fd, record, sizeof record) != (ssize_t)sizeof record)
        return -1;
    return i % SYNC_EVERY ? 0 : fdatasync(fd);
}

__attribute__((noinline)) static int store(int fd, int i, int layers)
{
    int failed = layers ? store(fd, i, layers - 1) : write_record(fd, i);
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    if (argc < 2 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: writes DIR [WRITES]\n");
        return 2;
    }
    int writes = argc > 2 ? atoi(argv[2]) : DEFAULT_WRITES;
    int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (int i = 0; i < writes; i++) {
        if (store(fd, i, LAYERS) != 0)
            return 1;
        if (i % RENAME_EVERY == 0) {
            int new = open("new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
            if (store(new, i, LAYERS) != 0 || close(new) != 0 || rename("new", "current") != 0)
                return 1;
        }
    }
    return close(fd);
}
