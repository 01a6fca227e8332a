#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: release_examples.sh FABRIC OLD NEW
#
# The examples of an earlier release, in the folder OLD, print what those of this one
# print, in the folder NEW; all run with the libraries of this build.
. "$(dirname "${BASH_SOURCE[0]}")/../support/check.sh"
