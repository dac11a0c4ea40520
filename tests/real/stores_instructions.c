/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Instructions that store, flush or fence, by hand, so that no compiler chooses others. stores.sh
 * counts some of them in the trace: a comment says which.
 */
#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "stores.h"

typedef unsigned char bytes16[16] __attribute__((aligned(16)));
typedef unsigned char bytes32[32] __attribute__((aligned(32)));

static bytes32 pattern = "abcdefghijklmnopqrstuvwxyz01234";

static void plain(char *p)
{
    __asm__ volatile("movb $0x11, (%0)\n\t"
                     "movw $0x2222, 2(%0)\n\t"
                     "movl $0x33333333, 4(%0)\n\t"
                     "movq %1, 8(%0)\n\t"
                     "incb 16(%0)\n\t"
                     "addw $7, 18(%0)\n\t"
                     "orl $0xff00, 20(%0)\n\t"
                     "notq 24(%0)\n\t"
                     "shlq $3, 24(%0)\n\t"
                     "sete 32(%0)\n\t"
                     "btsl $5, 36(%0)\n\t"
                     "movbeq %1, 40(%0)\n\t"
                     "movq %1, 61(%0)\n\t"   /* over a line's end */
                     "movq %1, 4090(%0)\n\t" /* and over a page's */
                     :
                     : "r"(p), "r"(UINT64_C(0x1122334455667788))
                     : "memory", "cc");
}

__attribute__((target("avx2"))) static void vectors(char *p)
{
    __asm__ volatile("vmovdqa %1, %%ymm0\n\t"
                     "movups %%xmm0, 3(%0)\n\t"
                     "movaps %%xmm0, 32(%0)\n\t"
                     "movss %%xmm0, 50(%0)\n\t"
                     "movsd %%xmm0, 56(%0)\n\t"
                     "movhps %%xmm0, 72(%0)\n\t"
                     "movlps %%xmm0, 80(%0)\n\t"
                     "pextrw $3, %%xmm0, 88(%0)\n\t"
                     "pextrq $1, %%xmm0, 96(%0)\n\t"
                     "extractps $2, %%xmm0, 104(%0)\n\t"
                     "vmovdqu %%ymm0, 115(%0)\n\t"
                     "vmovaps %%ymm0, 160(%0)\n\t"
                     "vextracti128 $1, %%ymm0, 201(%0)\n\t"
                     "movd %%xmm0, 220(%0)\n\t"
                     "movq %%xmm0, 224(%0)\n\t"
                     "vzeroupper"
                     :
                     : "r"(p), "m"(pattern)
                     : "memory", "xmm0");
}

/* Six stores past the cache, and one more with a mask. */
__attribute__((target("avx2"))) static void nontemporal(char *p)
{
    static bytes16 mask = {0x80, 0, 0x80, 0x80, 0, 0, 0, 0x80, 0x80, 0x80};
    __asm__ volatile("vmovdqa %1, %%ymm0\n\t"
                     "vmovdqa %2, %%xmm1\n\t"
                     "movntil %3, (%0)\n\t"
                     "movntiq %q3, 8(%0)\n\t"
                     "movntdq %%xmm0, 64(%0)\n\t"
                     "movntps %%xmm0, 80(%0)\n\t"
                     "movntpd %%xmm0, 96(%0)\n\t"
                     "vmovntdq %%ymm0, 128(%0)\n\t"
                     "maskmovdqu %%xmm1, %%xmm0\n\t"
                     "sfence\n\t"
                     "vzeroupper"
                     :
                     : "r"(p), "m"(pattern), "m"(mask), "r"(0x44444444), "D"(p + 256)
                     : "memory", "xmm0", "xmm1");
}

__attribute__((target("avx2"))) static void masked(char *p)
{
    __m256i lanes = _mm256_setr_epi32(-1, 0, -1, 0, 0, -1, 0, -1);
    __m256i values = _mm256_load_si256((const __m256i *)(const void *)pattern);
    _mm256_maskstore_epi32((int *)(void *)(p + 4), lanes, values);
    _mm256_maskstore_epi64((long long *)(void *)(p + 64), lanes, values);
    _mm_maskstore_ps((float *)(void *)(p + 112), _mm256_castsi256_si128(lanes), _mm_set1_ps(1.5f));
}

