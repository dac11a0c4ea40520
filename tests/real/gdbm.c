/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inserts, replacements and deletions in a GDBM file, without its mapping: all goes out by lseek
 * and write. In the middle everything is copied to a second file, which is renamed over the first;
 * gdbm_reorganize() does the same, but by a mapping whatever it was told. With "mmap" as a second
 * argument the mapping is used, as it is by default.
 *
 *     gdbm DIR [mmap]
 */
#include <gdbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORDS = 1500,
    KEYS = 700,
    VALUE_BASE = 20,
    VALUE_SPREAD = 300,
    DELETE_EVERY = 4,
    SYNC_EVERY = 300,
    COPY_AT = 1000,
    PATH_LENGTH = 4096,
};

static void must(GDBM_FILE file, const char *what, int rc)
{
    if (rc) {
        fprintf(stderr, "gdbm: %s: %s\n", what, file ? gdbm_db_strerror(file) : "cannot");
        exit(1);
    }
}

static void step(GDBM_FILE file, int i)
{
    static char value[VALUE_BASE + VALUE_SPREAD];
    int number = (int)((long)i * 7919 % KEYS);
    datum key = {(char *)&number, sizeof number};
    datum content = {value, VALUE_BASE + i * 31 % VALUE_SPREAD};

    memset(value, 'a' + i % 26, (size_t)content.dsize);
    must(file, "store", gdbm_store(file, key, content, GDBM_REPLACE));
    if (i % DELETE_EVERY == 0) {
        number = (int)((long)i * 104729 % KEYS);
        if (gdbm_exists(file, key))
            must(file, "delete", gdbm_delete(file, key));
    }
    if (i % SYNC_EVERY == 0)
        must(file, "sync", gdbm_sync(file));
}

static int how = GDBM_WRCREAT | GDBM_NOMMAP;

static GDBM_FILE open_file(const char *path)
{
    GDBM_FILE file = gdbm_open(path, 0, how, 0644, NULL);
    must(NULL, path, file == NULL);
    return file;
}

/* Both are closed; the new one takes the old one's place. */
static void copy_over(GDBM_FILE old, const char *path)
{
    char second[PATH_LENGTH + 8];
    snprintf(second, sizeof second, "%s.new", path);
    GDBM_FILE new = open_file(second);
    datum key = gdbm_firstkey(old);
    while (key.dptr) {
        datum content = gdbm_fetch(old, key), next = gdbm_nextkey(old, key);
        must(new, "copy", gdbm_store(new, key, content, GDBM_INSERT));
        free(content.dptr);
        free(key.dptr);
        key = next;
    }
    must(old, "close", gdbm_close(old));
    must(new, "close", gdbm_close(new));
    must(NULL, "rename", rename(second, path));
}

int main(int argc, char **argv)
{
    char path[PATH_LENGTH];

    if (argc == 3 && strcmp(argv[2], "mmap") == 0)
        how = GDBM_WRCREAT;
    else if (argc != 2) {
        fprintf(stderr, "usage: gdbm DIR [mmap]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/data.gdbm", argv[1]);
    GDBM_FILE file = open_file(path);
    for (int i = 0; i < RECORDS; i++) {
        step(file, i);
        if (i == COPY_AT) {
            copy_over(file, path);
            file = open_file(path);
        }
    }
    must(file, "close", gdbm_close(file));
    printf("%d records\n", RECORDS);
    return 0;
}
