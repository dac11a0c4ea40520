#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# File names, data, source lines and checker output with escape sequences, broken UTF-8, wide and
# combining characters, and a path of 4,000 characters: nothing of it reaches the screen raw, and
# columns stay where they are.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

run 0 cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -o "$scratch/dumped" "$here/dumped.c"

# The program's own source is hostile too.
bytes=$(printf '\033[41m\377\302\233\346\227\245 e\314\201')
LC_ALL=C sed "s|/\*HERE\*/|/* $bytes */|" "$here/hostile.c" >"$scratch/hostile.c"
run 0 cc -g -O0 -w -o "$scratch/hostile" "$scratch/hostile.c"
cat >"$scratch/check" <<'END'
#!/bin/sh
printf '\033[2J\377\302\233 \346\227\245\346\234\254 e\314\201\r\a\033]0;x\007 no end'
[ "$(find . -type f | wc -l)" != 5 ]
END
chmod +x "$scratch/check"
run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- "$scratch/hostile" "$data"
run 1 "$FLOTSAM" check "$session" --checker "cd {dir} && $scratch/check" --budget 200 \
    --strategy prefix

# Every view, with the deepest path selected where it can be.
views=(overview bugs trace ops behaviours groups states output fixes bookmarks lint help)
{
    echo "go bug:1"
    echo "note $(printf 'a \033[31m note \377 \346\227\245')"
    echo "open"
    echo "shot schedule"
    echo "test"
    echo "state"
    echo "shot files"
    echo "focus"
    echo "shot difference"
    echo "go bug:1"
    echo "why"
    echo "shot why"
    echo "go bug:1"
    echo "graph"
    echo "shot graph"
    echo "links"
    echo "shot links"
    echo "go op:2"
    echo "rules"
    echo "shot rules"
    echo "go op:3"
    echo "bookmark $(printf '\033[31mmark\377')"
    echo "source"
    echo "shot source-line"
    for view in "${views[@]}"; do
        echo "$view"
        echo "top"
        echo "shot $view"
        echo "bottom"
        echo "shot $view-end"
        echo "dump view $scratch/walk/$view.view"
    done
    echo "trace"
    echo "search $(printf '\033[2J\346\227\245')"
    echo "shot search"
    echo "filter $(printf '\377\302\233')"
    echo "shot filter"
    echo "export graph.txt"
} >"$scratch/hostile.script"

for size in "${sizes[@]}"; do
    for LC_ALL in "${locales[@]}"; do
        export LC_ALL
        cp "$session" "$place/session.flotsam"
        walk "$scratch/hostile.script" --size "$size"
        dumps=("$scratch"/walk/*.screen)
        [ ${#dumps[@]} -ge 30 ] || fail "only ${#dumps[@]} screens"
        "$scratch/dumped" "${size%x*}" "$scratch"/walk/*.screen >"$out" ||
            fail "$size in $LC_ALL: not fit for a terminal"
        "$scratch/dumped" 0 "$scratch"/walk/*.styles "$scratch"/walk/*.view \
            "$place/graph.txt" >"$out" || fail "$size in $LC_ALL: not fit for a terminal"
        # The same once more, without what a library thinks of characters.
        if LC_ALL=C grep -lP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' \
            "$scratch"/walk/*.screen "$scratch"/walk/*.view >"$out"; then
            fail "$size in $LC_ALL: raw bytes"
        fi
    done
done
# Names that can be shown are.
grep -q '日本語' "$scratch/walk/trace.view" || fail "a name that can be shown is not"

# A session that was made to be hostile: what its report says, in the bar and on a terminal.
cp "$session" "$place/session.flotsam"
sqlite3 "$place/session.flotsam" "UPDATE report SET json = json_set(json,
    '$.model', char(27) || ']0;title' || char(7), '$.checker', char(27) || '[41m')"
tame() { # WHAT: its sequences are shown in $out, as text
    grep -q '\\x1b' "$out" || fail "$1 shows no sequence as text: $(cat -v "$out")"
    ! grep -q "$(printf '\033')" "$out" || fail "$1 has raw bytes: $(cat -v "$out")"
}
echo 'dump screen -' >"$scratch/lines"
LC_ALL=C.UTF-8 run 0 "$FLOTSAM" open "$place/session.flotsam" --script "$scratch/lines"
tame 'the screen'
script -qec "'$FLOTSAM' replay '$place/session.flotsam' bug:1 '$scratch/laid-out'" /dev/null \
    >"$out" </dev/null || fail "cannot be replayed: $(cat "$out")"
tame 'replay on a terminal'
