/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/programs.h"

#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/litmus.h"
#include "engine/mem.h"
#include "tests/kernel/chance.h"

static const char *pick_file(struct chance *c)
{
    static const char *const names[] = {"a", "a", "a", "b", "b", "d/c"};
    return names[chance_below(c, sizeof names / sizeof *names)];
}

static const char *pick_range(struct chance *c, bool ranges)
{
    static const char *const how[] = {"", " keep", " punch", " zero"};
    return how[chance_below(c, ranges ? 4 : 2)];
}

static void random_write(struct chance *c, const char *file, struct buf *out, char letter)
{
    static const unsigned offsets[] = {0, 0, 1024, 4096, 8192}, sizes[] = {1024, 2048, 4096, 8192};
    unsigned offset = offsets[chance_below(c, 5)], size = sizes[chance_below(c, 4)];
    const char *how = chance_below(c, 5) ? "" : " dsync";
    if (chance_below(c, 2))
        buf_printf(out, "pwrite %s %u %u '%c'%s\n", file, offset, size, letter, how);
    else
        buf_printf(out, "append %s %u '%c'%s\n", file, size, letter, how);
}

static void random_sync(struct chance *c, const char *file, struct buf *out)
{
    switch (chance_below(c, 7)) {
    case 0:
    case 1:
        buf_printf(out, "fsync %s\n", file);
        break;
    case 2:
        buf_printf(out, "fdatasync %s\n", file);
        break;
    case 3:
        buf_printf(out, "%s %s\n", chance_below(c, 3) ? "fsync" : "fdatasync",
                   chance_below(c, 3) ? "." : "d");
        break;
    case 4:
        buf_text(out, "sync\n");
        break;
    case 5:
        buf_text(out, "print p\n");
        break;
    default:
        buf_printf(out, "sync_file_range %s %u 4096\n", file, chance_below(c, 3) * 4096);
    }
}

static void random_name(struct chance *c, const char *file, struct buf *out)
{
    const char *other = pick_file(c);
    switch (chance_below(c, 7)) {
    case 0:
    case 1:
        buf_printf(out, "create %s\n", file);
        break;
    case 2:
        buf_printf(out, "unlink %s\n", file);
        break;
    case 3:
        buf_printf(out, "link %s %s\n", file, other);
        break;
    case 4:
        buf_text(out, chance_below(c, 3) ? "mkdir d\n" : "rmdir d\n");
        break;
    default:
        buf_printf(out, "rename %s %s\n", file, other);
    }
}

/* A call; it may make no sense here, and is dropped then. */
static void random_line(struct chance *c, bool ranges, struct buf *out, char letter)
{
    static const unsigned lengths[] = {0, 1024, 2048, 4096, 5120, 8192};
    const char *file = pick_file(c);
    switch (chance_below(c, 22)) {
    case 0:
    case 1:
        buf_printf(out, "truncate %s %u\n", file, lengths[chance_below(c, 6)]);
        break;
    case 2: {
        unsigned offset = chance_below(c, 3) * 4096;
        buf_printf(out, "fallocate %s %u 4096%s\n", file, offset, pick_range(c, ranges));
        break;
    }
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
        random_sync(c, file, out);
        break;
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        random_name(c, file, out);
        break;
    default:
        random_write(c, file, out, letter);
    }
}

static bool parses(const char *text)
{
    struct litmus *litmus;
    struct error e;
    if (!litmus_parse(&litmus, text, "program", &e))
        return false;
    litmus_free(litmus);
    return true;
}

char *programs_random(uint64_t seed, const struct programs_shape *shape)
{
    static const char *const images[] = {"", "file a 4096 'O'\n", "file a 8192 'O'\n",
                                         "file a 1024 'O'\n", "file a 5120 'O'\n"};
    struct chance c = chance_new(seed);
    struct buf text = {0};
    buf_text(&text, images[chance_below(&c, 5)]);
    if (!chance_below(&c, 3))
        buf_text(&text, "file b 4096 'P'\n");
    if (!chance_below(&c, 3))
        buf_text(&text, "dir d\n");
    unsigned lines = shape->least + chance_below(&c, shape->most - shape->least + 1);
    for (unsigned i = 0; i < lines;) {
        struct buf longer = {0};
        buf_text(&longer, buf_string(&text));
        random_line(&c, shape->ranges, &longer, (char)('q' + i));
        if (parses(buf_string(&longer))) {
            buf_free(&text);
            text = longer;
            i++;
        } else
            buf_free(&longer);
    }
    if (chance_below(&c, 2))
        buf_text(&text, "print end\n");
    char *program = xstrdup(buf_string(&text));
    buf_free(&text);
    return program;
}

char *programs_shrink(const char *program, bool (*keeps)(void *data, const char *program),
                      void *data)
{
    char *best = xstrdup(program);
    for (char *line = best; *line;) {
        char *next = strchr(line, '\n') + 1;
        char *shorter = xasprintf("%.*s%s", (int)(line - best), best, next);
        if (keeps(data, shorter)) {
            strcpy(best, shorter);
            line = best;
        } else
            line = next;
        free(shorter);
    }
    return best;
}
