/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inserts, replacements, deletions and a reorganisation of a GDBM file, without its mapping: all
 * goes out by lseek and write. The reorganisation writes a second file and renames it over.
 *
 *     gdbm DIR
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
    REORGANISE_AT = 1000
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
    if (i == REORGANISE_AT)
        must(file, "reorganise", gdbm_reorganize(file));
}

int main(int argc, char **argv)
{
    char path[4096];

    if (argc != 2) {
        fprintf(stderr, "usage: gdbm DIR\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/data.gdbm", argv[1]);
    GDBM_FILE file = gdbm_open(path, 0, GDBM_WRCREAT | GDBM_NOMMAP, 0644, NULL);
    must(NULL, path, file == NULL);
    for (int i = 0; i < RECORDS; i++)
        step(file, i);
    must(file, "close", gdbm_close(file));
    printf("%d records\n", RECORDS);
    return 0;
}
