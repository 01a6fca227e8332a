/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types and macros that all headers of ibsa use. */
#ifndef IBSA_TYPES_H
#define IBSA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IBSA_MUST_USE __attribute__((warn_unused_result))

#ifdef __cplusplus
#define IBSA_BEGIN extern "C" {
#define IBSA_END }
#else
#define IBSA_BEGIN
#define IBSA_END
#endif

/* A GID: subnet prefix and interface ID, in network byte order. */
struct ibsa_gid {
	uint8_t raw[16];
};

/**
 * struct ibsa_error - one sentence about an error
 * @text: written by a function that fails, with a NUL: what failed, why, and
 *        what to do. Read it only after a failure
 */
struct ibsa_error {
	char text[256];
};

#endif
