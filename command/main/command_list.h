/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All commands. */
#ifndef COMMAND_COMMAND_LIST_H
#define COMMAND_COMMAND_LIST_H

#include "options/command.h"

/* The rows in the order of --help, and NULL. */
extern const struct command *const commands[];

#endif
