/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment variables, for openers of libibsa-fabric. */
#ifndef FABRIC_TOOLS_ENVIRONMENT_H
#define FABRIC_TOOLS_ENVIRONMENT_H

#include "base/environment.h"

/*
 * Read the environment variables, as ibsa__environment_read() does. If the
 * process has loaded libibsa, its ibsa_environment_ignore() has effect here,
 * too.
 */
struct ibsa__environment ibsa__fabric_environment_read(bool is_ignored);

#endif
