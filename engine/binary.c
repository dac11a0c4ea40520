/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One Dwfl for each binary: two executables that are not position-independent want the same
 * addresses, so they cannot live in one.
 */
#include "engine/binary.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/binary_inside.h"
#include "engine/buf.h"
#include "engine/demangle.h"
#include "engine/log.h"
#include "engine/mem.h"
#include "engine/vec.h"

/* A chain of inlined calls longer than this is damage, not code. */
enum { INLINED_MAX = 256 };

/* --- Opening ------------------------------------------------------------------------------- */

static bool same_build_id(Dwfl_Module *module, const char *expected)
{
    const unsigned char *bits;
    GElf_Addr where;
    int n = dwfl_module_build_id(module, &bits, &where);

    struct buf hex = {0};
    if (n > 0)
        buf_hex(&hex, bits, (size_t)n);
    bool same = n > 0 && strcmp(hex.at, expected) == 0;
    buf_free(&hex);
    return same;
}

/* The path may come from a stranger's session: looks before it opens, for opening a device can do
 * things and opening a pipe waits. */
static bool is_regular(const char *path, struct stat *st, struct error *why)
{
    if (path[0] != '/')
        return error_set(why, "not a file");
    if (stat(path, st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return error_set(why, "no longer there");
        return error_errno(why, "cannot be read");
    }
    return S_ISREG(st->st_mode) || error_set(why, "not a regular file");
}

static bool report(struct binary *b, const char *path, struct error *why)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };

    b->dwfl = dwfl_begin(&callbacks);
    if (!b->dwfl)
        return error_set(why, "cannot be read: %s", dwfl_errmsg(-1));
    b->module = dwfl_report_offline(b->dwfl, path, path, -1);
    if (!b->module)
        return error_set(why, "not a binary: %s", dwfl_errmsg(-1));
    dwfl_report_end(b->dwfl, NULL, NULL);
    if (!dwfl_module_getelf(b->module, &b->bias))
        return error_set(why, "cannot be read: %s", dwfl_errmsg(-1));
    return true;
}

struct binary *binary_open(const char *path, const char *build_id, time_t recorded,
                           enum binary_detail detail, struct error *why)
{
    struct stat st;

    if (!is_regular(path, &st, why))
        return NULL;
    struct binary *b = xcalloc(1, sizeof *b);
    if (!report(b, path, why))
        goto fail;
    if (build_id[0] ? !same_build_id(b->module, build_id) : recorded && st.st_mtime > recorded) {
        error_set(why, "changed since the recording");
        goto fail;
    }
    if (detail == BINARY_LINES) {
        b->dwarf = dwfl_module_getdwarf(b->module, &b->dwarf_bias);
        log_debug(SYMBOLS, "%s: %s", path, b->dwarf ? "has debug info" : dwfl_errmsg(-1));
    }
    return b;
fail:
    binary_close(b);
    return NULL;
}

void binary_close(struct binary *b)
{
    if (!b)
        return;
    dwfl_end(b->dwfl);
    map_free(&b->imports);
    vec_free(&b->ranges);
    free(b);
}

/* --- Which compilation unit an address is in ----------------------------------------------- */

static int by_low(const void *a, const void *b)
{
    Dwarf_Addr x = ((const struct unit_range *)a)->low, y = ((const struct unit_range *)b)->low;

    return (x > y) - (x < y);
}

/* clang writes no .debug_aranges, and libdw does not look further. */
static void read_ranges(struct binary *b)
{
    Dwarf_Die *unit = NULL;
    Dwarf_Addr unit_bias;

    b->ranges_read = true;
    while ((unit = dwfl_module_nextcu(b->module, unit, &unit_bias))) {
        Dwarf_Addr base, low, high;
        ptrdiff_t next = 0;
        while ((next = dwarf_ranges(unit, next, &base, &low, &high)) > 0) {
            if (low < high)
                vec_push(&b->ranges, (struct unit_range){low, high, dwarf_dieoffset(unit)});
        }
    }
    if (b->ranges.n)
        qsort(b->ranges.at, b->ranges.n, sizeof *b->ranges.at, by_low);
}

