#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The man page is rendered without a warning, and says of every command, option, key, request, model
# and config key what the program itself says.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need mandoc

run 0 "$FLOTSAM" help --man
page=$scratch/flotsam.1
mv "$out" "$page"
if LC_ALL=C grep -n '[^ -~]' "$page"; then
    fail "the page's source is not plain ASCII"
fi
# What other pages are installed here is not the page's fault, nor is a long line one.
complaints=$(mandoc -T lint -W style "$page" 2>&1 |
    grep -vE 'mandoc\.db|referenced manual not found|longer than 80 bytes' || true)
[ -z "$complaints" ] || fail "mandoc complains: $complaints"
if command -v groff >/dev/null; then
    complaints=$(groff -ww -mandoc -Tutf8 "$page" 2>&1 >/dev/null)
    [ -z "$complaints" ] || fail "groff complains: $complaints"
fi

# Wide, so that no line is broken where a text is looked for; bold is written twice over.
mandoc -T utf8 -O width=400 "$page" | sed 's/.\x08//g; s/  */ /g' >"$scratch/text"

# shows TEXT: a line begins with it, and a whole word ends there.
shows() {
    WANT=" $1 " awk 'index($0 " ", ENVIRON["WANT"]) == 1 { found = 1 } END { exit !found }' \
        "$scratch/text" || fail "the page does not show: $1"
}

for section in NAME SYNOPSIS DESCRIPTION COMMANDS 'THE DEBUGGER' MODELS CONFIG CHECKER ENVIRONMENT \
    FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
    grep -qx "$section" "$scratch/text" || fail "there is no section $section"
done
[ "$(tail -n 1 "$scratch/text" | grep -cF "$("$FLOTSAM" --version)")" = 1 ] || fail "no version"

# Commands and their options, as help has them.
mapfile -t commands < <("$FLOTSAM" --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
[ ${#commands[@]} -ge 15 ] || fail "help lists only ${#commands[@]} commands"
for name in "${commands[@]}"; do
    "$FLOTSAM" "$name" --help >"$scratch/help"
    usage=$(sed -n '/^usage:/,/^$/p' "$scratch/help" | tr -s ' \n' ' ')
    usage=${usage#usage: flotsam }
    shows "${usage% }"
    while read -r option; do
        shows "$option"
    done < <(grep -oE -- '^  (-[a-z], )?--[a-z-]+( [^ ]+)?' "$scratch/help" | grep -v -- --help)
done

# Every line of the debugger's own help, which lists every request.
record sh -c 'echo 1 >a'
printf 'help\ndump view %s\n' "$scratch/keys" >"$scratch/script"
run 0 "$FLOTSAM" open "$session" --script "$scratch/script" --size 200x50
sed -n '/^THE DEBUGGER/,/^MODELS/p' "$scratch/text" >"$scratch/debugger"
awk 'NR == 1 { command = index($0, "command"); next }
    { keys = substr($0, 1, command - 1); rest = substr($0, command)
      gsub(/ +$/, "", keys); gsub(/ /, ", ", keys)
      if (rest ~ /^ /) { sub(/^ +/, "", rest); print " " rest; next } # a heading
      sub(/  +/, " – ", rest)
      print " " keys (keys ? " " : "") ":" rest }' "$scratch/keys" >"$scratch/entries"
[ "$(grep -c ' – ' "$scratch/entries")" -ge 50 ] || fail "the debugger's help is short"
while IFS= read -r entry; do
    grep -qxF -e "$entry" "$scratch/debugger" || fail "the page does not say:$entry"
done <"$scratch/entries"
while read -r request; do
    grep -qE ":$request( |\$)" "$scratch/entries" || fail "the debugger's help lacks $request"
done < <(sed -nE 's/^ *X\([a-z_]+, "([a-z-]+)", .*/\1/p' "$top/tui/requests.h")

# Models, themes and what a config may hold.
run 2 "$FLOTSAM" litmus --model none "$top/tests/litmus/names.litmus"
says 'there are .*ext4'
sed -n '/^MODELS/,/^CONFIG/p' "$scratch/text" >"$scratch/models"
for name in $(sed 's/.*there are //; s/,//g' "$err") auto_da_alloc dioread_lock; do
    grep -qE "^ $name( |\$)" "$scratch/models" || fail "the page does not know the model $name"
done
while read -r section key; do
    sed -n "/^ \[$section\]/,/^ \[\|^CHECKER/p" "$scratch/text" | grep -qE "^ $key( |\$)" ||
        fail "the page does not know [$section] $key"
done < <(sed -nE 's/^    \{"([a-z]+)", "([a-z_]+)", CONFIG_.*/\1 \2/p' "$top/engine/config.c")
for theme in "$top"/themes/*.theme; do
    theme=${theme##*/}
    grep -qE "The program has.* ${theme%.theme}[,.]" "$scratch/text" || fail "no theme $theme"
done
