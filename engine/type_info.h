/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_info: the types of a binary's debug info, as a graph that is read where it is asked for.
 * Typedefs, const and the like are seen through. The types and their names are valid until
 * type_info_close(). Damaged debug info gives fewer or nonsensical types, never a crash: whoever
 * walks down a type keeps to TYPE_DEPTH_MAX.
 */
#ifndef ENGINE_TYPE_INFO_H
#define ENGINE_TYPE_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/binary_inside.h"

enum type_kind {
    TYPE_VOID,
    TYPE_SIGNED,
    TYPE_UNSIGNED,
    TYPE_CHAR,
    TYPE_BOOL,
    TYPE_FLOAT,
    TYPE_ENUM,
    TYPE_POINTER, /* references of C++ too */
    TYPE_STRUCT,  /* classes too */
    TYPE_UNION,
    TYPE_ARRAY,
    TYPE_OTHER, /* functions, members of C++ by pointer, what is not understood */
};

/* Structs in structs deeper than this are damage. */
enum { TYPE_DEPTH_MAX = 32 };

/* Bytes of types larger than this are damage, or too large to be looked at. */
#define TYPE_SIZE_MAX (UINT64_C(1) << 40)

struct type_info;
struct type;

struct type_field {
    const char *name; /* "" for an anonymous member or a base class */
    uint64_t offset;  /* bytes from the start of the type that has it */
    struct type *type;
    uint32_t bit, bits; /* of a bit-field: its first bit behind offset, and how many; else 0 */
};

struct type_value {
    const char *name;
    int64_t value;
};

struct type {
    enum type_kind kind;
    const char *tag; /* as written: "entry" of struct entry; "" when it has no name */
    uint64_t size;   /* in bytes; 0 when it is not known */
    uint64_t count;  /* of an array; 0 when it is open-ended */

    /* For the functions below. */
    struct type_info *info;
    Dwarf_Die die;
    struct type *target;
    struct type_field *fields;
    struct type_value *values;
    size_t n;
    char *name;
    bool target_read, fields_read;
};

struct type_info *type_info_open(struct binary *b);
void type_info_close(struct type_info *in);

/* The type that a DIE has or is. NULL when there is none: void, or damage. O(1) but the first
 * time. */
struct type *type_of_attribute(struct type_info *in, Dwarf_Die *die);
struct type *type_of_die(struct type_info *in, Dwarf_Die *die);

/* The whole name: with namespaces in C++, "entry *" and "int[4]" for pointers and arrays,
 * "table.slots" for a struct without a name that is the type of that field. */
const char *type_name(struct type *t);

/* What a pointer points to, or the elements of an array; NULL for void * and when unknown. A struct
 * that this unit only declares is looked for in the others. */
struct type *type_target(struct type *t);

/* The members of a struct or union, in the order of the debug info; none for other kinds. */
size_t type_fields(struct type *t, const struct type_field **out);

/* The names of an enum's values. */
size_t type_values(struct type *t, const struct type_value **out);

static inline bool type_is_struct(const struct type *t)
{
    return t && (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION);
}

/* Whether a and b are one type, perhaps told by two units. */
bool type_same(struct type *a, struct type *b);

/* PMDK's typed handle: a union of `oid` and `_type` stands for a pointer to *_type, whose bits are
 * oid.off. That type and where the bits are; NULL when t is not one. */
struct type *type_handle(struct type *t, uint64_t *offset);

#endif
