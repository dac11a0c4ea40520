#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# doctor says what is there and what is not, and how to get it. (That recording works here is what
# all other tests show, so it must say so.)
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

run 0 env EDITOR='sh -e' TERM=xterm-256color "$FLOTSAM" doctor
prints '^ok +ptrace '
prints '^ok +seccomp filters '
prints '^ok +editor +sh -e '
prints '^ok +UTF-8 locale +UTF-8 '
prints '^ok +graph layout '
prints '^ok +svg pictures '
prints '^ok +png pictures '
prints '^ok +terminal +xterm-256color, but not on this standard input'
prints '^ok +colours +256 '

run 0 env -u EDITOR -u VISUAL LC_ALL=C PATH=/nonexistent TERM=dumb "$FLOTSAM" doctor
prints '^missing +editor .*export EDITOR='
prints '^missing +UTF-8 locale +ANSI'
prints '^missing +terminal +dumb has no screen to write on'
prints '^missing +colours +0 '
prints '^missing +dot +dot is not installed .*apt install graphviz'
if [ -x "$O/valgrind/flotsam-amd64-linux" ]; then
    prints '^ok +store tracer +a tool for .*valgrind'
else
    prints '^missing +store tracer .*apt install valgrind'
fi
says 'recording works here; [0-9]+ other things are missing'

# Each thing by itself: what is set, and wrong.
run 0 env EDITOR=/nonexistent/ed VISUAL= TERM=$'no\e[1m such' NO_COLOR= "$FLOTSAM" doctor
prints '^missing +editor +/nonexistent/ed is not there'
prints '^missing +terminal +no\\x1b\[1m such is not known here .*ncurses-term'
prints '^missing +colours '
run 0 env -u TERM NO_COLOR=1 "$FLOTSAM" doctor
prints '^missing +terminal +TERM is not set'
prints '^missing +colours +NO_COLOR is set'
# Graphviz without its plugins is a library that can do nothing.
run 0 env GVBINDIR=/nonexistent "$FLOTSAM" doctor
prints '^missing +graph layout +Graphviz cannot lay the graph out.*apt install --reinstall libgvc6'
prints '^missing +png pictures '

# On a terminal it says how large that is.
if command -v script >/dev/null; then
    TERM=vt100 script -qec "stty cols 60 rows 20; '$FLOTSAM' doctor" /dev/null >"$out" 2>"$err" </dev/null
    prints 'missing.* terminal.s size +60x20 .*80x24 or more'
    prints 'missing.* colours +0 '
fi

# A program by itself has no tool beside it, and can do all the rest.
cp "$FLOTSAM" "$scratch/alone"
run 0 "$scratch/alone" doctor
prints '^missing +store tracer .*build flotsam again'
run 0 "$scratch/alone" record --dir "$data" -o "$session" -- true
run 2 "$scratch/alone" record --backend valgrind --dir "$data" -o "$session" -- true
says 'apt install valgrind'
run 0 "$FLOTSAM" trace "$session" # an older session is not lost by it
