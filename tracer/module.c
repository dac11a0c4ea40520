/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/module.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "engine/buf.h"
#include "engine/log.h"
#include "engine/map.h"
#include "engine/vec.h"
#include "tracer/memory.h"

/* The kernel's own code in every process has no file; its pages are few. */
#define VDSO_NAME "[vdso]"
enum { VDSO_MAX = 1024 * 1024 };

#define DELETED " (deleted)"

struct segment {
    uint64_t offset, file_size, address;
};

struct module {
    uint32_t number;
    int fd;      /* −1 once nothing more has to be read from the file */
    void *image; /* of a module without a file */
    Elf *elf;
    vec_of(struct segment) segments; /* those with code */
    Dwarf_CFI *eh_frame;
    Dwarf *dwarf;
    Dwarf_CFI *debug_frame; /* belongs to dwarf; NULL until an address needs it */
    bool has_debug_frame;
    struct map rules; /* address to struct rule * */
};

/* Compared as bytes: all members are of one size, so that there is no padding. */
struct identity {
    uint64_t device, inode, size, seconds, nanoseconds;
};

struct modules {
    struct recording *recording;
    struct map by_identity; /* to struct module *; 0: looked at, and no module */
};

struct modules *modules_new(struct recording *recording)
{
    elf_version(EV_CURRENT);
    struct modules *m = xcalloc(1, sizeof *m);
    m->recording = recording;
    return m;
}

static void free_rule(const void *key, size_t size, uint64_t value, void *data)
{
    (void)key, (void)size, (void)data;
    struct rule *rule = (struct rule *)(uintptr_t)value;
    if (rule != rule_frame_pointer())
        rule_free(rule);
}

static void free_module(struct module *module)
{
    map_each(&module->rules, free_rule, NULL);
    map_free(&module->rules);
    vec_free(&module->segments);
    if (module->eh_frame)
        dwarf_cfi_end(module->eh_frame);
    if (module->dwarf)
        dwarf_end(module->dwarf);
    elf_end(module->elf);
    free(module->image);
    if (module->fd >= 0)
        close(module->fd);
    free(module);
}

static void free_entry(const void *key, size_t size, uint64_t value, void *data)
{
    (void)key, (void)size, (void)data;
    if (value)
        free_module((struct module *)(uintptr_t)value);
}

void modules_free(struct modules *m)
{
    if (!m)
        return;
    map_each(&m->by_identity, free_entry, NULL);
    map_free(&m->by_identity);
    free(m);
}

static char *build_id(Elf *elf)
{
    const void *bytes;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);
    struct buf hex = {0};
    buf_text(&hex, "");
    if (n > 0)
        buf_hex(&hex, bytes, (size_t)n);
    return hex.at;
}

