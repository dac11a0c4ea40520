#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A 32-bit program is refused clearly, as the one asked for and as a child.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need as ld

cat >"$scratch/tiny.s" <<'ASSEMBLY'
        .globl _start
_start: movl $1, %eax
        xorl %ebx, %ebx
        int $0x80
ASSEMBLY
as --32 -o "$scratch/tiny.o" "$scratch/tiny.s" 2>/dev/null || skip "no 32-bit assembler"
ld -m elf_i386 -o "$scratch/tiny" "$scratch/tiny.o" 2>/dev/null || skip "no 32-bit linker"
"$scratch/tiny" || skip "this kernel does not run 32-bit programs"

cd "$data"
run 2 "$FLOTSAM" record -o "$session" --dir "$data" -- "$scratch/tiny"
says 'tiny.*(32-bit|64-bit)'
nothing_left_running

status=0
timeout 60 "$FLOTSAM" record -o "$session" --dir "$data" -- sh -c "$scratch/tiny; true" \
    >"$out" 2>"$err" </dev/null || status=$?
[ "$status" = 0 ] || [ "$status" = 2 ] || fail "status $status"
run 0 "$FLOTSAM" trace "$session"
says '(32-bit|64-bit).*tiny'
nothing_left_running
