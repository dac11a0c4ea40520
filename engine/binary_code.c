/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bytes of a binary, and what the loader fills in.
 */
#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "engine/binary_inside.h"

const uint8_t *binary_bytes(struct binary *b, uint64_t address, size_t *n)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(b->module, &bias);
    size_t size, headers;
    const char *file = elf ? elf_rawfile(elf, &size) : NULL;

    if (!file || elf_getphdrnum(elf, &headers) != 0)
        return NULL;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr ||
            address - p.p_vaddr >= p.p_filesz)
            continue;
        uint64_t skip = address - p.p_vaddr;
        if (p.p_offset > size || p.p_filesz > size - p.p_offset)
            return NULL;
        *n = p.p_filesz - skip;
        return (const uint8_t *)file + p.p_offset + skip;
    }
    return NULL;
}

static void read_relocations(struct binary *b, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Shdr symbols_header;
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *relocations = elf_getdata(section, NULL);
    Elf_Data *table = symbols ? elf_getdata(symbols, NULL) : NULL;

    if (!relocations || !table || !gelf_getshdr(symbols, &symbols_header) || !header->sh_entsize)
        return;
    for (size_t i = 0; i < relocations->d_size / header->sh_entsize && i <= INT32_MAX; i++) {
        GElf_Rela r;
        GElf_Sym symbol;
        if (!gelf_getrela(relocations, (int)i, &r) || GELF_R_SYM(r.r_info) > INT32_MAX ||
            !gelf_getsym(table, (int)GELF_R_SYM(r.r_info), &symbol))
            continue;
        const char *name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
        if (name && name[0])
            *map_put(&b->imports, &r.r_offset, sizeof r.r_offset, NULL) = (uint64_t)(uintptr_t)name;
    }
}

static void read_imports(struct binary *b)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(b->module, &bias);
    Elf_Scn *section = NULL;

    b->imports_read = true;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            read_relocations(b, elf, section, &header);
    }
}

const char *binary_import(struct binary *b, uint64_t address)
{
    GElf_Addr key = address;

    if (!b->imports_read)
        read_imports(b);
    uint64_t *name = map_get(&b->imports, &key, sizeof key);
    return name ? (const char *)(uintptr_t)*name : NULL;
}
