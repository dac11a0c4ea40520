/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of a scene that moves names. A sync looks at the entries touched since the last one and
 * goes through three turns:
 *   1. When several directories move, all that do go to the store, so that none is ever in the way
 *      of another, or inside what it should hold.
 *   2. Each entry that should stand for another file than it does gets it: by a rename from a name
 *      that the file should not have, or from the store; by a link; or new. Whatever had the entry
 *      goes to the store first. A new directory brings the entries in it along.
 *   3. What still has an entry that should be empty goes to the store.
 */
#include "engine/scene.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/scene_inside.h"

enum {
    STORE_MAX = 256 * 1024 * 1024, /* bytes of files without names that are kept */
    SEARCH_FLAGS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

bool scene_failed(struct scene *c, const char *verb, const struct state_entry *entry)
{
    return error_errno(c->e, "cannot %s \"%s\" in directory %u", verb, entry->name,
                       entry->dir->number);
}

void scene_number(char out[static SCENE_NUMBER_MAX], uint32_t number)
{
    snprintf(out, SCENE_NUMBER_MAX, "%u", number);
}

static struct scene_file *scene_file(struct scene *c, const struct state_file *f)
{
    return &c->files.at[f->index];
}

/* Directories */

static int open_store(struct scene *c)
{
    if (c->store >= 0)
        return c->store;
    if (mkdir(c->store_path, SCENE_PRIVATE_DIRECTORY) != 0 ||
        (c->store = open(c->store_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
        error_errno(c->e, "cannot make the folder %s", c->store_path);
    return c->store;
}

/* Makes sure that modes do not keep us from working in a directory; the sync's end mends them. */
static bool loosen(struct scene *c, uint32_t file, int fd)
{
    struct scene_file *sf = &c->files.at[file];
    if (c->privileged || (sf->mode & S_IRWXU) == S_IRWXU)
        return true;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (chmod(path, SCENE_PRIVATE_DIRECTORY) != 0)
        return error_errno(c->e, "cannot open a directory of the state");
    sf->mode = SCENE_PRIVATE_DIRECTORY;
    scene_queue_mode(c, file);
    return true;
}

/* Opens one step of a way and closes the step before, unless that is to stay open. */
static int step_into(struct scene *c, uint32_t file, int from, bool close_from)
{
    const struct scene_file *sf = &c->files.at[file];
    char number[SCENE_NUMBER_MAX];
    const char *name = number;
    if (sf->names)
        name = c->state->entries.at[sf->names - 1]->name;
    else
        scene_number(number, c->state->files.at[file]->number);
    int fd = openat(from, name, SEARCH_FLAGS);
    if (fd < 0)
        error_errno(c->e, "cannot open \"%s\" in the state's folder", name);
    if (close_from)
        close(from);
    if (fd >= 0 && !loosen(c, file, fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* From the top, or from the store, down to a directory. */
static int open_way(struct scene *c, uint32_t dir)
{
    vec_of(uint32_t) way = {0};
    uint32_t at = dir;
    while (at != 0 && c->files.at[at].names) { /* the root is file 0 */
        vec_push(&way, at);
        at = c->state->entries.at[c->files.at[at].names - 1]->dir->index;
    }
    int fd = c->top;
    bool own = false;
    if (at != 0) {
        fd = open_store(c);
        vec_push(&way, at);
    } else if (!loosen(c, at, fd)) {
        fd = -1;
    }
    while (fd >= 0 && way.n) {
        fd = step_into(c, way.at[--way.n], fd, own);
        own = true;
    }
    vec_free(&way);
    return fd;
}

int scene_dir(struct scene *c, uint32_t dir)
{
    if (dir == 0)
        return loosen(c, dir, c->top) ? c->top : -1;
    for (unsigned i = 0; i < SCENE_FDS; i++) {
        if (c->fds[i].file != dir + 1)
            continue;
        c->last_fd = i;
        return loosen(c, dir, c->fds[i].fd) ? c->fds[i].fd : -1;
    }
    int fd = open_way(c, dir);
    if (fd < 0)
        return -1;
    unsigned turn = c->next_fd++ % SCENE_FDS;
    if (turn == c->last_fd) /* may still be in use */
        turn = c->next_fd++ % SCENE_FDS;
    c->last_fd = turn;
    struct scene_fd *slot = &c->fds[turn];
    if (slot->file)
        close(slot->fd);
    *slot = (struct scene_fd){dir + 1, fd};
    return fd;
}

/* Names as they are on disk */

static void disk_gives(struct scene *c, uint32_t entry, uint32_t file)
{
    struct scene_file *sf = &c->files.at[file];
    struct scene_entry *se = &c->entries.at[entry];
    se->file = file + 1;
    se->before = 0;
    se->after = sf->names;
    if (se->after)
        c->entries.at[se->after - 1].before = entry + 1;
    sf->names = entry + 1;
}

static void disk_takes(struct scene *c, uint32_t entry)
{
    struct scene_entry *se = &c->entries.at[entry];
    *(se->before ? &c->entries.at[se->before - 1].after : &c->files.at[se->file - 1].names) =
        se->after;
    if (se->after)
        c->entries.at[se->after - 1].before = se->before;
    se->file = se->before = se->after = 0;
}

/* What an entry should stand for on disk. A name in a directory that is out of sight would count
 * among the links of a file that has others. */
static struct state_file *wanted(const struct state_entry *entry)
{
    struct state_file *f = entry->file;
    if (!f || !file_shown(f))
        return NULL;
    bool several = f->names->after != NULL;
    return several && !directory_in_sight(entry->dir) ? NULL : f;
}

static struct state_file *occupant(const struct scene *c, const struct state_entry *entry)
{
    uint32_t file = c->entries.at[entry->index].file;
    return file ? c->state->files.at[file - 1] : NULL;
}

/* A directory that is moved must be writable itself. */
static bool may_move(struct scene *c, uint32_t file)
{
    return c->privileged || c->files.at[file].kind != FILE_DIRECTORY || scene_dir(c, file) >= 0;
}

static void now_waiting(struct scene *c, uint32_t file)
{
    struct scene_file *sf = &c->files.at[file];
    if (sf->kind != FILE_REGULAR)
        return;
    c->stored += sf->size;
    if (!sf->waiting)
        vec_push(&c->waiting, file);
    sf->waiting = true;
}

/* Takes away what an entry stands for: to the store when it is its last name. */
static bool evict(struct scene *c, const struct state_entry *entry)
{
    uint32_t file = c->entries.at[entry->index].file - 1;
    const struct scene_file *sf = &c->files.at[file];
    const struct scene_entry *se = &c->entries.at[entry->index];
    bool last = !se->before && !se->after;
    char number[SCENE_NUMBER_MAX];
    scene_number(number, c->state->files.at[file]->number);
    if (!may_move(c, file))
        return false;
    int dir = scene_dir(c, entry->dir->index), store = last ? open_store(c) : -1;
    if (dir < 0 || (last && store < 0))
        return false;
    if (last ? renameat(dir, entry->name, store, number) : unlinkat(dir, entry->name, 0))
        return scene_failed(c, "remove", entry);
    *(last ? &c->counts.renames : &c->counts.removals) += 1;
    disk_takes(c, entry->index);
    if (!sf->names)
        now_waiting(c, file);
    return true;
}

/* A name on disk that the file should not have. */
static const struct state_entry *name_to_spare(const struct scene *c, const struct state_file *f)
{
    for (uint32_t at = c->files.at[f->index].names; at; at = c->entries.at[at - 1].after) {
        const struct state_entry *entry = c->state->entries.at[at - 1];
        if (wanted(entry) != f)
            return entry;
    }
    return NULL;
}

static bool move_name(struct scene *c, struct state_file *f, const struct state_entry *from,
                      const struct state_entry *to)
{
    char number[SCENE_NUMBER_MAX];
    scene_number(number, f->number);
    if (!may_move(c, f->index))
        return false;
    int from_dir = from ? scene_dir(c, from->dir->index) : open_store(c);
    int to_dir = from_dir < 0 ? -1 : scene_dir(c, to->dir->index);
    if (to_dir < 0)
        return false;
    if (renameat(from_dir, from ? from->name : number, to_dir, to->name) != 0)
        return scene_failed(c, "move a file to", to);
    c->counts.renames++;
    if (from) {
        disk_takes(c, from->index);
        return true;
    }
    vec_push(&c->placed, f->index);
    if (f->kind == FILE_REGULAR)
        c->stored -= c->files.at[f->index].size;
    return true;
}

static bool link_name(struct scene *c, const struct state_file *f, const struct state_entry *to)
{
    const struct state_entry *from = c->state->entries.at[c->files.at[f->index].names - 1];
    int from_dir = scene_dir(c, from->dir->index);
    int to_dir = from_dir < 0 ? -1 : scene_dir(c, to->dir->index);
    if (to_dir < 0)
        return false;
    if (linkat(from_dir, from->name, to_dir, to->name, 0) != 0)
        return scene_failed(c, "link", to);
    c->counts.links++;
    return true;
}

static void queue_entry(struct scene *c, const struct state_entry *entry)
{
    struct scene_entry *se = &c->entries.at[entry->index];
    if (se->queued)
        return;
    se->queued = true;
    vec_push(&c->todo, entry->index);
}

static bool place(struct scene *c, struct state_file *f, const struct state_entry *entry)
{
    struct scene_file *sf = scene_file(c, f);
    const struct state_entry *spare = name_to_spare(c, f);
    if (!sf->on_disk) {
        if (!scene_make(c, f, entry))
            return false;
        vec_push(&c->placed, f->index);
        for (size_t i = 0; i < f->entries.n; i++)
            if (f->entries.at[i]->file)
                queue_entry(c, f->entries.at[i]);
    } else if (spare || !sf->names) {
        if (!move_name(c, f, spare, entry))
            return false;
    } else if (!link_name(c, f, entry)) {
        return false;
    }
    disk_gives(c, entry->index, f->index);
    return true;
}

/* The turns of a sync */

/* A file that comes back as another kind: what is on disk goes away under another name. */
static bool discard_other_kind(struct scene *c, const struct state_file *f)
{
    struct scene_file *sf = scene_file(c, f);
    if (!sf->on_disk || !f->exists ||
        (sf->kind == f->kind && (f->kind != FILE_SYMLINK || sf->born == f->born)))
        return true;
    while (sf->names)
        if (!evict(c, c->state->entries.at[sf->names - 1]))
            return false;
    char number[SCENE_NUMBER_MAX], junk[2 * SCENE_NUMBER_MAX];
    scene_number(number, f->number);
    snprintf(junk, sizeof junk, "gone-%llu", (unsigned long long)c->junk++);
    if (renameat(c->store, number, c->store, junk) != 0)
        return error_errno(c->e, "cannot remove file %u from the state's folder", f->number);
    for (unsigned i = 0; i < SCENE_FDS; i++) {
        if (c->fds[i].file == f->index + 1) {
            close(c->fds[i].fd);
            c->fds[i].file = 0;
        }
    }
    if (sf->kind == FILE_REGULAR)
        c->stored -= sf->size;
    bool waiting = sf->waiting, queued = sf->queued;
    scene_forget(sf);
    sf->waiting = waiting;
    sf->queued = queued;
    return true;
}

static void gather(struct scene *c)
{
    const struct state *s = c->state;
    const struct touched *head = &s->entries_touched;
    for (struct touched *at = head->after; at != head && at->step > c->seen; at = at->after)
        queue_entry(c, touched_as(at, struct state_entry, touched));
    if (s->linked_step <= c->seen)
        return;
    for (size_t i = 0; i < s->linked.n; i++)
        for (struct state_entry *name = s->linked.at[i]->names; name; name = name->after)
            queue_entry(c, name);
}

static bool part_directories(struct scene *c)
{
    size_t moving = 0;
    for (size_t i = 0; i < c->todo.n; i++) {
        const struct state_entry *entry = c->state->entries.at[c->todo.at[i]];
        const struct state_file *now = occupant(c, entry);
        moving += now && now->kind == FILE_DIRECTORY && wanted(entry) != now;
    }
    if (moving < 2)
        return true;
    for (size_t i = 0; i < c->todo.n; i++) {
        const struct state_entry *entry = c->state->entries.at[c->todo.at[i]];
        const struct state_file *now = occupant(c, entry);
        if (now && now->kind == FILE_DIRECTORY && wanted(entry) != now && !evict(c, entry))
            return false;
    }
    return true;
}

static bool place_names(struct scene *c)
{
    for (size_t i = 0; i < c->todo.n; i++) { /* grows */
        const struct state_entry *entry = c->state->entries.at[c->todo.at[i]];
        const struct state_file *now = occupant(c, entry);
        struct state_file *f = wanted(entry);
        c->entries.at[entry->index].queued = false; /* its directory may bring it again */
        if (!f || f == now || !scene_file(c, entry->dir)->on_disk)
            continue;
        if ((now && !evict(c, entry)) || !place(c, f, entry))
            return false;
    }
    return true;
}

static bool empty_names(struct scene *c)
{
    for (size_t i = 0; i < c->todo.n; i++) {
        const struct state_entry *entry = c->state->entries.at[c->todo.at[i]];
        if (occupant(c, entry) && !wanted(entry) && !evict(c, entry))
            return false;
    }
    return true;
}

static bool sync_file(struct scene *c, struct state_file *f)
{
    const struct scene_file *sf = scene_file(c, f);
    if (!sf->on_disk || (!sf->names && f->number != FILE_ROOT))
        return true;
    scene_queue_mode(c, f->index);
    return scene_contents(c, f);
}

static bool sync_files(struct scene *c)
{
    const struct touched *head = &c->state->files_touched;
    for (struct touched *at = head->after; at != head && at->step > c->seen; at = at->after)
        if (!sync_file(c, touched_as(at, struct state_file, touched)))
            return false;
    while (c->placed.n) {
        if (!sync_file(c, c->state->files.at[c->placed.at[c->placed.n - 1]]))
            return false;
        c->placed.n--;
    }
    return scene_modes(c);
}

/* What waited longest goes when too much does. */
static bool trim_store(struct scene *c)
{
    while (c->stored > STORE_MAX && c->waiting_first < c->waiting.n) {
        uint32_t file = c->waiting.at[c->waiting_first++];
        struct scene_file *sf = &c->files.at[file];
        char number[SCENE_NUMBER_MAX];
        sf->waiting = false;
        if (!sf->on_disk || sf->names || sf->kind != FILE_REGULAR)
            continue;
        scene_number(number, c->state->files.at[file]->number);
        if (unlinkat(c->store, number, 0) != 0)
            return error_errno(c->e, "cannot remove a file from %s", c->store_path);
        c->stored -= sf->size;
        scene_forget(sf);
    }
    if (2 * c->waiting_first > c->waiting.n) {
        c->waiting.n -= c->waiting_first;
        if (c->waiting.n)
            memmove(c->waiting.at, c->waiting.at + c->waiting_first,
                    c->waiting.n * sizeof *c->waiting.at);
        c->waiting_first = 0;
    }
    return true;
}

static bool discard_other_kinds(struct scene *c)
{
    const struct touched *head = &c->state->files_touched;
    for (struct touched *at = head->after; at != head && at->step > c->seen; at = at->after)
        if (!discard_other_kind(c, touched_as(at, struct state_file, touched)))
            return false;
    return true;
}

bool scene_sync(struct scene *c, struct state *s, struct error *e)
{
    if (c->state && c->state != s)
        return error_set(e, "a scene follows one state, and was given another");
    c->state = s;
    c->e = e;
    while (c->files.n < s->files.n)
        vec_push(&c->files, (struct scene_file){0});
    while (c->entries.n < s->entries.n)
        vec_push(&c->entries, (struct scene_entry){0});
    if (!c->files.at[0].on_disk) /* whatever mode the directory given has */
        c->files.at[0] =
            (struct scene_file){.on_disk = true, .kind = FILE_DIRECTORY, .mode = UINT32_MAX};
    bool ok = discard_other_kinds(c);
    gather(c);
    ok = ok && part_directories(c) && place_names(c) && empty_names(c) && sync_files(c) &&
         trim_store(c);
    for (size_t i = 0; i < c->todo.n; i++)
        c->entries.at[c->todo.at[i]].queued = false;
    c->todo.n = 0;
    if (ok)
        c->seen = s->step;
    return ok;
}

/* Beginning and end */

static struct scene *scene_at(const char *dir, struct error *e)
{
    int top = layout_open_top(dir, e);
    if (top < 0)
        return NULL;
    struct scene *c = xcalloc(1, sizeof *c);
    c->top = top;
    c->store = -1;
    c->store_path = xasprintf("%s.store", dir);
    c->privileged = geteuid() == 0;
    c->chunk = xmalloc(LEAF_BLOCKS * OP_BLOCK_SIZE);
    return c;
}

bool scene_new(struct scene **out, const char *dir, struct error *e)
{
    *out = scene_at(dir, e);
    return *out != NULL;
}

const struct scene_counts *scene_counts(const struct scene *c)
{
    return &c->counts;
}

static void remove_store(struct scene *c)
{
    char *const paths[] = {c->store_path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_D && !c->privileged)
            chmod(entry->fts_accpath, SCENE_PRIVATE_DIRECTORY);
        else if (entry->fts_info == FTS_DP || entry->fts_info == FTS_DNR)
            rmdir(entry->fts_accpath);
        else if (entry->fts_info != FTS_D)
            unlink(entry->fts_accpath);
    }
    if (walk)
        fts_close(walk);
}

void scene_free(struct scene *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < SCENE_FDS; i++)
        if (c->fds[i].file)
            close(c->fds[i].fd);
    if (c->store >= 0) {
        close(c->store);
        remove_store(c);
    }
    close(c->top);
    for (size_t i = 0; i < c->files.n; i++)
        scene_forget(&c->files.at[i]);
    vec_free(&c->files);
    vec_free(&c->entries);
    vec_free(&c->todo);
    vec_free(&c->modes);
    vec_free(&c->placed);
    vec_free(&c->waiting);
    free(c->chunk);
    free(c->store_path);
    free(c);
}

/* A layout is a scene's first sync, which puts nothing in the store. */

static bool count_name(void *data, const struct state_name *name)
{
    struct layout_counts *counts = data;
    if (!*name->path)
        return true;
    bool shown = name->kind != FILE_OTHER && (name->kind != FILE_SYMLINK || name->target);
    *(shown ? &counts->names : &counts->left_out) += 1;
    return true;
}

bool state_lay_out(struct state *s, const char *dir, struct layout_counts *counts, struct error *e)
{
    struct error why = {{0}};
    struct scene *c = scene_at(dir, e);
    if (!c)
        return false;
    bool ok = scene_sync(c, s, &why);
    if (!ok)
        error_set(e, "%s is only in part what it should be, remove it: %s", dir, why.text);
    scene_free(c);
    if (counts) {
        *counts = (struct layout_counts){0};
        state_walk(s, count_name, counts);
    }
    return ok;
}
