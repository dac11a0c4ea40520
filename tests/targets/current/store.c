/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_LENGTH = 4096, LOG_LIMIT = 8 };

#ifdef FIXED
static const bool fixed = true;
#else
static const bool fixed = false;
#endif

static void path_of(char path[PATH_LENGTH], const struct store *s, const char *kind, int n)
{
    snprintf(path, PATH_LENGTH, n < 0 ? "%s/%s" : "%s/%s-%d", s->dir, kind, n);
}

static bool complain(const char *what)
{
    fprintf(stderr, "store: %s: %s\n", what, strerror(errno));
    return false;
}

static bool sync_folder(const struct store *s)
{
    int fd = open(s->dir, O_RDONLY | O_DIRECTORY);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok || complain(s->dir);
}

static bool open_log(struct store *s)
{
    char path[PATH_LENGTH];
    path_of(path, s, "log", s->generation);
    s->log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    return s->log >= 0 || complain(path);
}

static bool write_manifest(const struct store *s)
{
    char path[PATH_LENGTH];
    path_of(path, s, "manifest", s->generation);
    FILE *f = fopen(path, "w");
    if (!f)
        return complain(path);
    int count = 0;
    for (int key = 0; key < KEYS; key++)
        if (s->values[key] != ABSENT) {
            fprintf(f, "%d %d\n", key, s->values[key]);
            count++;
        }
    fprintf(f, "end %d\n", count);
    bool ok = fflush(f) == 0; /* bug:manifest-written */
    /* The first mistake: without this the rename may reach the disk before the manifest does. */
    if (fixed)
        ok = ok && fsync(fileno(f)) == 0;
    return (fclose(f) == 0 && ok) || complain(path);
}

static bool switch_current(const struct store *s)
{
    char new[PATH_LENGTH], current[PATH_LENGTH];
    path_of(new, s, "CURRENT.new", -1);
    path_of(current, s, "CURRENT", -1);
    FILE *f = fopen(new, "w");
    if (!f)
        return complain(new);
    bool ok = fprintf(f, "%d\n", s->generation) > 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
    ok = fclose(f) == 0 && ok;
    ok = ok && rename(new, current) == 0; /* bug:current-renamed */
    return ok || complain(current);
}

static void remove_generation(const struct store *s, int n)
{
    char path[PATH_LENGTH];
    path_of(path, s, "log", n);
    unlink(path); /* bug:log-removed */
    path_of(path, s, "manifest", n);
    unlink(path); /* bug:manifest-removed */
}

/* Everything a new generation needs, then the switch, then what it replaces. */
static bool next_generation(struct store *s, bool sync)
{
    int old = s->generation++;
    if (s->log >= 0)
        close(s->log);
    s->logged = 0;
    if (!open_log(s) || !write_manifest(s) || !sync_folder(s) || !switch_current(s))
        return false;
    if (sync && !sync_folder(s))
        return false;
    remove_generation(s, old);
    return true;
}

bool store_compact(struct store *s)
{
    return next_generation(s, true);
}

bool store_reset(struct store *s)
{
    for (int key = 0; key < KEYS; key++)
        s->values[key] = ABSENT;
    /* The second mistake, on a path that is rarely taken: the folder is not synced, so a reset
     * that was acknowledged may be undone. */
    return next_generation(s, fixed);
}

bool store_put(struct store *s, int key, int value)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%d %d\n", key, value);
    if (write(s->log, line, (size_t)n) != n || fdatasync(s->log) != 0)
        return complain("log");
    s->values[key] = value;
    return ++s->logged < LOG_LIMIT || store_compact(s);
}

/* Reads "key value" lines up to "end COUNT", which a manifest must have. A log may end in the
 * middle of a line: that put was never acknowledged. */
static bool read_values(struct store *s, const char *path, bool manifest)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return complain(path);
    char line[64];
    int count = 0, key, value, end = -1;
    bool ok = true;
    while (ok && end < 0 && fgets(line, sizeof line, f)) {
        if (!strchr(line, '\n'))
            ok = !manifest;
        else if (manifest && sscanf(line, "end %d", &end) == 1)
            ok = end == count;
        else if (sscanf(line, "%d %d", &key, &value) == 2 && key >= 0 && key < KEYS) {
            s->values[key] = value;
            count++;
        } else
            ok = false;
    }
    fclose(f);
    ok = ok && (!manifest || end >= 0);
    s->logged = count;
    if (!ok)
        fprintf(stderr, "store: %s is damaged\n", path);
    return ok;
}

bool store_read(struct store *s, const char *dir)
{
    char path[PATH_LENGTH];
    *s = (struct store){.dir = dir, .log = -1};
    for (int key = 0; key < KEYS; key++)
        s->values[key] = ABSENT;
    path_of(path, s, "CURRENT", -1);
    FILE *f = fopen(path, "r");
    if (!f)
        return errno == ENOENT || complain(path); /* nothing was ever stored */
    int read = fscanf(f, "%d", &s->generation);
    fclose(f);
    if (read != 1) {
        fprintf(stderr, "store: %s is damaged\n", path);
        return false;
    }
    path_of(path, s, "manifest", s->generation);
    if (!read_values(s, path, true))
        return false;
    path_of(path, s, "log", s->generation);
    return read_values(s, path, false);
}

bool store_open(struct store *s, const char *dir)
{
    if (!store_read(s, dir))
        return false;
    return s->generation == 0 ? store_compact(s) : open_log(s);
}

void store_close(struct store *s)
{
    if (s->log >= 0)
        close(s->log);
    s->log = -1;
}
