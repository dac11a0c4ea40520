/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hash of a state. A file's is made of what it is and of a sum: over its blocks, or over the
 * entries of a directory, of the hash of each with its place. So a change needs only the places
 * changed, and the directories above. Which names are one file cannot be said that way: each file
 * with several names in sight adds a hash of their paths, taken together.
 */
#include "engine/state_inside.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What a hash is of, so that things of different kinds never look alike. */
enum hash_tag { TAG_BLOCK = 1, TAG_FILE, TAG_ENTRY, TAG_PATH, TAG_LINKS, TAG_STATE };

struct hashed {
    uint64_t tag, a, b;
    struct state_hash x, y;
};

static struct state_hash hash_of(struct hashed what)
{
    XXH128_hash_t h = XXH3_128bits(&what, sizeof what);
    return (struct state_hash){h.low64, h.high64};
}

struct state_hash hash_name(const char *name)
{
    XXH128_hash_t h = XXH3_128bits(name, strlen(name));
    return (struct state_hash){h.low64, h.high64};
}

struct state_hash hash_block_at(uint64_t block, struct state_hash contents)
{
    if (!contents.low && !contents.high)
        return contents;
    return hash_of((struct hashed){.tag = TAG_BLOCK, .a = block, .x = contents});
}

/* Steps */

void touched_init(struct touched *head)
{
    *head = (struct touched){head, head, 0};
}

static void touch(struct state *s, struct touched *head, struct touched *place)
{
    if (place->before) {
        place->before->after = place->after;
        place->after->before = place->before;
    }
    place->before = head;
    place->after = head->after;
    head->after->before = place;
    head->after = place;
    place->step = s->step;
}

void touch_file(struct state *s, struct state_file *f)
{
    touch(s, &s->files_touched, &f->touched);
}

void touch_entry(struct state *s, struct state_entry *entry)
{
    touch(s, &s->entries_touched, &entry->touched);
}

void touch_block(struct state *s, struct state_file *f, struct state_leaf *leaf, unsigned slot)
{
    leaf->steps[slot] = s->step;
    touch(s, &f->leaves_touched, &leaf->touched);
    touch_file(s, f);
}

/* Files and entries */

bool file_shown(const struct state_file *f)
{
    return f->kind != FILE_OTHER && (f->kind != FILE_SYMLINK || f->target);
}

static struct state_hash hash_file(const struct state_file *f)
{
    struct hashed what = {.tag = TAG_FILE, .a = f->kind, .x = f->sum};
    if (f->kind == FILE_SYMLINK) { /* its mode means nothing */
        what.x = hash_name(f->target);
    } else {
        what.a |= (uint64_t)f->mode << 8;
        what.b = f->size;
    }
    return hash_of(what);
}

static void renew_entry(struct state_entry *entry)
{
    struct state_hash item = {0, 0};
    if (entry->file && file_shown(entry->file))
        item = hash_of(
            (struct hashed){.tag = TAG_ENTRY, .x = entry->name_hash, .y = hash_file(entry->file)});
    entry->dir->sum = hash_add(hash_subtract(entry->dir->sum, entry->item), item);
    entry->item = item;
}

void hash_entry_changed(struct state_entry *entry)
{
    /* A directory has one name and never lies in itself: this ends. */
    for (; entry; entry = entry->dir->names)
        renew_entry(entry);
}

void hash_file_changed(struct state *s, struct state_file *f)
{
    if (!f->stale)
        vec_push(&s->stale, f);
    f->stale = true;
}

static void renew_stale(struct state *s)
{
    for (size_t i = 0; i < s->stale.n; i++) {
        struct state_file *f = s->stale.at[i];
        f->stale = false;
        for (struct state_entry *name = f->names; name; name = name->after)
            hash_entry_changed(name);
    }
    s->stale.n = 0;
}

/* Names of one file */

bool directory_in_sight(const struct state_file *dir)
{
    while (dir->number != FILE_ROOT && dir->names)
        dir = dir->names->dir;
    return dir->number == FILE_ROOT;
}

/* From the name upwards, which is as good as from the root. */
static struct state_hash hash_path(const struct state_entry *entry)
{
    struct state_hash path = {0, 0};
    for (; entry; entry = entry->dir->names)
        path = hash_of((struct hashed){.tag = TAG_PATH, .x = path, .y = entry->name_hash});
    return path;
}

static struct state_hash hash_links(const struct state_file *f)
{
    struct state_hash sum = {0, 0};
    uint64_t n = 0;
    if (!f->names || !f->names->after || !file_shown(f))
        return sum;
    for (const struct state_entry *name = f->names; name; name = name->after) {
        if (!directory_in_sight(name->dir))
            continue;
        sum = hash_add(sum, hash_path(name));
        n++;
    }
    if (n < 2)
        return (struct state_hash){0, 0};
    return hash_of((struct hashed){.tag = TAG_LINKS, .a = n, .x = sum});
}

struct state_hash state_hash(struct state *s)
{
    renew_stale(s);
    if (s->links_at != s->linked_step) {
        s->links = (struct state_hash){0, 0};
        for (size_t i = 0; i < s->linked.n; i++)
            s->links = hash_add(s->links, hash_links(s->linked.at[i]));
        s->links_at = s->linked_step;
    }
    const struct state_file *root = s->files.at[0];
    return hash_of((struct hashed){.tag = TAG_STATE, .x = hash_file(root), .y = s->links});
}

bool state_same_contents(const struct state *a, uint32_t file, const struct state *b,
                         uint32_t other)
{
    const struct state_file *x = file_find(a, file), *y = file_find(b, other);
    if (!x || !y || x->kind != y->kind)
        return x == y;
    return x->size == y->size && x->sum.low == y->sum.low && x->sum.high == y->sum.high;
}
