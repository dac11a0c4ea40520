/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The write path of a small store on a mapped file: each round fills a record in ordinary memory
 * with a checksum over it, copies it into the mapping, flushes its lines, fences, and sets its valid
 * flag. Calls lie about as deep as in real programs, so that stacks have something to unwind.
 *
 *     stores DIR ROUNDS WORK [DEPTH]
 *
 * WORK is how many bytes of ordinary memory a round goes through: what a program does besides
 * storing to the mapping. With WORK 0 a round is nothing but mapped stores.
 */
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RECORD_WORDS = 8, RECORDS = 4096, WORK_MAX = 1 << 20, DEPTH = 6 };

struct record {
    uint64_t words[RECORD_WORDS - 1];
    uint64_t valid;
};

static uint64_t ordinary[WORK_MAX / sizeof(uint64_t)];

static uint64_t work(size_t words, uint64_t sum)
{
    for (size_t i = 0; i < words; i++) {
        sum = sum * 31 + ordinary[i];
        ordinary[i] = sum;
    }
    return sum;
}

static void persist(volatile struct record *to, uint64_t sum)
{
    for (int i = 0; i < RECORD_WORDS - 1; i++)
        to->words[i] = sum + (uint64_t)i;
    _mm_clflush((const void *)(uintptr_t)to);
    _mm_sfence();
    to->valid = 1;
    _mm_clflush((const void *)(uintptr_t)to);
    _mm_sfence();
}

__attribute__((noinline)) static void put(volatile struct record *to, uint64_t sum, int depth)
{
    if (depth) {
        put(to, sum, depth - 1);
        __asm__ volatile(""); /* no tail call */
    } else
        persist(to, sum);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc < 4) {
        fprintf(stderr, "usage: stores DIR ROUNDS WORK [DEPTH]\n");
        return 2;
    }
    long rounds = atol(argv[2]);
    size_t words = (size_t)atol(argv[3]) / sizeof(uint64_t);
    int depth = argc > 4 ? atoi(argv[4]) : DEPTH;
    if (words > sizeof ordinary / sizeof *ordinary)
        return 2;
    snprintf(path, sizeof path, "%s/records", argv[1]);
    size_t size = RECORDS * sizeof(struct record);
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return 1;
    volatile struct record *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return 1;
    uint64_t sum = 1;
    for (long i = 0; i < rounds; i++) {
        sum = work(words, sum);
        put(&map[i % RECORDS], sum, depth);
    }
    return 0;
}
