#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make install puts things where they belong; make uninstall leaves nothing.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need make
cd "$top"

# The build under test is installed as it is: nothing is built here.
go() {
    run 0 make -o "$O/flotsam" O="$O" DESTDIR="$scratch/root" prefix=/opt/flotsam "$1"
}

mkdir "$scratch/root"
go install
at=$scratch/root/opt/flotsam
run 0 "$at/bin/flotsam" --version
bash -n "$at/share/bash-completion/completions/flotsam" || fail "the completion is broken"
"$FLOTSAM" help --man | cmp - "$at/share/man/man1/flotsam.1" || fail "no man page"
cmp LICENSE "$at/share/doc/flotsam/LICENSE" || fail "no licence"
for theme in themes/*.theme; do
    cmp "$theme" "$at/share/flotsam/$theme" || fail "no $theme"
done
if [ -x "$O/valgrind/flotsam-amd64-linux" ]; then
    run 0 "$at/bin/flotsam" record --backend valgrind --dir "$data" -o "$session" -- true
fi
go uninstall
[ -z "$(find "$scratch/root" -mindepth 1 ! -name opt ! -name flotsam)" ] ||
    fail "uninstall leaves $(find "$scratch/root" -mindepth 1)"

# The name that other projects have for it does as well.
run 0 make -n -o "$O/flotsam" O="$O" DESTDIR="$scratch/root" PREFIX=/opt/other install
prints "$scratch/root/opt/other"

# Others' files stay.
mkdir -p "$at/bin"
touch "$at/bin/other"
go install
go uninstall
[ -f "$at/bin/other" ] || fail "uninstall took another program"