static bool read_segments(struct module *module)
{
    GElf_Ehdr ehdr;
    size_t n;
    if (!module->elf || !gelf_getehdr(module->elf, &ehdr) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
        ehdr.e_machine != EM_X86_64 || elf_getphdrnum(module->elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n && i < INT_MAX; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(module->elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X)
            vec_push(&module->segments, (struct segment){p.p_offset, p.p_filesz, p.p_vaddr});
    }
    return module->segments.n > 0;
}

static bool section_exists(Elf *elf, const char *name)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr header;
        const char *found;
        if (gelf_getshdr(scn, &header) && header.sh_type != SHT_NOBITS &&
            (found = elf_strptr(elf, names, header.sh_name)) && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* Takes over the module's elf, fd and image, also when it gives NULL. */
static struct module *module_load(struct modules *m, struct module *module, const char *path)
{
    if (!read_segments(module)) {
        log_info(UNWIND, "%s: not an x86-64 ELF file with code", path);
        free_module(module);
        return NULL;
    }
    char *id = build_id(module->elf);
    module->number = recording_module(m->recording, path, id);
    module->eh_frame = dwarf_getcfi_elf(module->elf);
    module->has_debug_frame =
        section_exists(module->elf, ".debug_frame") || section_exists(module->elf, ".zdebug_frame");
    log_info(UNWIND, "module %" PRIu32 ": %s, build id %s%s%s", module->number, path,
             *id ? id : "none", module->eh_frame ? "" : ", no .eh_frame",
             module->has_debug_frame ? ", has .debug_frame" : "");
    free(id);
    if (!module->has_debug_frame && module->fd >= 0) {
        elf_cntl(module->elf, ELF_C_FDDONE);
        close(module->fd);
        module->fd = -1;
    }
    return module;
}

/* Two ways to a mapped file: the link that the kernel keeps for the mapping, which leads to the
 * very file even when it was deleted or replaced, but which only root may follow; and its name. */
static void mapping_link(char *out, size_t size, pid_t pid, const struct mapping_line *line)
{
    snprintf(out, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, line->start,
             line->end);
}

/* The file's name as the program's user knows it. */
static char *mapped_name(pid_t pid, const struct mapping_line *line)
{
    char link[PATH_MAX], name[PATH_MAX];
    mapping_link(link, sizeof link, pid, line);
    ssize_t n = readlink(link, name, sizeof name - 1);
    char *path = n > 0 ? xstrndup(name, (size_t)n) : xstrdup(line->path);
    struct stat st;
    size_t length = strlen(path), suffix = strlen(DELETED);
    if (length > suffix && strcmp(path + length - suffix, DELETED) == 0 &&
        (stat(path, &st) != 0 || st.st_ino != line->inode))
        path[length - suffix] = '\0';
    return path;
}

/* Only plain files: opening a device can have effects. */
static bool find_file(char *out, size_t size, struct stat *st, pid_t pid,
                      const struct mapping_line *line)
{
    mapping_link(out, size, pid, line);
    if (stat(out, st) == 0)
        return S_ISREG(st->st_mode);
    int n = snprintf(out, size, "/proc/%d/root%s", (int)pid, line->path);
    return n > 0 && (size_t)n < size && stat(out, st) == 0 && S_ISREG(st->st_mode) &&
           st->st_ino == line->inode;
}

static struct module *module_from_file(struct modules *m, pid_t pid,
                                       const struct mapping_line *line)
{
    char where[PATH_MAX];
    struct stat st;
    if (!find_file(where, sizeof where, &st, pid, line))
        return NULL;
    struct identity key = {st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_ctim.tv_sec,
                           (uint64_t)st.st_ctim.tv_nsec};
    uint64_t *known = map_get(&m->by_identity, &key, sizeof key);
    if (known)
        return (struct module *)(uintptr_t)*known;

    struct module *module = NULL;
    int fd = open(where, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        module = xcalloc(1, sizeof *module);
        module->fd = fd;
        module->elf = elf_begin(fd, ELF_C_READ, NULL);
        char *path = mapped_name(pid, line);
        module = module_load(m, module, path);
        free(path);
    }
    *map_put(&m->by_identity, &key, sizeof key, NULL) = (uintptr_t)module;
    return module;
}

static struct module *module_from_memory(struct modules *m, pid_t pid,
                                         const struct mapping_line *line)
{
    uint64_t size = line->end - line->start;
    if (size > VDSO_MAX)
        return NULL;
    char *image = xmalloc(size);
    if (!memory_read(pid, line->start, image, size)) {
        free(image);
        return NULL;
    }
    /* Device 0 and inode 0 are no file's: the contents tell one from another. */
    struct identity key = {.size = size, .seconds = XXH3_64bits(image, size)};
    uint64_t *known = map_get(&m->by_identity, &key, sizeof key);
    if (known) {
        free(image);
        return (struct module *)(uintptr_t)*known;
    }
    struct module *module = xcalloc(1, sizeof *module);
    module->fd = -1;
    module->image = image;
    module->elf = elf_memory(image, size);
    module = module_load(m, module, VDSO_NAME);
    *map_put(&m->by_identity, &key, sizeof key, NULL) = (uintptr_t)module;
    return module;
}

struct module *module_of_mapping(struct modules *m, pid_t pid, const struct mapping_line *line)
{
    if (strcmp(line->path, VDSO_NAME) == 0)
        return module_from_memory(m, pid, line);
    return line->inode ? module_from_file(m, pid, line) : NULL;
}

bool module_bias(const struct module *module, const struct mapping_line *line, uint64_t *bias)
{
    uint64_t end = line->offset + (line->end - line->start);
    for (size_t i = 0; i < module->segments.n; i++) {
        const struct segment *s = &module->segments.at[i];
        if (s->offset < end && line->offset < s->offset + s->file_size) {
            *bias = line->start - line->offset + s->offset - s->address;
            return true;
        }
    }
    return false;
}

uint32_t module_number(const struct module *module)
{
    return module->number;
}

static struct rule *compile(Dwarf_CFI *cfi, uint64_t address)
{
    Dwarf_Frame *frame;
    if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return NULL;
    struct rule *rule = rule_compile(frame);
    free(frame);
    return rule;
}

/* .debug_frame costs reading all of the debug information, and few modules need it: .eh_frame
 * comes first. */
static const struct rule *find_rule(struct module *module, uint64_t address)
{
    struct rule *rule = compile(module->eh_frame, address);
    if (!rule && module->has_debug_frame) {
        if (!module->dwarf) {
            module->dwarf = dwarf_begin_elf(module->elf, DWARF_C_READ, NULL);
            module->debug_frame = module->dwarf ? dwarf_getcfi(module->dwarf) : NULL;
            module->has_debug_frame = module->debug_frame != NULL;
        }
        rule = compile(module->debug_frame, address);
    }
    return rule ? rule : rule_frame_pointer();
}

const struct rule *module_rule(struct module *module, uint64_t address)
{
    bool added;
    uint64_t *slot = map_put(&module->rules, &address, sizeof address, &added);
    if (added)
        *slot = (uintptr_t)find_rule(module, address);
    return (const struct rule *)(uintptr_t)*slot;
}
