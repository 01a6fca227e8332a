#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: wrong.sh VERBS-WRONG EXPECTED
#
# Compares the output of the program VERBS-WRONG with the file EXPECTED.
"$1" | diff "$2" -
