/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Removes keys from the contents of a report and, with --anonymous, replaces
 * what identifies a site: GUIDs, GIDs, and names of nodes and services.
 */
#ifndef COMMAND_PRIVATE_H
#define COMMAND_PRIVATE_H

#include <ibsa/records.h>

/*
 * @is_anonymous: GUIDs, GIDs and names are replaced; equal values by equal ones
 * @guids, @prefixes, @names: maps of tsearch(3) from a value to its replacement
 */
struct private
{
	bool is_anonymous;
	bool out_of_memory;
	void *guids, *prefixes, *names;
	unsigned int guid_count, prefix_count, name_count;
};

void private_free(struct private *private);

/*
 * Edit a MAD of the SA of @len bytes. Return: false: it is not a MAD of the SA,
 * so its keys and names cannot be found.
 */
bool private_mad(struct private *private, uint8_t *mad, size_t len);

void private_gid(struct private *private, struct ibsa_gid *gid);
uint64_t private_guid(struct private *private, uint64_t guid);

/*
 * Replace a name in a buffer of @size bytes by @kind and a number. If
 * @has_device is set and the second word of the name is that of a device, such
 * as mlx5_0, this word is kept.
 */
void private_name(struct private *private, const char *kind, bool has_device,
		  char *name, size_t size);

#endif
