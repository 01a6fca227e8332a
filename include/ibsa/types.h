/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few types and markers that every ibsa header uses. */
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

/* A global identifier: subnet prefix and interface id, in network order. */
struct ibsa_gid {
	uint8_t raw[16];
};

/**
 * struct ibsa_error - room for one sentence on what went wrong
 * @text: filled by a call that fails; what was wrong, and what to do about it
 */
struct ibsa_error {
	char text[256];
};

#endif
