#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# doctor says what is there and what is not, and how to get it. (That recording works here is what
# all other tests show, so it must say so.)
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

run 0 env EDITOR=ed TERM=xterm-256color "$FLOTSAM" doctor
prints '^ok +ptrace '
prints '^ok +seccomp filters '
prints '^ok +editor +ed '
prints '^ok +locale +UTF-8 '

run 0 env -u EDITOR -u VISUAL LC_ALL=C PATH=/nonexistent "$FLOTSAM" doctor
prints '^missing +editor .*export EDITOR='
prints '^missing +dot +dot is not installed .*apt install graphviz'
prints '^missing +locale +ANSI'
if [ -x "$O/valgrind/flotsam-amd64-linux" ]; then
    prints '^ok +store tracer +a tool for .*valgrind'
else
    prints '^missing +store tracer .*apt install valgrind'
fi
says 'recording works here; [0-9]+ other things are missing'

# A program by itself has no tool beside it, and can do all the rest.
cp "$FLOTSAM" "$scratch/alone"
run 0 "$scratch/alone" doctor
prints '^missing +store tracer .*build flotsam again'
run 0 "$scratch/alone" record --dir "$data" -o "$session" -- true
run 2 "$scratch/alone" record --backend valgrind --dir "$data" -o "$session" -- true
says 'apt install valgrind'
run 0 "$FLOTSAM" trace "$session" # an older session is not lost by it
