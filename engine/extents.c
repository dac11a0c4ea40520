/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An AVL tree built on two primitives, split and join: a range is changed by splitting it out of
 * the tree and joining the rest around what replaces it. The balance does not depend on luck, so
 * that no session can make the recursion deep.
 */
#include "engine/extents.h"

#include <stdlib.h>

#include "engine/mem.h"
#include "engine/stream.h"
#include "engine/vec.h"

struct extent_node {
    struct extent piece; /* its offset is right once the shifts of all ancestors are added */
    uint64_t shift;      /* still to be added to the offsets of both subtrees, modulo 2^64 */
    struct extent_node *left, *right;
    int height;
};

static int height(const struct extent_node *t)
{
    return t ? t->height : 0;
}

static void measure(struct extent_node *t)
{
    int left = height(t->left), right = height(t->right);
    t->height = 1 + (left > right ? left : right);
}

static void move(struct extent_node *t, uint64_t by)
{
    if (!t)
        return;
    t->piece.offset += by;
    t->shift += by;
}

/* Hands the shift on to the children, after which they may be taken elsewhere. */
static void settle(struct extent_node *t)
{
    if (!t->shift)
        return;
    move(t->left, t->shift);
    move(t->right, t->shift);
    t->shift = 0;
}

static struct extent_node *rotate_left(struct extent_node *t)
{
    struct extent_node *top = t->right;
    settle(top);
    t->right = top->left;
    top->left = t;
    measure(t);
    measure(top);
    return top;
}

static struct extent_node *rotate_right(struct extent_node *t)
{
    struct extent_node *top = t->left;
    settle(top);
    t->left = top->right;
    top->right = t;
    measure(t);
    measure(top);
    return top;
}

/* t is settled, and its subtrees' heights differ by two at most. */
static struct extent_node *balance(struct extent_node *t)
{
    if (height(t->right) > height(t->left) + 1) {
        settle(t->right);
        if (height(t->right->left) > height(t->right->right))
            t->right = rotate_right(t->right);
        return rotate_left(t);
    }
    if (height(t->left) > height(t->right) + 1) {
        settle(t->left);
        if (height(t->left->right) > height(t->left->left))
            t->left = rotate_left(t->left);
        return rotate_right(t);
    }
    measure(t);
    return t;
}

/* All of left, then middle alone, then all of right. */
static struct extent_node *join(struct extent_node *left, struct extent_node *middle,
                                struct extent_node *right)
{
    if (height(left) > height(right) + 1) {
        settle(left);
        left->right = join(left->right, middle, right);
        return balance(left);
    }
    if (height(right) > height(left) + 1) {
        settle(right);
        right->left = join(left, middle, right->left);
        return balance(right);
    }
    middle->shift = 0;
    middle->left = left;
    middle->right = right;
    measure(middle);
    return middle;
}

static struct extent_node *take_first(struct extent_node *t, struct extent_node **first)
{
    settle(t);
    if (!t->left) {
        *first = t;
        return t->right;
    }
    t->left = take_first(t->left, first);
    return balance(t);
}

static struct extent_node *join_two(struct extent_node *left, struct extent_node *right)
{
    if (!right)
        return left;
    struct extent_node *first;
    right = take_first(right, &first);
    return join(left, first, right);
}

static struct extent_node *new_node(struct extent piece)
{
    struct extent_node *t = xcalloc(1, sizeof *t);
    t->piece = piece;
    t->height = 1;
    return t;
}

/* The part of a piece from `at` on, which lies inside it. */
static struct extent tail_of(struct extent piece, uint64_t at)
{
    uint64_t skip = at - piece.offset;
    piece.offset = at;
    piece.size -= skip;
    if (piece.payload != PAYLOAD_ZEROS)
        piece.from += skip;
    return piece;
}

/* What lies before `at` and what lies from there on; a piece across it is cut in two. */
static void split(struct extent_node *t, uint64_t at, struct extent_node **before,
                  struct extent_node **after)
{
    if (!t) {
        *before = *after = NULL;
        return;
    }
    settle(t);
    struct extent_node *left = t->left, *right = t->right, *part;
    if (at <= t->piece.offset) {
        split(left, at, before, &part);
        *after = join(part, t, right);
    } else if (at - t->piece.offset >= t->piece.size) {
        split(right, at, &part, after);
        *before = join(left, t, part);
    } else {
        struct extent_node *tail = new_node(tail_of(t->piece, at));
        t->piece.size = at - t->piece.offset;
        *before = join(left, t, NULL);
        *after = join(NULL, tail, right);
    }
}

static void free_nodes(struct extent_node *t)
{
    if (!t)
        return;
    free_nodes(t->left);
    free_nodes(t->right);
    free(t);
}

void extents_free(struct extents *x)
{
    free_nodes(x->root);
    x->root = NULL;
}

/* Takes the range out of the tree, leaving what lies before and behind it. */
static void take_out(struct extents *x, uint64_t offset, uint64_t size, struct extent_node **before,
                     struct extent_node **after)
{
    struct extent_node *rest, *inside;
    split(x->root, offset, before, &rest);
    split(rest, offset + size, &inside, after);
    free_nodes(inside);
}

void extents_write(struct extents *x, uint64_t offset, uint64_t size, uint64_t payload,
                   uint64_t from)
{
    if (!size)
        return;
    struct extent_node *before, *after;
    take_out(x, offset, size, &before, &after);
    struct extent piece = {offset, size, payload, payload == PAYLOAD_ZEROS ? 0 : from};
    x->root = join(before, new_node(piece), after);
}

void extents_clear(struct extents *x, uint64_t offset, uint64_t size)
{
    struct extent_node *before, *after;
    take_out(x, offset, size, &before, &after);
    x->root = join_two(before, after);
}

void extents_cut(struct extents *x, uint64_t offset)
{
    struct extent_node *after;
    split(x->root, offset, &x->root, &after);
    free_nodes(after);
}

void extents_allocate(struct extents *x, uint64_t offset, uint64_t size)
{
    uint64_t end = offset + size;
    struct extent next = {0};
    while (offset < end && extents_find(x, offset, &next) && next.offset < end) {
        if (next.offset > offset)
            extents_write(x, offset, next.offset - offset, PAYLOAD_ZEROS, 0);
        offset = next.offset + next.size;
    }
    if (offset < end)
        extents_write(x, offset, end - offset, PAYLOAD_ZEROS, 0);
}

void extents_collapse(struct extents *x, uint64_t offset, uint64_t size)
{
    struct extent_node *before, *after;
    take_out(x, offset, size, &before, &after);
    move(after, -size);
    x->root = join_two(before, after);
}

void extents_insert(struct extents *x, uint64_t offset, uint64_t size)
{
    extents_cut(x, EXTENTS_END - size);
    struct extent_node *before, *after;
    split(x->root, offset, &before, &after);
    move(after, size);
    x->root = join_two(before, after);
}

bool extents_find(const struct extents *x, uint64_t offset, struct extent *out)
{
    uint64_t shift = 0;
    bool found = false;
    for (const struct extent_node *t = x->root; t;) {
        struct extent piece = t->piece;
        piece.offset += shift;
        shift += t->shift;
        if (piece.offset + piece.size > offset) {
            *out = piece;
            found = true;
            t = t->left;
        } else {
            t = t->right;
        }
    }
    return found;
}
