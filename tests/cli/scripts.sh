#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# No script gives shellcheck anything to say.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need shellcheck
cd "$top"
mapfile -t scripts < <(git ls-files '*.sh' '*.bash' | cat - <(git grep -lE '^#!/bin/(ba)?sh' -- . ':!*.sh' ':!*.bash'))
# The helpers have optional arguments, which shellcheck takes for forgotten ones.
shellcheck -x -e SC2119,SC2120 "${scripts[@]}"
"$FLOTSAM" completion bash | shellcheck -
