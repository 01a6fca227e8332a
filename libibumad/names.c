/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of the devices that can send MADs, as an array and as a linked
 * list.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "device/device.h"
#include "libibumad/libibumad.h"
#include "libibumad/section.h"

/*
 * Whether a device can send MADs. iWARP and usNIC adapters cannot, for
 * example.
 */
static bool has_mads(struct device_files *files, const char *name)
{
	unsigned int type;

	return !ibsa__node_type_read(files, name, &type) &&
	       type >= IBSA_NODE_CA && type <= IBSA_NODE_ROUTER;
}

int ibsa__ca_names(struct device_files *files, struct ibsa__names *out)
{
	struct ibsa__names names = { 0 };
	size_t count = 0;
	/* The names stay in the order of the directory, as in libibumad. */
	int err = files->ops->list(files, "class/infiniband", &names);

	if (err) {
		ibsa__names_free(&names);
		return err;
	}
	for (size_t i = 0; i < names.count; i++) {
		if (has_mads(files, names.at[i]))
			names.at[count++] = names.at[i];
		else
			ibsa__free(names.at[i]);
	}
	names.count = count;
	*out = names;
	return 0;
}

static int names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ibsa__ca_names_sorted(struct device_files *files, struct ibsa__names *out)
{
	int err = ibsa__ca_names(files, out);

	if (!err && out->count)
		qsort(out->at, out->count, sizeof(*out->at), names_compare);
	return err;
}

/*
 * Copy a device name into a struct's member. Return: false if the name is too
 * long; it is not cut, because a part of it could be the name of another
 * device.
 */
static bool name_copy(const char *name, char out[UMAD_CA_NAME_LEN])
{
	size_t size = strlen(name) + 1;

	if (size > UMAD_CA_NAME_LEN)
		return false;
	memcpy(out, name, size);
	return true;
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	struct device_files *files;
	struct section section;
	struct ibsa__names names;
	int count = 0;
	int err = ibsa__section_enter_files(&section, &files);

	if (err)
		return err;
	err = ibsa__ca_names_sorted(files, &names);
	ibsa__section_leave(&section);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.count && count < max; i++)
		count += name_copy(names.at[i], cas[count]);
	ibsa__names_free(&names);
	return count;
}

/*
 * Allocate a list node together with its name: programs free a node that they
 * remove from the list with a single free().
 */
static struct umad_device_node *node_new(const char *name)
{
	const size_t size = strlen(name) + 1;
	struct umad_device_node *node = ibsa__calloc(1, sizeof(*node) + size);

	if (node)
		node->ca_name = memcpy(node + 1, name, size);
	return node;
}

static int list_new(const struct ibsa__names *names,
		    struct umad_device_node **out)
{
	for (size_t i = names->count; i > 0; i--) {
		struct umad_device_node *node = node_new(names->at[i - 1]);

		if (!node)
			return -ENOMEM;
		node->next = *out;
		*out = node;
	}
	return 0;
}

struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *head = NULL;
	struct device_files *files;
	struct section section;
	struct ibsa__names names;
	int err = ibsa__section_enter_files(&section, &files);

	if (!err) {
		err = ibsa__ca_names(files, &names);
		ibsa__section_leave(&section);
	}
	if (err) {
		errno = err == -ENOENT ? 0 : -err;
		return NULL;
	}
	err = list_new(&names, &head);
	ibsa__names_free(&names);
	if (err) {
		umad_free_ca_device_list(head);
		head = NULL;
	}
	errno = -err;
	return head;
}

void umad_free_ca_device_list(struct umad_device_node *head)
{
	while (head) {
		struct umad_device_node *next = head->next;

		ibsa__free(head);
		head = next;
	}
}

static size_t list_length(const struct umad_device_node *node)
{
	size_t length = 0;

	for (; node; node = node->next)
		length++;
	return length;
}

static void list_insert(struct umad_device_node **at,
			struct umad_device_node *node)
{
	while (*at && strcmp((*at)->ca_name, node->ca_name) <= 0)
		at = &(*at)->next;
	node->next = *at;
	*at = node;
}

/*
 * Sort a list of devices. This function checks the length of the list even if
 * @size is 1; libibumad's function does not.
 */
int umad_sort_ca_device_list(struct umad_device_node **head, size_t size)
{
	struct umad_device_node *sorted = NULL;

	if (size && size != list_length(*head))
		return EINVAL;
	while (*head) {
		struct umad_device_node *node = *head;

		*head = node->next;
		list_insert(&sorted, node);
	}
	*head = sorted;
	return 0;
}
