/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the hosts of a fabric, their adapters, and the names of these. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "base/alloc.h"
#include "base/letter.h"
#include "fabric/fabric/seat.h"

/* Beginning of the name of a device that the node description does not name. */
#define UNNAMED "ibsa"

static size_t host_len(const char *name)
{
	return strcspn(name, " ");
}

/* Compare two texts of which one may be the beginning of the other. */
static int text_compare(const char *a, size_t a_len, const char *b,
			size_t b_len, bool folds)
{
	for (size_t i = 0; i < a_len && i < b_len; i++) {
		const unsigned char x =
			(unsigned char)(folds ? letter_lower(a[i]) : a[i]);
		const unsigned char y =
			(unsigned char)(folds ? letter_lower(b[i]) : b[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a_len > b_len) - (a_len < b_len);
}

/* Compare the hosts of two nodes: first without regard to the case. */
static int host_compare(const char *a, size_t a_len, const char *b)
{
	const int order = text_compare(a, a_len, b, host_len(b), true);

	return order ? order : text_compare(a, a_len, b, host_len(b), false);
}

/* An adapter while the adapters are sorted. */
struct adapter {
	const char *name;
	uint32_t node;
};

static int adapter_compare(const void *a, const void *b)
{
	const struct adapter *x = a;
	const struct adapter *y = b;
	int order = host_compare(x->name, host_len(x->name), y->name);

	if (!order)
		order = strverscmp(ibsa__host_device(x->name),
				   ibsa__host_device(y->name));
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* Fill the arrays with all adapters. Return: their number. */
static uint32_t adapters_get(const struct topology *topo, struct adapter *all)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topo->node_count; i++)
		if (topo->nodes[i].type == IBSA_NODE_CA)
			all[count++] = (struct adapter){ topo->nodes[i].name,
							 i };
	return count;
}

/* Sort the adapters when a host is looked for the first time. */
static int hosts_make(struct ibsa_fabric *fabric)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	struct fabric_hosts *hosts = &fabric->hosts;
	struct adapter *all;

	if (hosts->adapters)
		return 0;
	all = ibsa__calloc((size_t)topo->node_count + 1, sizeof(*all));
	hosts->adapters = ibsa__calloc((size_t)topo->node_count + 1,
				       sizeof(*hosts->adapters));
	if (!all || !hosts->adapters) {
		ibsa__free(all);
		ibsa__free(hosts->adapters);
		hosts->adapters = NULL;
		return -ENOMEM;
	}
	hosts->count = adapters_get(topo, all);
	qsort(all, hosts->count, sizeof(*all), adapter_compare);
	for (uint32_t i = 0; i < hosts->count; i++)
		hosts->adapters[i] = all[i].node;
	ibsa__free(all);
	return 0;
}

static const char *adapter_name(const struct ibsa_fabric *fabric, uint32_t at)
{
	return fabric->first.subnet.topo.nodes[fabric->hosts.adapters[at]].name;
}

/*
 * Return: the index of the first of the sorted adapters whose host is not before
 * @host; if @is_after, of the first whose host is after it. @folds: regardless
 * of the case of letters.
 */
