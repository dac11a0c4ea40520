/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/vec.h"

enum { READ_PIECE = 16 * 1024, FIRST_SLOTS = 256 };

/* Open addressing; a rule is never NULL in a slot that is taken. */
struct slot {
    uint64_t address;
    const struct rule *rule;
};

struct maps {
    size_t references;
    uint64_t id;
    vec_of(struct mapping) mappings;
    struct slot *slots;
    size_t taken, mask;
};

static void read_text(struct buf *text, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n;
    do {
        n = read(fd, buf_room(text, READ_PIECE), READ_PIECE);
        text->n -= READ_PIECE - (n > 0 ? (size_t)n : 0);
        text->at[text->n] = '\0';
    } while (n > 0);
    close(fd);
}

/* The kernel writes a newline in a name as \012, and escapes nothing else. */
static void unescape(char *path)
{
    char *out = path;
    for (const char *in = path; *in;) {
        bool newline = strncmp(in, "\\012", 4) == 0;
        *out++ = newline ? '\n' : *in;
        in += newline ? 4 : 1;
    }
    *out = '\0';
}

/* START-END PERM OFFSET DEV INODE PATH; gives whether it is code. The text is changed. */
static bool parse_line(char *text, struct mapping_line *line)
{
    char *at = text;
    line->start = strtoull(at, &at, 16);
    if (*at++ != '-')
        return false;
    line->end = strtoull(at, &at, 16);
    if (strlen(at) < 6 || at[3] != 'x')
        return false;
    at += 6; /* " r-xp " */
    line->offset = strtoull(at, &at, 16);
    at += strspn(at, " ");
    at += strcspn(at, " "); /* the device is not that of stat() on some file systems */
    line->inode = strtoull(at, &at, 10);
    at += strspn(at, " ");
    unescape(at);
    line->path = at;
    return line->start < line->end;
}

static void parse(struct maps *maps, struct buf *text, struct modules *modules, pid_t pid)
{
    char *save = NULL;
    if (!text->n)
        return;
    for (char *l = strtok_r(text->at, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        struct mapping_line line;
        struct mapping m;
        if (!parse_line(l, &line))
            continue;
        m = (struct mapping){.start = line.start, .end = line.end};
        m.module = module_of_mapping(modules, pid, &line);
        if (m.module && module_bias(m.module, &line, &m.bias))
            vec_push(&maps->mappings, m);
    }
}

static bool same(const struct maps *a, const struct maps *b)
{
    if (a->mappings.n != b->mappings.n)
        return false;
    for (size_t i = 0; i < a->mappings.n; i++) {
        const struct mapping *x = &a->mappings.at[i], *y = &b->mappings.at[i];
        if (x->start != y->start || x->end != y->end || x->bias != y->bias ||
            x->module != y->module)
            return false;
    }
    return true;
}

struct maps *maps_read(struct modules *modules, pid_t pid, struct maps *old, uint64_t *last_id)
{
    struct buf text = {0};
    struct maps *maps = xcalloc(1, sizeof *maps);
    maps->references = 1;
    read_text(&text, pid);
    parse(maps, &text, modules, pid);
    buf_free(&text);
    if (old && same(maps, old)) {
        maps_release(maps);
        return maps_hold(old);
    }
    maps->id = ++*last_id;
    maps->slots = xcalloc(FIRST_SLOTS, sizeof *maps->slots);
    maps->mask = FIRST_SLOTS - 1;
    return maps;
}

struct maps *maps_hold(struct maps *maps)
{
    maps->references++;
    return maps;
}

void maps_release(struct maps *maps)
{
    if (!maps || --maps->references)
        return;
    vec_free(&maps->mappings);
    free(maps->slots);
    free(maps);
}

uint64_t maps_id(const struct maps *maps)
{
    return maps->id;
}

const struct mapping *maps_find(const struct maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->mappings.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address >= maps->mappings.at[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    const struct mapping *m = maps->mappings.at + low;
    return low < maps->mappings.n && address >= m->start ? m : NULL;
}

static struct slot *find_slot(const struct maps *maps, uint64_t address)
{
    /* Fibonacci hashing: the high bits of the product depend on all bits of the address. */
    size_t i = address * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (;; i++) {
        struct slot *s = &maps->slots[i & maps->mask];
        if (!s->rule || s->address == address)
            return s;
    }
}

const struct rule *maps_rule(const struct maps *maps, uint64_t address)
{
    return find_slot(maps, address)->rule;
}

static void grow(struct maps *maps)
{
    struct slot *old = maps->slots;
    size_t count = maps->mask + 1;
    maps->mask = count * 2 - 1;
    maps->slots = xcalloc(count * 2, sizeof *maps->slots);
    for (size_t i = 0; i < count; i++)
        if (old[i].rule)
            *find_slot(maps, old[i].address) = old[i];
    free(old);
}

void maps_set_rule(struct maps *maps, uint64_t address, const struct rule *rule)
{
    if (maps->taken * 2 > maps->mask)
        grow(maps);
    struct slot *s = find_slot(maps, address);
    maps->taken += s->rule == NULL;
    *s = (struct slot){address, rule};
}
