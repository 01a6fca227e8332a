/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Matching of host names with node descriptions. */
#ifndef COMMON_HOST_H
#define COMMON_HOST_H

/*
 * Rate how well a name matches a node.
 * @name:        a node description, its first word, or HOST/DEVICE
 * @description: description of the node
 *
 * Return: 4 @name is equal to @description or to its first word; 3 as 4, but
 * equal only without regard to the case of ASCII letters; 2 @name is
 * HOST/DEVICE and @description is "HOST DEVICE"; 1 as 2, but equal only without
 * regard to the case of ASCII letters; 0 no match, or @name is "".
 */
int ibsa__host_match(const char *name, const char *description);

/*
 * Return the device in a node's description.
 * @description: description of the node
 *
 * Return: a pointer into @description, to the part after its first word and the
 * following spaces, such as "mlx5_0" of "node1 mlx5_0"; a constant "" if there
 * is no space.
 */
const char *ibsa__host_device(const char *description);

#endif
