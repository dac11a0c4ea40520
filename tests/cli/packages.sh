#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How missing packages are dealt with, on a machine made of stand-ins: nothing is installed.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
bin=$scratch/bin
mkdir "$bin"

# stand_in NAME SCRIPT: a program that notes its arguments and then does as told.
stand_in() {
    printf '#!/bin/sh\necho "%s $*" >>%q\n%s\n' "$1" "$scratch/calls" "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

go() { # STATUS PACKAGE...
    : >"$scratch/calls"
    run "$1" env PATH="$bin:$PATH" .ci/packages "${@:2}"
}

called() {
    grep -qE "$1" "$scratch/calls" || fail "was not called: $1 ($(cat "$scratch/calls"))"
}

not_called() {
    ! grep -qE "$1" "$scratch/calls" || fail "was called: $1"
}

stand_in dpkg-query 'echo "ii  present"; echo "rc  removed"'
stand_in apt-get 'exit 0'
stand_in id 'echo 0'

go 0 present
not_called apt-get

go 0 present missing removed
called '^apt-get .* install missing removed$'
not_called 'apt-get.* update'

# Stale lists are fetched anew, once.
stand_in apt-get 'case $* in *update*) touch "'"$scratch"'/updated" ;; *) [ -f "'"$scratch"'/updated" ] ;; esac'
go 0 missing
called '^apt-get .*update'
rm "$scratch/updated"

# A failure to install is a failure.
stand_in apt-get 'exit 100'
run 100 env PATH="$bin:$PATH" .ci/packages missing

# Not root: by sudo when that asks for nothing, else a message.
stand_in apt-get 'exit 0'
stand_in id 'echo 1000'
# shellcheck disable=SC2016 # for the stand-in
stand_in sudo 'shift; exec "$@"'
go 0 missing
called '^apt-get .* install missing$'

stand_in sudo 'exit 1'
go 1 present missing
says 'sudo apt-get install missing$'
not_called '^apt-get'
