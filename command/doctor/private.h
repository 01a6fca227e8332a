/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Removes keys from what a report has and, with --anonymous, replaces what names
 * a site: GUIDs, GIDs, names of nodes and services.
 */
#ifndef COMMAND_PRIVATE_H
#define COMMAND_PRIVATE_H

#include <ibsa/records.h>

/*
 * @is_anonymous: GUIDs, GIDs and names are replaced; equal ones by equal ones.
 * The other members are maps (of tsearch(3)) from what was replaced.
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
 * Edit a MAD of the SA of @len bytes. Return: false: it is not one, and its
 * bytes cannot be told apart.
 */
bool private_mad(struct private *private, uint8_t *mad, size_t len);

void private_gid(struct private *private, struct ibsa_gid *gid);
uint64_t private_guid(struct private *private, uint64_t guid);

/*
 * Replace a name in a buffer of @size bytes by @kind and a number. If
 * @has_device, the second word of the name stays, if it is that of a device,
 * such as mlx5_0.
 */
void private_name(struct private *private, const char *kind, bool has_device,
		  char *name, size_t size);

#endif