static uint32_t host_bound(const struct ibsa_fabric *fabric, const char *host,
			   size_t len, bool folds, bool is_after)
{
	uint32_t low = 0;
	uint32_t high = fabric->hosts.count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const char *name = adapter_name(fabric, middle);
		const int order = folds ? text_compare(host, len, name,
						       host_len(name), true)
					: host_compare(host, len, name);

		if (order > 0 || (is_after && !order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Find a host: with exactly this name, or else the first whose name differs only
 * in the case of letters. Return: the index of its first adapter, or NO_INDEX.
 */
static uint32_t host_find(const struct ibsa_fabric *fabric, const char *host,
			  size_t len)
{
	for (int folds = 0; len && folds <= 1; folds++) {
		const uint32_t at = host_bound(fabric, host, len, folds, false);

		if (at < host_bound(fabric, host, len, folds, true))
			return at;
	}
	return NO_INDEX;
}

/* The adapters of a seat's host: their indices, up to *@end. */
static uint32_t host_range(const struct ibsa_fabric *fabric, uint32_t node,
			   uint32_t *end)
{
	const char *name = fabric->first.subnet.topo.nodes[node].name;

	*end = host_bound(fabric, name, host_len(name), false, true);
	return host_bound(fabric, name, host_len(name), false, false);
}

/* Set the seat's node to the adapter that a program uses if it names none. */
static void seat_choose(const struct ibsa_fabric *fabric,
			struct fabric_seat *seat)
{
	uint32_t end;

	for (uint32_t at = host_range(fabric, seat->node, &end); at < end;
	     at++) {
		const uint32_t node = fabric->hosts.adapters[at];

		if (!ibsa__adapter_is_active(fabric, node))
			continue;
		seat->node = node;
		return;
	}
}

/* Find a host by the first @len characters of @name. */
static bool seat_at_host(const struct ibsa_fabric *fabric, const char *name,
			 size_t len, struct fabric_seat *out)
{
	const uint32_t at = host_find(fabric, name, len);

	if (at == NO_INDEX)
		return false;
	*out = (struct fabric_seat){ .node = fabric->hosts.adapters[at],
				     .kind = SEAT_HOST };
	seat_choose(fabric, out);
	return true;
}

/* Find the host that this machine is: by its whole name, or its first label. */
static bool seat_of_machine(const struct ibsa_fabric *fabric, const char *name,
			    struct fabric_seat *out)
{
	return seat_at_host(fabric, name, strlen(name), out) ||
	       seat_at_host(fabric, name, strcspn(name, "."), out);
}

static bool seat_at_node(uint32_t node, enum seat_kind kind,
			 struct fabric_seat *out)
{
	*out = (struct fabric_seat){ .node = node, .kind = kind };
	return node != NO_INDEX;
}

static bool seat_by_node(const struct ibsa_fabric *fabric,
			 const struct seat_words *words,
			 struct fabric_seat *out)
{
	const char *name = words->node;

	if (words->is_machine && seat_of_machine(fabric, name, out))
		return true;
	if (words->is_machine || !*name || fabric->recording)
		return seat_at_node(ibsa__fabric_first_adapter(fabric),
				    SEAT_FIRST, out);
	return seat_at_node(ibsa__fabric_find_node(fabric, name), SEAT_NODE,
			    out) ||
	       seat_at_host(fabric, name, strlen(name), out) ||
	       seat_at_node(ibsa__fabric_find_adapter(fabric, name), SEAT_NODE,
			    out);
}

/*
 * Set the node of a seat to that of a device. A device that the seat does not
 * have may be a node anywhere in the fabric.
 */
static bool seat_use_device(const struct ibsa_fabric *fabric,
			    const char *device, bool is_seated,
			    struct fabric_seat *seat)
{
	uint32_t node = NO_INDEX;

	if (is_seated)
		node = ibsa__seat_device(fabric, seat, device);
	if (node != NO_INDEX)
		seat->node = node;
	if (node != NO_INDEX || (is_seated && !strcmp(device, UNNAMED "0")))
		return true;
	return seat_at_node(ibsa__fabric_find_adapter(fabric, device),
			    SEAT_NODE, seat);
}

int ibsa__seat_find(struct ibsa_fabric *fabric, const struct seat_words *words,
		    struct fabric_seat *out)
{
	struct fabric_seat seat = { .node = NO_INDEX };
	bool is_found;
	int err = hosts_make(fabric);

	if (err)
		return err;
	is_found = seat_by_node(fabric, words, &seat);
	if (*words->device)
		is_found = seat_use_device(fabric, words->device, is_found,
					   &seat);
	if (!is_found)
		return -ENODEV;
	*out = seat;
	return 0;
}

struct seat_walk ibsa__seat_walk(const struct ibsa_fabric *fabric,
				 const struct fabric_seat *seat)
{
	struct seat_walk walk = { .fabric = fabric, .seat = seat, .end = 1 };

	if (seat->kind == SEAT_HOST)
		walk.at = host_range(fabric, seat->node, &walk.end);
	return walk;
}

/*
 * Whether a text can be the name of a device: it is a component of paths, and
 * differs from the names of devices without a name.
 */
static bool name_is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] = "0123456789-_.:";
	size_t len = 0;

	if (!*name || !strchr(letters, *name) ||
	    !strncmp(name, UNNAMED, strlen(UNNAMED)))
		return false;
	while (name[len] &&
	       (strchr(letters, name[len]) || strchr(others, name[len])))
		len++;
	return !name[len] && len < SEAT_NAME_BYTES;
}

bool ibsa__seat_next(struct seat_walk *walk)
{
	const struct topo_node *nodes = walk->fabric->first.subnet.topo.nodes;
	const char *name;

	if (walk->at == walk->end)
		return false;
	walk->node = walk->seat->kind == SEAT_HOST
			     ? walk->fabric->hosts.adapters[walk->at]
			     : walk->seat->node;
	walk->at++;
	name = nodes[walk->node].type == IBSA_NODE_CA &&
			       walk->seat->kind != SEAT_FIRST
		       ? ibsa__host_device(nodes[walk->node].name)
		       : "";
	/* Of devices with one name, which are neighbours, the first has it. */
	if (name_is_valid(name) &&
	    (!walk->device || strcmp(name, walk->device) != 0))
		snprintf(walk->name, sizeof(walk->name), "%s", name);
	else
		snprintf(walk->name, sizeof(walk->name), UNNAMED "%" PRIu32,
			 walk->unnamed++);
	walk->device = name;
	return true;
}

bool ibsa__seat_has(const struct ibsa_fabric *fabric,
		    const struct fabric_seat *seat, uint32_t node)
{
	struct seat_walk walk = ibsa__seat_walk(fabric, seat);

	while (ibsa__seat_next(&walk))
		if (walk.node == node)
			return true;
	return false;
}

uint32_t ibsa__seat_device(const struct ibsa_fabric *fabric,
			   const struct fabric_seat *seat, const char *name)
{
	struct seat_walk walk = ibsa__seat_walk(fabric, seat);

	while (ibsa__seat_next(&walk))
		if (!strcmp(walk.name, name))
			return walk.node;
	return NO_INDEX;
}
