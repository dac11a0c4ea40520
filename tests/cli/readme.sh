#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What README.md shows is what a reader gets: the commands of its example, run as they stand there,
# make the screen and the picture, and its tables have no key that there is not.
#
#     UPDATE=1 tests/cli/readme.sh      puts the screen and the picture there anew
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need cc make jq

readme=$top/README.md
cp -r "$top/tests/targets" "$scratch/targets"
rm -rf "$scratch"/targets/*/data
mkdir "$scratch/build" "$scratch/tests" "$scratch/docs"
ln -s "$FLOTSAM" "$scratch/build/flotsam"
mv "$scratch/targets" "$scratch/tests/targets"
cd "$scratch"

# example WORD: the command of README.md that begins with $ and has that word, its lines joined.
example() {
    sed -n 's/^    \$ //p; /|$/{n;s/^ *//p}' "$readme" | sed 'N;s/|\n/| /;P;D' |
        grep -m 1 -e "$1" || fail "README.md has no command with $1"
}

run 1 bash -c "$(example 'flotsam run')"
prints '^Bug 2: ordering'
run 0 "$FLOTSAM" bugs current.flotsam --json
said=$(jq -r '"checks \(.states.tested) different crash states, of which \(.states.inconsistent) are"' "$out")
grep -qF "$said" "$readme" || fail "README.md does not say: $said"

run 0 bash -c "$(example 'dump screen')"
sed 's/ *$//' "$out" | sed '$!b;/^$/d' >"$scratch/screen"
if [ -n "${UPDATE:-}" ]; then
    awk 'NR == FNR { screen[NR] = $0; n = NR; next }
        /^     flotsam  / { for (i = 1; i <= n; i++) print screen[i] ? "    " screen[i] : ""
                            print ""; skip = 1 }
        /^    make run/ { skip = 0 }
        !skip' "$scratch/screen" "$readme" >"$scratch/updated"
    cp "$scratch/updated" "$readme"
fi
sed 's/^    //; s/^ *$//' "$readme" >"$scratch/readme"
awk -v lines="$(wc -l <"$scratch/screen")" 'NR == FNR { want[NR] = $0; next }
    { at = ($0 == want[at + 1]) ? at + 1 : ($0 == want[1]); if (at == lines) found = 1 }
    END { exit !found }' "$scratch/screen" "$scratch/readme" ||
    fail "README.md does not show the screen as it is"

run 0 bash -c "$(example 'flotsam export')"
if [ -n "${UPDATE:-}" ]; then
    cp "$scratch/docs/bug.svg" "$top/docs/bug.svg"
fi
for word in 'nothing orders these' 'op 3, lost' 'op 7, persisted'; do
    for picture in "$scratch/docs/bug.svg" "$top/docs/bug.svg"; do
        grep -q "$word" "$picture" || fail "$picture does not say: $word"
    done
done
# Fonts differ from machine to machine, and with them places; texts do not.
texts() {
    grep -oE '>[^<]+</text>' "$1"
}
diff <(texts "$scratch/docs/bug.svg") <(texts "$top/docs/bug.svg") >&2 ||
    fail "docs/bug.svg is not what the command makes"

# All keys of the tables are keys.
sed -nE 's/^ *X\([a-z_]+, "[a-z-]+", "([^"]*)".*/\1/p' "$top/tui/requests.h" | tr ' ' '\n' |
    sed 's/\\\\/\\/' >"$scratch/keys"
# shellcheck disable=SC2016 # these are no commands, but what README.md marks as code
while read -r key; do
    grep -qxF -e "$key" "$scratch/keys" || fail "README.md has a key that there is not: $key"
done < <(sed -n '/^| press/,/^$/p; /^| | desk/,/^$/p' "$readme" | cut -d'|' -f2 |
    grep -oE '`[^`]+`' | tr -d '`')
