#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A session in which nothing can be kept: deleted, moved away, replaced or read-only while it is
# open. The first attempt to keep something says so and names the way out, which leads somewhere.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

checked_sample current
folder=$scratch/folder
mkdir "$folder"

# Root may write everything: who it is then does not matter, but that it is somebody else.
chmod 755 "$scratch"
as_somebody=()
if [ "$(id -u)" = 0 ]; then
    need setpriv
    as_somebody=(setpriv --reuid 65534 --clear-groups)
fi

# attempt WHAT COMMAND...: opens a session, lets WHAT befall it, then runs the commands.
attempt() {
    local what=$1 wanted=$2
    shift 2
    chmod -R u+w "$folder" && rm -rf "$folder" && mkdir -m 777 "$folder"
    cp "$scratch/current.flotsam" "$folder/s.flotsam"
    chmod 666 "$folder/s.flotsam"
    [ "$what" != read_only ] || chmod a-w "$folder/s.flotsam"
    [ "$what" != folder_read_only ] || chmod a-w "$folder"
    rm -f "$scratch/pipe" "$folder/opened"
    mkfifo "$scratch/pipe"
    (
        exec 3>"$scratch/pipe"
        printf '%s\n' 'go bug:2' "dump screen $scratch/opened/screen" >&3
        poll 30 test -s "$scratch/opened/screen"
        case $what in
        deleted) rm "$folder/s.flotsam" ;;
        moved) mv "$folder/s.flotsam" "$folder/t.flotsam" ;;
        replaced) cp "$folder/s.flotsam" "$folder/t" && mv "$folder/t" "$folder/s.flotsam" ;;
        esac
        printf '%s\n' "$@" >&3
    ) &
    rm -rf "$scratch/opened" && mkdir -m 777 "$scratch/opened"
    local status=0
    (cd "$folder" && exec "${as_somebody[@]}" "$FLOTSAM" open s.flotsam --script - \
        <"$scratch/pipe" >"$out" 2>"$err") || status=$?
    wait
    [ "$status" = "$wanted" ] || fail "$what, $*: status $status, not $wanted"
}

gone='s.flotsam was deleted, moved or replaced .*; save FILE'
for command in 'note that is lost' 'status confirmed' 'bookmark here' 'fix' 'note'; do
    attempt read_only 2 "$command"
    says 's.flotsam is read-only, so nothing can be kept in it; copy it'
    attempt deleted 2 "$command"
    says "$gone"
done
attempt moved 2 'note x'
says "$gone"
for command in 'note x' check 'model posix'; do
    attempt replaced 2 "$command"
    says "$gone"
done
attempt replaced 2 'schedule bug:1' test
says "$gone"
attempt folder_read_only 2 'note x'
says 's.flotsam cannot be written: its folder is read-only; copy it'

# A check says so before it runs a single checker.
chmod 444 "$folder/s.flotsam"
run 2 "${as_somebody[@]}" "$FLOTSAM" check "$folder/s.flotsam" --checker "touch $scratch/opened/ran"
says 's.flotsam is read-only, so nothing can be kept in it; copy it'
[ ! -e "$scratch/opened/ran" ] || fail "a checker ran although nothing can be kept"

# The way out: everything is in the other file, and what is said goes there.
attempt deleted 0 "save $scratch/opened/saved.flotsam" 'note kept after all' 'status confirmed' \
    'dump screen -'
prints 'saved.flotsam'
prints 'ordering .* confirmed \+note'
chmod 666 "$scratch/opened/saved.flotsam"
run 0 "$FLOTSAM" bugs "$scratch/opened/saved.flotsam" 2
prints 'kept after all'
run 1 "$FLOTSAM" check "$scratch/opened/saved.flotsam"
attempt read_only 0 "save $scratch/opened/saved.flotsam" 'fix' 'fixes' 'dump screen -'
prints 'pretended fdatasync'
# Nothing else is written over a session.
for command in 'copy' 'dump screen' 'dump view' 'export'; do
    attempt nothing 2 "$command s.flotsam"
    says 's.flotsam is a flotsam session: it was left as it is'
    run 0 "$FLOTSAM" bugs "$folder/s.flotsam"
done
for command in "report $folder/s.flotsam" "export $folder/s.flotsam --what graph --format svg"; do
    # shellcheck disable=SC2086 # words
    run 2 "$FLOTSAM" $command -o "$folder/s.flotsam"
    says 's.flotsam is a flotsam session: it was left as it is'
    run 0 "$FLOTSAM" bugs "$folder/s.flotsam"
done
# No file is written over, and what cannot be written leaves nothing.
attempt nothing 2 'save s.flotsam'
says 's.flotsam is there already'
attempt nothing 2 'save nowhere/x.flotsam'
says 'nowhere/x.flotsam'
