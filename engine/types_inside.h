/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What engine/types.c (code addresses) and engine/type_stores.c (stores) share.
 */
#ifndef ENGINE_TYPES_INSIDE_H
#define ENGINE_TYPES_INSIDE_H

#include "engine/type_address.h"
#include "engine/type_flow.h"
#include "engine/type_resolve.h"
#include "engine/types.h"

/* Where a store goes, given the code addresses of its innermost frames: as many as say something.
 * Sites form a tree: the site of frame 0, below it those of its callers. */
struct site {
    struct type_site is;
    uint64_t id;       /* for the key of the sites below */
    struct value to;   /* the form; BASE_NONE when it says nothing */
    bool copy;         /* `to` is where a copy begins, not where each of its stores goes */
    bool part;         /* it may change a part of a field */
    uint64_t length;   /* of the copy; 0 when it is not known */
    bool ask_caller;   /* the caller can say more, by what it passes as argument */
    int argument;      /* that one; −1 when the code is not known and its name decides */
    struct value rest; /* the distance from the argument */
    uint32_t module;   /* of the frame */
    uint64_t entry;    /* of its function; 0 when that is not known */
};

struct module {
    struct binary *binary;
    struct type_info *info;
    struct type_scopes *scopes;
    struct map flows; /* what scopes_function() says to struct flow * */
};

struct types {
    types_binary *binary_of;
    void *data;
    struct map modules;   /* number to struct module * */
    struct map canonical; /* struct type * to struct type *, that which stands for all like it */
    struct map names;     /* kind, size and name to struct type * */
    struct map sites;     /* (site above, module, address) to struct site * */
    struct map paths;     /* text to itself, owned */
    struct map known; /* (type, offset, size) to struct known_spot *, for engine/type_stores.c */
    struct type_objects objects;
    struct type_cost cost;
    uint64_t site_count;
};

/* The site of a store: the deepest that its frames lead to. Never NULL. */
const struct site *types_find_site(struct types *t, const struct frame *frames, size_t n);

struct type *types_canonical(struct types *t, struct type *type);
const char *types_intern(struct types *t, const char *text);

/* What a spot means for people. */
void types_describe(struct types *t, const struct type_spot *spot, struct type_site *out);

#endif
