#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Help, parsing and completion come from one table: they know the same commands and options. And
# mistakes of usage are told, with the nearest right name.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

run 0 "$FLOTSAM" --help
mapfile -t commands < <(sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$out")
[ ${#commands[@]} -ge 7 ] || fail "help lists only ${#commands[@]} commands"
"$FLOTSAM" completion bash >"$scratch/completion"
bash -n "$scratch/completion" || fail "bash does not read the completion"
# shellcheck disable=SC1091 # made above
. "$scratch/completion"

# complete WORD...: what the completion offers for the last word, in COMPREPLY.
compopt() { :; }
complete_words() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _flotsam || true # compgen fails when it has nothing to offer
}

cd "$scratch"
complete_words flotsam ''
offered=" ${COMPREPLY[*]} "
for name in "${commands[@]}"; do
    [[ $offered == *" $name "* ]] || fail "completion does not know $name"

    run 0 "$FLOTSAM" "$name" --help
    prints "^usage: flotsam $name"
    cp "$out" "$scratch/own-help"
    run 0 "$FLOTSAM" help "$name"
    cmp -s "$out" "$scratch/own-help" || fail "help $name and $name --help differ"

    mapfile -t listed < <(grep -oE -- '^  (-[a-z], )?--[a-z-]+( [^ ]+)?' "$scratch/own-help" |
        sed 's/^ *//')
    complete_words flotsam "$name" -
    for option in "${listed[@]}"; do
        long=--${option#*--}
        long=${long%% *}
        [[ " ${COMPREPLY[*]} " == *" $long "* ]] || fail "completion of $name does not know $long"
        # The parser knows it: it asks for the argument, or refuses one.
        case $option in
        *--help) ;;
        *--*\ *)
            run 2 "$FLOTSAM" "$name" "$long"
            says "$long needs an argument"
            ;;
        *)
            run 2 "$FLOTSAM" "$name" "$long=x"
            says "$long takes no argument"
            ;;
        esac
    done
    # … and completion offers nothing that help does not list.
    for word in "${COMPREPLY[@]}"; do
        grep -qE -- "(^| )$word( |,|\$)" "$scratch/own-help" ||
            fail "completion of $name offers $word, which help does not list"
    done
    run 2 "$FLOTSAM" "$name" --no-such-option
    says "^flotsam: $name has no option --no-such-option"
done

# offers WORDS -- WORD...: at least these, for the last word.
offers() {
    local wanted=() word
    while [ "$1" != -- ]; do
        wanted+=("$1")
        shift
    done
    shift
    complete_words "$@"
    for word in "${wanted[@]}"; do
        [[ " ${COMPREPLY[*]} " == *" $word "* ]] ||
            fail "completion of $* does not offer $word, but ${COMPREPLY[*]}"
    done
}

# offers_only WORDS -- WORD...: these, in this order, and nothing else.
offers_only() {
    offers "$@"
    local all="$*"
    [ "${COMPREPLY[*]}" = "${all%%' -- '*}" ] || fail "completion offers ${COMPREPLY[*]}"
}

offers ptrace -- flotsam record --backend ''
offers open export -- flotsam ''
offers --script --size --theme -- flotsam open --
offers --what --format --output --limit --transitive --model -- flotsam export --
offers_only graph behaviour: group: bug: op: -- flotsam export --what ''
offers_only bug: -- flotsam export s.flotsam --what bu
offers_only svg -- flotsam export --format s
offers_only dark -- flotsam open --theme d
offers_only dark -- flotsam open --theme = d
offers light high-contrast monochrome -- flotsam open --theme =
offers ext4 xfs btrfs posix ext4-paper strict -- flotsam check --model ''
offers_only exhaustive -- flotsam check --strategy e
offers rename fdatasync -- flotsam trace --call ''
offers_only text json sarif junit -- flotsam report --format ''
for name in $(cd "$top/themes" && echo *.theme); do
    offers "${name%.theme}" -- flotsam open s.flotsam --theme ''
done
mkdir -p "$XDG_CONFIG_HOME/flotsam/themes"
# shellcheck disable=SC2016 # a name that must not be run
touch "$XDG_CONFIG_HOME/flotsam/themes/mine.theme" "$XDG_CONFIG_HOME/flotsam/themes/"'$(touch evil).theme'
offers dark mine -- flotsam open --theme ''
[ ! -e evil ] || fail "completion ran the name of a theme"
complete_words flotsam export --what bug : ''
[ -z "${COMPREPLY[*]}" ] || fail "completion knows a bug's number: ${COMPREPLY[*]}"
touch walk.script
offers_only walk.script -- flotsam open --script w
mkdir sub
touch sub/a.flotsam sub/b.ini sub/c.txt
for name in trace open export; do
    offers_only sub/a.flotsam -- flotsam "$name" sub/
done

run 0 "$FLOTSAM" --version
prints '^flotsam [0-9.]+$'
run 2 "$FLOTSAM"
says '^usage: flotsam COMMAND'
run 2 "$FLOTSAM" tarce
says '^flotsam: no command is called tarce \(did you mean trace\?\)'
run 2 "$FLOTSAM" xyzzy
says '^flotsam: no command is called xyzzy; see'
run 2 "$FLOTSAM" trace --jsno
says 'did you mean --json\?'
run 2 "$FLOTSAM" help recrod
says 'did you mean record\?'
run 2 "$FLOTSAM" trace
says 'no session here'
run 2 "$FLOTSAM" open
says 'no session here'
run 2 "$FLOTSAM" export
says 'no session here'
run 2 "$FLOTSAM" gone.flotsam
says 'gone.flotsam'
run 2 "$FLOTSAM" open gone.flotsam
says 'gone.flotsam'
run 2 "$FLOTSAM" export gone.flotsam
says 'gone.flotsam'
run 2 "$FLOTSAM" open a.flotsam b.flotsam
says "an argument too many: b.flotsam"
for size in 80 80x 0x24 80x24x3 x; do
    run 2 "$FLOTSAM" open --size "$size"
    says "$size is no size; write it as 80x24"
done
run 2 "$FLOTSAM" help trace --man
run 2 "$FLOTSAM" export --format jpg
says 'jpg'
run 2 "$FLOTSAM" gone.ini
says 'no config at gone.ini'

# What could upset a terminal is escaped in messages.
run 2 "$FLOTSAM" $'evil\e[31m\nname'
says 'evil\\x1b\[31m\\nname'
