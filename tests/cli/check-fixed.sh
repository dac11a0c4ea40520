#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The samples without their mistakes: no check under any model finds anything.
# timeout: 300
# shellcheck disable=SC2034 # for what follows
variant=fixed stores=no
# shellcheck source=tests/cli/check_samples.bash
. "$(dirname "$0")/check_samples.bash"
