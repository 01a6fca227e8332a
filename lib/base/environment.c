/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the environment variables of the library. No other file of the library
 * calls getenv().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/registry.h"

struct ibsa__environment ibsa__environment_read(bool is_ignored)
{
	const char *ring;

	if (is_ignored || ibsa__environment_is_ignored())
		return (struct ibsa__environment){ .has_rings = true };
	ring = secure_getenv("IBSA_RING");
	return (struct ibsa__environment){
		.fabric = secure_getenv("IBSA_FABRIC"),
		.node = secure_getenv("IBSA_NODE"),
		.sysfs = secure_getenv("SYSFS_PATH"),
		.seed = secure_getenv("IBSA_SEED"),
		.umad_reopen = secure_getenv("IBSA_UMAD_REOPEN"),
		.has_rings = !ring || strcmp(ring, "0") != 0,
	};
}

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/*
 * Copy the string @text to *@at, and advance *@at to the byte after the copy.
 * Return: the copy; NULL if @text is NULL.
 */
static const char *text_copy(const char *text, char **at)
{
	char *copy = *at;
	const size_t bytes = text_bytes(text);

	if (!text)
		return NULL;
	memcpy(copy, text, bytes);
	*at += bytes;
	return copy;
}

int ibsa__environment_copy(const struct ibsa__environment *environment,
			   struct ibsa__environment **out)
{
	struct ibsa__environment *copy = ibsa__calloc(
		1, sizeof(*copy) + text_bytes(environment->fabric) +
			   text_bytes(environment->node) +
			   text_bytes(environment->sysfs) +
			   text_bytes(environment->seed));
	char *at;

	if (!copy)
		return -ENOMEM;
	at = (char *)(copy + 1);
	copy->fabric = text_copy(environment->fabric, &at);
	copy->node = text_copy(environment->node, &at);
	copy->sysfs = text_copy(environment->sysfs, &at);
	copy->seed = text_copy(environment->seed, &at);
	copy->has_rings = environment->has_rings;
	*out = copy;
	return 0;
}
