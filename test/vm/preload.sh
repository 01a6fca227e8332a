#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: preload.sh LIBRARY PROGRAM [ARGUMENT...]
#
# In a guest: a program with a library in front of it.
LD_PRELOAD=$1
export LD_PRELOAD
shift
exec "$@"
