/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of views/links.h share: links_index.c works out what cannot be looked up, links.c
 * answers.
 */
#ifndef VIEWS_LINKS_INSIDE_H
#define VIEWS_LINKS_INSIDE_H

#include "engine/map.h"
#include "views/links.h"

/* Lists of ops by a number that each op has. */
struct lists {
    uint32_t *first; /* of list i: ops[first[i]] … ops[first[i + 1] − 1] */
    uint32_t *ops;
    size_t n;
};

/* An op or acknowledgement of a bug. */
struct part {
    uint32_t op;    /* NO_OP: none, or of another model's graph */
    uint64_t event; /* 0: unknown */
    uint32_t bug;   /* its number */
    bool survived;
};

/* In their order; those that cannot be cut further are a slice of their own. */
enum stage {
    STAGE_LINES,
    STAGE_LINE_LISTS,
    STAGE_FILE_LISTS,
    STAGE_SORT,
    STAGE_BEHAVIOURS,
    STAGE_DONE
};

struct links {
    struct analysis *analysis;
    const struct groups *groups;
    const struct stored_objects *objects;
    const json_t *report;
    bool report_fits;
    vec_of(struct part) parts; /* of all bugs, in their order */
    enum stage stage;
    size_t next;                               /* in the stage */
    struct map line_numbers;                   /* file and line → number, plus 1 */
    vec_of(const struct location *) locations; /* by line number */
    vec_of(uint32_t) stack_lines;              /* stack → line number plus 1; 0: not asked yet */
    uint32_t *line_of;                         /* by op */
    uint32_t *file_of;
    struct lists lines, files;
    uint32_t *by_size;  /* behaviours, the largest first */
    uint32_t *smallest; /* by action: the smallest behaviour that it is in */
};

/* The key of a source line in line_numbers. */
void links_line_key(struct buf *key, const char *path, uint32_t line);

#endif
