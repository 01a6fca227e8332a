#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: preload.sh LIBRARY PROGRAM [ARGUMENT...]
#
# Runs in a virtual machine: starts PROGRAM with LIBRARY preloaded. Exit
# status: that of PROGRAM.
LD_PRELOAD=$1
export LD_PRELOAD
shift
exec "$@"
