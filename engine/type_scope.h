/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_scope: what the debug info says of a function: its ranges of code, where each of its
 * variables is at each address (those of inlined functions too), what lies at a fixed address, and
 * what a called function returns.
 */
#ifndef ENGINE_TYPE_SCOPE_H
#define ENGINE_TYPE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/type_code.h"
#include "engine/type_value.h"
#include "engine/vec.h"

struct type_scopes;

enum place_kind {
    PLACE_VALUE,  /* register = value */
    PLACE_MEMORY, /* an object of `type` lies at register + offset */
};

enum { PLACE_FRAME = REG_COUNT }; /* instead of a register: the function's CFA */

/* Where a variable is while low <= address < high. */
struct place {
    uint64_t low, high;
    uint8_t kind; /* enum place_kind */
    uint8_t reg;
    int64_t offset;
    struct type *type;  /* of the memory */
    struct value value; /* of the register */
};

struct scope {
    vec_of(struct code_range) ranges; /* the entry's first */
    vec_of(struct place) places;      /* by low */
    void *unit;                       /* for scope_static() */
};

struct type_scopes *scopes_open(struct type_info *in, struct binary *b);
void scopes_close(struct type_scopes *s);

/* Something that tells the function at an address from others; NULL when there is none with debug
 * info. */
const void *scopes_function(struct type_scopes *s, uint64_t address);

/* The function whose code is at an address; false when there is none with debug info. The first
 * question about a unit reads the list of its functions and variables. Free with scope_free(). */
bool scopes_find(struct type_scopes *s, uint64_t address, struct scope *out);
void scope_free(struct scope *f);

/* The variable at a fixed address, as the function's unit knows it: a pointer to it. */
bool scope_static(struct type_scopes *s, const struct scope *f, uint64_t address,
                  struct value *out);

/* The variable that the loader knows by this name. */
bool scope_named(struct type_scopes *s, const struct scope *f, const char *name, struct value *out);

/* What the function at an address, or one of that name that the unit declares, returns in its two
 * result registers: pointers, or parts of a struct that are. has says which are. */
enum { RESULTS = 2 };
void scope_results(struct type_scopes *s, const struct scope *f, uint64_t target, const char *name,
                   struct value out[RESULTS], bool has[RESULTS]);

#endif
