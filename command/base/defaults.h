/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defaults of the command that differ from the library's. Help and the manual
 * page take the values from here.
 */
#ifndef CLI_DEFAULTS_H
#define CLI_DEFAULTS_H

/* -t of doctor and ping-sa, and of check node and metrics */
#define CLI_DEFAULT_DOCTOR_MS 1000
#define CLI_DEFAULT_CHECK_MS 2000

#endif
