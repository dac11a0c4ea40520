/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * calltree: the call stack tree of a trace (the paper's figure 7). A node is a function at the end
 * of one chain of calls: the same function called from another line is another node. Node 0 is the
 * root, which stands above all outermost functions and is none itself.
 *
 * Every distinct stack is looked at once and becomes a place: the node of its innermost function,
 * and the line of the call in it. Frames without source (the C library, the loader) do not count.
 * A stack none of whose frames has source goes by its frames outside the system's libraries, and
 * one without those by all its frames; so a program without debug info works by symbols or
 * addresses, and so does a library without any inside a program that has it.
 */
#ifndef ENGINE_CALLTREE_H
#define ENGINE_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a frame is worth. */
enum {
    CALLTREE_SOURCE = 1 << 0, /* people can be shown its source */
    CALLTREE_SYSTEM = 1 << 1, /* the C or C++ library, the loader */
};

/* One function at work: keys are anything that is equal when the thing is (a hash of the name, of
 * file and line; of module and offset where nothing better is known). Function 0 means none. */
struct call_frame {
    uint64_t function;
    uint64_t site; /* the place in it that makes the next call */
    uint32_t flags;
};

/* Where stacks come from: the frames of a stack from the outermost to the innermost, inlined
 * functions as frames of their own. *out stays valid until the next call; 0 for no stack. */
struct call_stacks {
    void *data;
    size_t (*path)(void *data, uint32_t stack, const struct call_frame **out);
};

/* Frames further in than this are folded into the site of the last one: they still tell calls
 * apart, but have no behaviours of their own. Deep recursion is the only thing that gets there. */
enum { CALLTREE_DEPTH_MAX = 256 };

enum { CALLTREE_ROOT = 0 };

struct call_node {
    uint64_t function;
    uint64_t site; /* in the parent */
    uint64_t hash; /* of the way from the root: see calltree_relative */
    uint32_t parent;
    uint32_t depth; /* the root's is 0 */
};

struct call_place {
    uint64_t site;
    uint32_t node;
};

struct calltree;

/* all_frames: frames without source count too, those of the system's libraries still do not. */
struct calltree *calltree_new(const struct call_stacks *stacks, bool all_frames);
void calltree_free(struct calltree *t);

/* The place of a stack. Asks for its path when the stack is new, O(1) otherwise. */
uint32_t calltree_place(struct calltree *t, uint32_t stack);

/* How many there are of each. A parent has a smaller number than its children. */
size_t calltree_nodes(const struct calltree *t);

const struct call_node *calltree_node(const struct calltree *t, uint32_t node);
const struct call_place *calltree_at(const struct calltree *t, uint32_t place);

/* How many stacks were deeper than CALLTREE_DEPTH_MAX, and how many had no frame with source. */
size_t calltree_deep(const struct calltree *t);
size_t calltree_sourceless(const struct calltree *t);

/* The deepest function that two places share, all frames above it being exactly the same: the
 * longest common prefix of Algorithm 1. CALLTREE_ROOT when there is none. O(depth). */
uint32_t calltree_common(const struct calltree *t, uint32_t place, uint32_t other);

/* A hash of the call path from the function of a node down to the call at a place below it; what
 * lies above the node has no part in it. O(1). */
uint64_t calltree_relative(const struct calltree *t, uint32_t node, uint32_t place);

#endif
