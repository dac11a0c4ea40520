/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a binary holds, for the modules that read its code and types (engine/type_*.c). Others ask
 * engine/binary.h.
 */
#ifndef ENGINE_BINARY_INSIDE_H
#define ENGINE_BINARY_INSIDE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/binary.h"
#include "engine/map.h"
#include "engine/vec.h"

/* A part of the address space that belongs to one compilation unit. */
struct unit_range {
    Dwarf_Addr low, high;
    Dwarf_Off unit; /* of its DIE */
};

struct binary {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Dwarf_Addr bias; /* libdwfl's addresses are those of the file plus this */
    Dwarf *dwarf;    /* NULL when there is no debug info */
    Dwarf_Addr dwarf_bias;
    bool ranges_read, imports_read;
    vec_of(struct unit_range) ranges; /* by low; for units that .debug_aranges leaves out */
    struct map imports;               /* address of a slot to const char *, the symbol for it */
};

/* What must be added to an address of the file to get that of the (separate) debug file. */
static inline Dwarf_Addr binary_shift(const struct binary *b)
{
    return b->bias - b->dwarf_bias;
}

/* The unit whose code is at an address (as linked), that of the split file with -gsplit-dwarf. */
bool binary_unit(struct binary *b, uint64_t address, Dwarf_Die *unit);

/* The name of the function that the symbol table has at an address, demangled; NULL when there is
 * none. The caller frees. */
char *binary_symbol(struct binary *b, uint64_t address);

/* The name with those of the scopes around its declaration in front. Functions that nobody can link
 * to (in C++, those of anonymous namespaces) have no mangled name that would say it. Costs as much
 * as the unit is large. The caller frees. */
char *binary_qualified(Dwarf_Die *die, const char *name);

/* The file's bytes that are mapped at an address, *n of them up to the end of their segment; NULL
 * when none are. Valid until the binary is closed. */
const uint8_t *binary_bytes(struct binary *b, uint64_t address, size_t *n);

/* The symbol whose address the loader puts into the slot at `address`; NULL when it puts none. */
const char *binary_import(struct binary *b, uint64_t address);

#endif
