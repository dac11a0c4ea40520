/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mapped: what the samples share that keep their data in mapped files. Places in a file are counted
 * from its beginning, since it is mapped elsewhere each time; 0 is no place.
 */
#ifndef MAPPED_H
#define MAPPED_H

#include <cpuid.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "target.h"

/* What a processor reads, writes and flushes at once. */
enum { LINE = 64 };

/* Bits of EBX in leaf 7 of CPUID. */
enum { CPU_CLFLUSHOPT = 1 << 23, CPU_CLWB = 1 << 24 };

/* Asked once, before there is anything to flush: CPUID is a fence too. */
static inline unsigned cpu_flushes(void)
{
    static unsigned known;
    unsigned a, c, d;
    if (!known && !__get_cpuid_count(7, 0, &a, &known, &c, &d))
        known = 1;
    return known;
}

/* Maps a file that has this size; NULL with a message when it cannot. */
static inline void *map_in(const char *dir, const char *name, size_t size)
{
    struct stat st;
    cpu_flushes();
    int fd = open_in(dir, name, O_RDWR);
    if (fd < 0)
        return complain(name), NULL;
    if (fstat(fd, &st) != 0 || (size_t)st.st_size < size) {
        fprintf(stderr, "%s: not %zu bytes\n", name, size);
        close(fd);
        return NULL;
    }
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? complain(name), NULL : at;
}

/* Begins to write back the lines of a range, by the best instruction that the processor has; done
 * at the next fence(). */
static inline void flush(const void *from, size_t size)
{
    unsigned cpu = cpu_flushes();
    uintptr_t line = (uintptr_t)from & ~(uintptr_t)(LINE - 1), end = (uintptr_t)from + size;
    for (; line < end; line += LINE) {
        volatile char *p = (volatile char *)line;
        if (cpu & CPU_CLWB)
            __asm__ volatile("clwb %0" : "+m"(*p));
        else if (cpu & CPU_CLFLUSHOPT)
            __asm__ volatile("clflushopt %0" : "+m"(*p));
        else
            __asm__ volatile("clflush %0" : "+m"(*p));
    }
}

static inline void fence(void)
{
    __asm__ volatile("sfence" ::: "memory");
}

/* Durable when it returns. */
static inline void persist(const void *from, size_t size)
{
    flush(from, size);
    fence();
}

#endif
