# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the tests of the debugger share: sessions of the sample targets in which nothing varies from
# run to run, and scripts that run on screens of several sizes, whose dumps are compared with golden
# files. `tests/tui/update` writes these anew.
# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
need cc make sqlite3

here=$top/tests/tui
sizes=(80x24 40x10 200x50)
locales=(C C.UTF-8)

# sample NAME [FIXED]: builds and records a sample target, in $scratch/NAME, as NAME.flotsam.
sample() {
    local folder=$scratch/targets/$1
    if [ ! -d "$scratch/targets" ]; then
        mkdir "$scratch/targets"
        cp "$top"/tests/targets/target.* "$scratch/targets"
    fi
    cp -r "$top/tests/targets/$1" "$folder"
    rm -rf "$folder/data" # of somebody who ran it here
    run 0 make -s -C "$folder" clean
    run 0 make -s -C "$folder" FIXED="${2:-}"
    mkdir "$folder/data"
    (cd "$folder" && run 0 "$FLOTSAM" record -o "$scratch/$1.flotsam" --dir data -- ./workload data) ||
        exit 1
    # The one thing that it cannot have in common with the next recording.
    sqlite3 "$scratch/$1.flotsam" "UPDATE meta SET value = '2026-01-02T03:04:05Z'
        WHERE key = 'started'"
}

# checked_sample NAME: the same, checked; its checker can be run again.
checked_sample() {
    sample "$1"
    # From within the state, so that it does not print where that is.
    run 1 "$FLOTSAM" check "$scratch/$1.flotsam" --checker 'cd {dir} && ../check .'
}

# expand SCRIPT: a line `shot NAME` dumps the screen and its styles, under a number.
expand() {
    awk -v to="$scratch/walk/" '
        $1 == "shot" { n = to sprintf("%02d-%s", ++shots, $2)
                       print "dump screen " n ".screen"; print "dump styles " n ".styles"; next }
        { print }' "$1"
}

# walk SCRIPT [OPTION...]: runs the script on session.flotsam in the folder $place, where exports go
# too. The shots come out as the file $shots, one after the other.
place=$scratch/place
shots=$scratch/shots
mkdir "$place"
walk() {
    local script=$1
    shift
    rm -rf "$scratch/walk"
    mkdir "$scratch/walk"
    expand "$script" >"$scratch/script"
    (cd "$place" && run 0 "$FLOTSAM" open session.flotsam --script "$scratch/script" "$@") || exit 1
    local screen name
    for screen in "$scratch"/walk/*.screen; do
        [ -e "$screen" ] || continue
        name=$(basename "$screen" .screen)
        echo "=== ${name#*-}"
        sed -E 's/^/|/; s/after [0-9]\.[0-9]{2}s/after 0.00s/' "$screen" # a checker's time
        echo "--- styles"
        styles "${screen%.screen}.styles"
    done >"$shots"
}

# styles FILE: a line for each row, without the text, which the screen has.
styles() {
    awk '{ split($1, at, ":")
           if (at[1] != row) { printf "%s%s:", row ? "\n" : "", at[1]; row = at[1] }
           printf " %s %s", at[2], $2 }
         END { if (row) print "" }' "$1"
}

# golden NAME FILE: the file is what golden/NAME says, or becomes it (UPDATE=1).
golden() {
    if [ "${UPDATE:-}" = 1 ]; then
        cp "$2" "$here/golden/$1"
    elif [ ! -e "$here/golden/$1" ]; then
        fail "there is no golden/$1; tests/tui/update makes it"
    elif ! diff -U 3 --label "golden/$1" --label now "$here/golden/$1" "$2" >"$scratch/diff"; then
        head -n 60 "$scratch/diff" >&2
        differing+=("$1")
    fi
}

differing=()
nothing_differs() {
    [ ${#differing[@]} = 0 ] ||
        fail "other screens than before: ${differing[*]}; when they are right, tests/tui/update"
}

# scene NAME SESSION: the script NAME.script once, at 80x24.
scene() {
    cp "$2" "$place/session.flotsam"
    walk "$here/$1.script" --size 80x24
    golden "$1" "$shots"
}

# story NAME SESSION [AGAIN]: the script NAME.script at every size in every locale, each time on the
# session as it was; then AGAIN.script on what the first has left.
story() {
    local size name
    for size in "${sizes[@]}"; do
        for LC_ALL in "${locales[@]}"; do
            export LC_ALL
            name=$1-$size-${LC_ALL#C.}
            cp "$2" "$place/session.flotsam"
            walk "$here/$1.script" --size "$size"
            mv "$shots" "$scratch/all"
            if [ $# = 3 ]; then
                walk "$here/$3.script" --size "$size"
                cat "$shots" >>"$scratch/all"
            fi
            golden "$name" "$scratch/all"
        done
    done
    LC_ALL=C.UTF-8
}
