/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of the commands' rows. */
#include "main/command_list.h"
#include "main/command_names.h"

#define COMMAND_DECLARE(name) extern const struct command command_##name;
#define COMMAND_ROW(name) &command_##name,

COMMANDS(COMMAND_DECLARE)

const struct command *const commands[] = { COMMANDS(COMMAND_ROW) NULL };
