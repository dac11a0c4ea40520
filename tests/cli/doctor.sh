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
prints '^missing +valgrind +valgrind is not installed .*apt install valgrind'
prints '^missing +locale +ANSI'
says 'recording works here; [0-9]+ other things are missing'
