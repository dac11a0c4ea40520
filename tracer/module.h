/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * module: the ELF files that programs have code mapped from, and the unwind rules in them.
 *
 * A module is known by the identity of its file (device, inode, size, time of change), whatever
 * process has it mapped and wherever; its rules are compiled once per address. Files are read, not
 * mapped: a program that cuts a library short while we look at it must not take us with it.
 */
#ifndef TRACER_MODULE_H
#define TRACER_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/recording.h"
#include "tracer/rule.h"

struct modules;
struct modules *modules_new(struct recording *recording);
void modules_free(struct modules *m);

/* A line of /proc/PID/maps. */
struct mapping_line {
    uint64_t start, end;
    uint64_t offset;
    uint64_t inode;
    const char *path; /* as it stands there; "" when the memory is nobody's */
};

/* The module mapped there, or NULL when it is no x86-64 ELF file that can be read. Owned by m. */
struct module;
struct module *module_of_mapping(struct modules *m, pid_t pid, const struct mapping_line *line);

/* What to add to the module's addresses (ELF virtual addresses) where it is mapped; false when
 * that part of the file is no code. */
bool module_bias(const struct module *module, const struct mapping_line *line, uint64_t *bias);

/* The module's number in the recording. */
uint32_t module_number(const struct module *module);

/* How to leave a frame at this address of the module. Never NULL; lives as long as the module. */
const struct rule *module_rule(struct module *module, uint64_t address);

#endif
