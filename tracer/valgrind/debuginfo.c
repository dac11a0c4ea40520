/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Valgrind reads lines and inlined functions of every program and library that is mapped. Nobody
 * needs them here: stacks leave the tool as addresses, and flotsam looks them up with libdw. And its
 * reader gives up, and the program with it, at the DWARF 5 that clang writes. So it is replaced by
 * nothing (by the linker, --wrap); symbols and unwind tables are still read.
 */
#include "tracer/valgrind/tool.h"

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
void __wrap_vgModuleLocal_new_dwarf3_reader(void);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void)
{
}

void __wrap_vgModuleLocal_new_dwarf3_reader(void)
{
}
