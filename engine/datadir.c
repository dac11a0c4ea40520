/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/datadir.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/log.h"
#include "engine/mem.h"

enum { IDENTITY_MAX = 128 };

/* What tells this directory from another that takes its place. File systems without times of birth
 * give zeros: then the inode number has to do. */
static bool identity(const char *path, char text[IDENTITY_MAX], struct error *e)
{
    struct statx st;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME | STATX_TYPE, &st) != 0)
        return error_errno(e, "data directory %s", path);
    if (!S_ISDIR(st.stx_mode))
        return error_set(e, "data directory %s: not a directory", path);
    bool born = st.stx_mask & STATX_BTIME;
    snprintf(text, IDENTITY_MAX, "inode %" PRIu64 " born %" PRId64 ".%09" PRIu32 "\n",
             (uint64_t)st.stx_ino, born ? (int64_t)st.stx_btime.tv_sec : 0,
             born ? (uint32_t)st.stx_btime.tv_nsec : 0);
    return true;
}

/* path has no slash at its end. */
static char *mark_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return xasprintf("%.*s.%s.made-by-flotsam", (int)(name - path), path, name);
}

static bool is_ours(const char *path, const char *mark, bool *ours, struct error *e)
{
    char now[IDENTITY_MAX], then[IDENTITY_MAX] = "";
    if (!identity(path, now, e))
        return false;
    FILE *f = fopen(mark, "re");
    *ours = f && fgets(then, sizeof then, f) && !strcmp(now, then);
    if (f)
        fclose(f);
    return true;
}

static bool write_mark(const char *path, const char *mark, struct error *e)
{
    char now[IDENTITY_MAX];
    if (!identity(path, now, e))
        return false;
    /* Not a link that somebody laid there. */
    unlink(mark);
    int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_errno(e, "cannot note that %s was made by flotsam: %s", path, mark);
    ssize_t n = write(fd, now, strlen(now));
    return (close(fd) == 0 && n == (ssize_t)strlen(now)) || error_errno(e, "%s", mark);
}

/* Everything below path, not path itself, without leaving its file system. */
static bool empty(const char *path, struct error *e)
{
    char *roots[] = {(char *)path, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    if (!fts)
        return error_errno(e, "cannot empty %s", path);
    bool ok = true;
    for (FTSENT *entry; ok && (entry = fts_read(fts));) {
        if (entry->fts_info == FTS_D && access(entry->fts_accpath, W_OK | X_OK) != 0)
            chmod(entry->fts_accpath, 0700); /* a program may leave folders it cannot write */
        if (entry->fts_level == FTS_ROOTLEVEL || entry->fts_info == FTS_D)
            continue;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) {
            errno = entry->fts_errno;
            ok = error_errno(e, "cannot empty %s: %s", path, entry->fts_path);
        } else if (remove(entry->fts_accpath) != 0)
            ok = error_errno(e, "cannot empty %s: %s", path, entry->fts_path);
    }
    fts_close(fts);
    return ok;
}

bool datadir_prepare(const char *given, enum datadir_was *was, struct error *e)
{
    char *path = xstrdup(given);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    char *mark = mark_of(path);
    enum datadir_was found = DATADIR_FOREIGN;
    bool ok, ours = false;
    struct stat st;
    if (mkdir(path, 0755) == 0) {
        found = DATADIR_MADE;
        ok = write_mark(path, mark, e);
    } else if (errno != EEXIST) {
        ok = error_errno(e, "cannot make the data directory %s", path);
    } else if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        ok = true; /* somebody's link: where it leads is theirs */
    } else {
        ok = is_ours(path, mark, &ours, e) && (!ours || empty(path, e));
        found = ours ? DATADIR_EMPTIED : DATADIR_FOREIGN;
    }
    log_info(CONFIG, "data directory %s: %s", path,
             found == DATADIR_MADE      ? "made"
             : found == DATADIR_EMPTIED ? "emptied"
                                        : "as it was found");
    if (was)
        *was = found;
    free(mark);
    free(path);
    return ok;
}