static void strings(char *p)
{
    char *to = p;
    const void *from = pattern;
    size_t n = 31;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    to = p + 64;
    n = 5;
    __asm__ volatile("rep stosq"
                     : "+D"(to), "+c"(n)
                     : "a"(UINT64_C(0x5555666677778888))
                     : "memory");
    to = p + 200;
    from = pattern;
    n = 3;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    to = p + 300;
    __asm__ volatile("stosb\n\tstosw\n\tstosl" : "+D"(to) : "a"(0x99aabbcc) : "memory");
    memset(p + 1024, 0x5a, 1000);
    memcpy(p + 2048, p + 1024, 777);
    memmove(p + 2049, p + 2048, 500);
}

static void floating(char *p)
{
    __asm__ volatile("fldpi\n\t"
                     "fstpt (%0)\n\t"
                     "fldl2e\n\t"
                     "fstpl 16(%0)\n\t"
                     "fld1\n\t"
                     "fistpll 24(%0)\n\t"
                     "fnstcw 32(%0)\n\t"
                     "stmxcsr 36(%0)\n\t"
                     "fxsave 512(%0)\n\t"
                     "fnstenv 1200(%0)\n\t"
                     "fldenv 1200(%0)"
                     :
                     : "r"(p)
                     : "memory", "st");
}

/* Eight that store and one that finds another value than it expects. */
static void locked(char *p)
{
    uint64_t low = 0, high = 0;
    __asm__ volatile("lock addq $5, (%2)\n\t"
                     "lock incb 8(%2)\n\t"
                     "movl $7, %%eax\n\t"
                     "lock xaddl %%eax, 12(%2)\n\t"
                     "xchgq %%rax, 16(%2)\n\t"
                     "xorl %%eax, %%eax\n\t"
                     "movl $9, %%ecx\n\t"
                     "lock cmpxchgq %%rcx, 24(%2)\n\t" /* stores */
                     "movl $1, %%eax\n\t"
                     "lock cmpxchgq %%rcx, 32(%2)\n\t" /* does not */
                     "lock btsl $3, 40(%2)\n\t"
                     "xorl %%eax, %%eax\n\t"
                     "xorl %%edx, %%edx\n\t"
                     "movl $11, %%ebx\n\t"
                     "movl $12, %%ecx\n\t"
                     "lock cmpxchg16b 48(%2)\n\t"
                     "xorl %%eax, %%eax\n\t"
                     "xorl %%edx, %%edx\n\t"
                     "lock cmpxchg8b 64(%2)\n\t"
                     : "+a"(low), "+d"(high)
                     : "r"(p)
                     : "memory", "cc", "rbx", "rcx");
}

/* Two of each kind, in several forms of address, then a fence of each kind. */
static void flushes(char *p)
{
    register char *far __asm__("r13") = p + 256;
    __asm__ volatile("movq $1, (%0)\n\t"
                     "clflush (%0)\n\t"
                     "clflush 64(%0)\n\t"
                     "sfence\n\t"
                     "movq $2, 128(%0)\n\t"
                     "clflushopt 128(%0)\n\t"
                     "clflushopt 1024(%0,%1,8)\n\t"
                     "mfence\n\t"
                     "movq $3, (%2)\n\t"
                     "clwb (%2)\n\t"
                     "clwb -64(%2,%1)\n\t"
                     "lfence\n\t"
                     "sfence"
                     :
                     : "r"(p), "r"(UINT64_C(8)), "r"(far)
                     : "memory");
}

void all_instructions(char *map)
{
    void (*const kinds[])(char *) = {plain,   vectors,  nontemporal, masked,
                                     strings, floating, locked,      flushes};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        kinds[i](map + 2 * i * PAGE);
}

/* ---- what Valgrind cannot run ---- */

__attribute__((target("avx512f"))) int avx512(char *map)
{
    __asm__ volatile("vmovdqu64 %%zmm0, (%0)" : : "r"(map) : "memory");
    return 0;
}

int movdir64b(char *map)
{
    __asm__ volatile("movdir64b (%0), %%rax" : : "r"(pattern), "a"(map) : "memory");
    return 0;
}