/* pc is an address as DWARF has it. */
static bool find_unit(struct binary *b, Dwarf_Addr pc, Dwarf_Die *unit)
{
    if (dwarf_addrdie(b->dwarf, pc, unit))
        return true;
    if (!b->ranges_read)
        read_ranges(b);

    size_t low = 0, high = b->ranges.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->ranges.at[middle].low <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || pc >= b->ranges.at[low - 1].high)
        return false;
    return dwarf_offdie(b->dwarf, b->ranges.at[low - 1].unit, unit) != NULL;
}

/* With -gsplit-dwarf the functions are in another file, which the skeleton unit names. */
static void follow_skeleton(Dwarf_Die *unit)
{
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die split;

    if (dwarf_cu_info(unit->cu, &version, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.addr)
        *unit = split;
}

bool binary_unit(struct binary *b, uint64_t address, Dwarf_Die *unit)
{
    if (!b->dwarf || !find_unit(b, address + binary_shift(b), unit))
        return false;
    follow_skeleton(unit);
    return true;
}

/* --- Functions and lines ------------------------------------------------------------------- */

static const char *attribute_string(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    if (!dwarf_attr_integrate(die, name, &attribute))
        return NULL;
    return dwarf_formstring(&attribute);
}

static bool attribute_number(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
    Dwarf_Attribute attribute;

    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

/* What a DIE stands for: its declaration, in the class or namespace where it was written. */
static Dwarf_Die declaration_of(Dwarf_Die *die)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Die at = *die, next;
    Dwarf_Attribute attribute;

    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        if (dwarf_attr(&at, links[i], &attribute) && dwarf_formref_die(&attribute, &next))
            at = next;
    }
    return at;
}

char *binary_qualified(Dwarf_Die *die, const char *name)
{
    Dwarf_Die declaration = declaration_of(die), *scopes = NULL;
    int n = dwarf_getscopes_die(&declaration, &scopes);
    struct buf out = {0};

    for (int i = n - 1; i > 0; i--) {
        int tag = dwarf_tag(&scopes[i]);
        const char *scope = dwarf_diename(&scopes[i]);
        if (tag == DW_TAG_namespace && !scope)
            scope = "(anonymous namespace)";
        if (scope && (tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
                      tag == DW_TAG_structure_type || tag == DW_TAG_subprogram))
            buf_printf(&out, "%s::", scope);
    }
    free(scopes);
    buf_text(&out, name);
    return out.at;
}

/* The caller frees; NULL when the function has no name. */
static char *function_name(Dwarf_Die *die)
{
    const char *name = attribute_string(die, DW_AT_linkage_name);

    if (!name)
        name = attribute_string(die, DW_AT_MIPS_linkage_name);
    if (name)
        return demangle(name);
    name = attribute_string(die, DW_AT_name);
    return name ? binary_qualified(die, name) : NULL;
}

static const char *unit_directory(Dwarf_Die *unit)
{
    return attribute_string(unit, DW_AT_comp_dir);
}

/* libdw joins names to the directories it knows; what is relative still is so to the unit's. */
static void set_file(struct buf *out, Dwarf_Die *unit, const char *file)
{
    const char *directory = unit_directory(unit);

    buf_clear(out);
    if (file[0] != '/' && directory && directory[0] == '/') {
        buf_text(out, directory);
        buf_char(out, '/');
    }
    buf_text(out, file);
}

/* A place in the source. */
struct place {
    struct buf file; /* empty when unknown */
    uint32_t line;
};

