/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replace.h"

enum { DOCUMENT_LENGTH = 512, DOCUMENT_LINES = 5 };

static bool write_document(int fd, int version)
{
    char text[DOCUMENT_LENGTH];
    int n = snprintf(text, sizeof text, "version %d\n", version);
    for (int i = 0; i < DOCUMENT_LINES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "line %d of version %d\n", i, version);
    n += snprintf(text + n, sizeof text - (size_t)n, "end %d\n", version);
    return write(fd, text, (size_t)n) == n; /* bug:document-written */
}

static void path_with(char path[PATH_LENGTH], const char *dir, const char *name, const char *end)
{
    snprintf(path, PATH_LENGTH, "%s/%s%s", dir, name, end);
}

bool replace_by_rename(const char *dir, const char *name, int version)
{
    char path[PATH_LENGTH], new[PATH_LENGTH];
    path_with(path, dir, name, "");
    path_with(new, dir, name, ".new");
    int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0)
        return complain(new);
    bool ok = write_document(fd, version);
    /* The first mistake: without this the name may be there before the contents are. */
    if (fixed)
        ok = ok && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && rename(new, path) == 0; /* bug:document-renamed */
    return ok ? sync_folder(dir) : complain(path);
}

/* Opens by creating or emptying, fills, syncs. */
static bool rewrite(const char *dir, const char *path, int version)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644); /* bug:document-emptied */
    if (fd < 0)
        return complain(path);
    bool ok = write_document(fd, version) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    return ok ? sync_folder(dir) : complain(path);
}

bool replace_by_truncate(const char *dir, const char *name, int version)
{
    char path[PATH_LENGTH], copy[PATH_LENGTH];
    path_with(path, dir, name, "");
    path_with(copy, dir, name, ".copy");
    /* The second mistake: with nothing to fall back on, there is a time without a document. */
    if (fixed && !rewrite(dir, copy, version))
        return false;
    if (!rewrite(dir, path, version))
        return false;
    return !fixed || unlink(copy) == 0 || complain(copy);
}

/* The version of a whole document; NO_DOCUMENT where there is no file. */
static int version_of(const char *path)
{
    char text[DOCUMENT_LENGTH + 1], last[LINE_LENGTH];
    int version = 0;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NO_DOCUMENT;
    ssize_t n = read(fd, text, DOCUMENT_LENGTH);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "version %d\n", &version) != 1)
        return DAMAGED;
    size_t length = (size_t)snprintf(last, sizeof last, "\nend %d\n", version);
    bool whole = strlen(text) >= length && !strcmp(text + strlen(text) - length, last);
    return whole ? version : DAMAGED;
}

int replace_read(const char *dir, const char *name)
{
    char path[PATH_LENGTH];
    path_with(path, dir, name, ".copy");
    int version = version_of(path);
    if (version > 0)
        return version; /* the document itself may be in the works */
    path_with(path, dir, name, "");
    version = version_of(path);
    if (version == DAMAGED)
        fprintf(stderr, "%s is damaged\n", name);
    return version;
}