static void place_of_address(struct place *p, Dwarf_Die *unit, Dwarf_Addr pc)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
    int number = 0;

    buf_clear(&p->file);
    p->line = 0;
    if (!line)
        return;
    const char *file = dwarf_linesrc(line, NULL, NULL);
    if (file)
        set_file(&p->file, unit, file);
    if (file && dwarf_lineno(line, &number) == 0 && number > 0)
        p->line = (uint32_t)number;
}

/* Where an inlined function was called. */
static void place_of_call(struct place *p, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n;

    buf_clear(&p->file);
    p->line = 0;
    if (!attribute_number(inlined, DW_AT_call_file, &file) ||
        dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
        return;
    const char *name = dwarf_filesrc(files, file, NULL, NULL);
    if (!name)
        return;
    set_file(&p->file, unit, name);
    if (attribute_number(inlined, DW_AT_call_line, &line) && line <= INT32_MAX)
        p->line = (uint32_t)line;
}

/* The scopes around pc as they lie in the code, innermost first. dwarf_getscopes() alone leaves
 * the code at the first inlined function and goes on where that was declared. The caller frees. */
static int code_scopes(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **out)
{
    Dwarf_Die *scopes = NULL;
    int n = dwarf_getscopes(unit, pc, &scopes);

    *out = NULL;
    if (n <= 0)
        return 0;
    Dwarf_Die innermost = scopes[0];
    free(scopes);
    n = dwarf_getscopes_die(&innermost, out);
    return n > 0 ? n : 0;
}

typedef void site_visitor(void *data, const struct binary_site *site);

static void hand_out(const struct place *p, const char *function, bool inlined, site_visitor *site,
                     void *data)
{
    struct binary_site s = {
        .function = function,
        .file = p->file.n ? p->file.at : NULL,
        .line = p->line,
        .inlined = inlined,
    };

    site(data, &s);
}

char *binary_symbol(struct binary *b, uint64_t address)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name =
        dwfl_module_addrinfo(b->module, address + b->bias, &offset, &symbol, NULL, NULL, NULL);

    return name && name[0] ? demangle(name) : NULL;
}

/* Hands out the sites of the DWARF scopes; false when none of them is a function. */
static bool scope_sites(struct binary *b, uint64_t address, struct place *p, Dwarf_Die *scopes,
                        int n, Dwarf_Die *unit, site_visitor *site, void *data)
{
    int inlined = 0;

    for (int i = 0; i < n && inlined < INLINED_MAX; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        char *name = function_name(&scopes[i]);
        if (!name && tag == DW_TAG_subprogram)
            name = binary_symbol(b, address);
        hand_out(p, name, tag == DW_TAG_inlined_subroutine, site, data);
        free(name);
        if (tag == DW_TAG_subprogram)
            return true;
        inlined++;
        place_of_call(p, unit, &scopes[i]);
    }
    return inlined > 0;
}

static bool dwarf_sites(struct binary *b, uint64_t address, site_visitor *site, void *data)
{
    Dwarf_Addr pc = address + binary_shift(b);
    Dwarf_Die unit, code;
    struct place p = {{0}, 0};
    bool found = false;

    if (!find_unit(b, pc, &unit))
        return false;
    place_of_address(&p, &unit, pc);
    code = unit;
    follow_skeleton(&code);
    Dwarf_Die *scopes;
    int n = code_scopes(&code, pc, &scopes);
    found = scope_sites(b, address, &p, scopes, n, &unit, site, data);
    free(scopes);
    if (!found && p.line) { /* assembly with line numbers only */
        char *name = binary_symbol(b, address);
        hand_out(&p, name, false, site, data);
        free(name);
        found = true;
    }
    buf_free(&p.file);
    return found;
}

void binary_sites(struct binary *b, uint64_t address, site_visitor *site, void *data)
{
    if (b->dwarf && dwarf_sites(b, address, site, data))
        return;
    char *name = binary_symbol(b, address);
    struct binary_site s = {.function = name};
    if (name)
        site(data, &s);
    free(name);
}
