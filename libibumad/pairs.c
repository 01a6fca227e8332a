/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Planarized adapters: finds the devices that are the SMI and the GSI of one
 * port.
 *
 * Source: what libibumad of rdma-core 64 returns; IBA vol 1, 14.2.5.6.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/umad_ext.h>

#include "base/alloc.h"
#include "libibumad/libibumad.h"
#include "libibumad/section.h"

/*
 * All devices that can be read and whose names fit into struct umad_ca_pair,
 * sorted by the bytes of their names.
 */
struct cas {
	struct ibsa__ca *at;
	size_t count;
};

/* Pairs, and the port GUID of each. */
struct pairs {
	struct umad_ca_pair *at;
	__be64 *guids;
	size_t count;
	size_t max;
};

static void cas_free(struct cas *cas)
{
	for (size_t i = 0; i < cas->count; i++)
		ibsa__ca_free(&cas->at[i]);
	ibsa__free(cas->at);
}

static int cas_fill(struct device_files *files, const struct ibsa__names *names,
		    struct cas *cas)
{
	for (size_t i = 0; i < names->count; i++) {
		int err;

		if (strlen(names->at[i]) >= UMAD_CA_NAME_LEN)
			continue;
		err = ibsa__ca_read(files, names->at[i], &cas->at[cas->count]);
		if (err == -ENOMEM)
			return err;
		if (!err)
			cas->count++;
	}
	return 0;
}

/*
 * Read all devices in @files. If the kernel modules are not loaded, there are
 * no devices. Return: 0; -ENOMEM.
 */
static int cas_read_from(struct device_files *files, struct cas *out)
{
	struct ibsa__names names = { 0 };
	struct cas cas = { 0 };
	int err;

	err = ibsa__ca_names_sorted(files, &names);
	if (err == -ENOMEM)
		return err;
	cas.at = ibsa__calloc(names.count + 1, sizeof(*cas.at));
	err = cas.at ? cas_fill(files, &names, &cas) : -ENOMEM;
	ibsa__names_free(&names);
	if (err) {
		cas_free(&cas);
		return err;
	}
	*out = cas;
	return 0;
}

/*
 * Do what cas_read_from() does, with the device files that the environment
 * variables currently select.
 */
static int cas_read(struct cas *out)
{
	struct device_files *files;
	struct section section;
	int err = ibsa__section_enter_files(&section, &files);

	if (err)
		return err;
	err = cas_read_from(files, out);
	ibsa__section_leave(&section);
	return err;
}

static const struct ibsa__ca *ca_by_name(const struct cas *cas,
					 const char *name)
{
	for (size_t i = 0; i < cas->count; i++) {
		if (!strcmp(cas->at[i].head.ca_name, name))
			return &cas->at[i];
	}
	return NULL;
}

/* Whether more than one port has this port GUID. */
static bool guid_is_shared(const struct cas *cas, __be64 guid)
{
	unsigned int count = 0;

	for (size_t i = 0; i < cas->count; i++) {
		for (size_t k = 0; k < cas->at[i].count; k++)
			count += cas->at[i].ports[k]->port_guid == guid;
	}
	return count > 1;
}

/*
 * Return: the pair with this port GUID; if there is none, a new pair; NULL if
 * there is no room for it.
 */
static struct umad_ca_pair *pairs_get(struct pairs *pairs, __be64 guid)
{
	for (size_t i = 0; i < pairs->count; i++) {
		if (pairs->guids[i] == guid)
			return &pairs->at[i];
	}
	if (pairs->count == pairs->max)
		return NULL;
	pairs->guids[pairs->count] = guid;
	return &pairs->at[pairs->count++];
}

/*
 * Put the name of a device into a pair: as its SMI if the device has QP 0; as
 * its GSI if it has no QP 0, or is the only one with the port GUID. A later
 * device replaces an earlier device in the pair.
 */
static void pair_put(struct umad_ca_pair *pair, const char *name, bool has_smi,
		     bool is_shared)
{
	if (has_smi)
		memcpy(pair->smi_name, name, sizeof(pair->smi_name));
	if (!has_smi || !is_shared)
		memcpy(pair->gsi_name, name, sizeof(pair->gsi_name));
}

/*
 * Add a device to the pair of its first port whose port GUID is not 0. If there
 * is no room for a new pair, try the next port.
 */
static void pairs_add(struct pairs *pairs, const struct cas *cas,
		      const struct ibsa__ca *ca)
{
	for (size_t i = 0; i < ca->count; i++) {
		const umad_port_t *port = ca->ports[i];
		struct umad_ca_pair *pair = NULL;

		if (port->port_guid)
			pair = pairs_get(pairs, port->port_guid);
		if (!pair)
			continue;
		pair_put(pair, ca->head.ca_name, ibsa__ca_port_has_smi(port),
			 guid_is_shared(cas, port->port_guid));
		return;
	}
}

/*
 * Fill the zeroed array @out with up to @max pairs of devices. Return: 0;
 * -ENOMEM.
 */
static int pairs_make(const struct cas *cas, struct umad_ca_pair *out,
		      size_t max, size_t *out_count)
{
	struct pairs pairs = { .at = out, .max = max };

	/* Each device adds at most one pair to the table. */
	pairs.guids = ibsa__calloc(cas->count + 1, sizeof(*pairs.guids));
	if (!pairs.guids)
		return -ENOMEM;
	for (size_t i = 0; i < cas->count; i++)
		pairs_add(&pairs, cas, &cas->at[i]);
	ibsa__free(pairs.guids);
	*out_count = pairs.count;
	return 0;
}

int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max)
{
	struct cas devices;
	size_t count;
	int err;

	if (max)
		memset(cas, 0, max * sizeof(*cas));
	if (cas_read(&devices))
		return -1;
	err = pairs_make(&devices, cas, max, &count);
	cas_free(&devices);
	return err ? -1 : (int)count;
}

/*
 * Whether a port exists and is in a state above Down: a subnet manager uses
 * ports in all these states.
 */
static bool is_up(const umad_port_t *port)
{
	return port && port->state > IBSA_PORT_DOWN;
}

static const umad_port_t *port_by_number(const struct ibsa__ca *ca,
					 uint32_t number)
{
	for (size_t i = 0; i < ca->count; i++) {
		if ((uint32_t)ca->ports[i]->portnum == number)
			return ca->ports[i];
	}
	return NULL;
}

static const umad_port_t *first_up(const struct ibsa__ca *ca)
{
	for (size_t i = 0; i < ca->count; i++) {
		if (is_up(ca->ports[i]))
			return ca->ports[i];
	}
	return NULL;
}

/* The arguments of the search. */
struct wanted {
	const char *name; /* or NULL */
	uint32_t port;	  /* or 0 */
	bool enforce_smi;
};

/*
 * Set both preferred ports of a pair, by the state of the ports of @ca, which
 * is the GSI device if @is_gsi is set, otherwise the SMI device. A physical
 * port has the same number in both devices.
 */
static bool ports_choose(struct umad_ca_pair *pair, const struct ibsa__ca *ca,
			 bool is_gsi, const struct wanted *wanted)
{
	uint32_t *asked = is_gsi ? &pair->gsi_preferred_port
				 : &pair->smi_preferred_port;
	uint32_t *other = is_gsi ? &pair->smi_preferred_port
				 : &pair->gsi_preferred_port;
	const umad_port_t *up = first_up(ca);
	uint32_t port = wanted->port;

	if (ibsa__ca_last_port(ca) == 1)
		port = (uint32_t)ca->ports[0]->portnum;
	if (!port && ca->head.node_type != IBSA_NODE_SWITCH) {
		*asked = *other = up ? (uint32_t)up->portnum : 0;
		return up;
	}
	if (!wanted->name && !is_up(port_by_number(ca, port)))
		return false;
	*asked = port;
	if (!strcmp(pair->smi_name, pair->gsi_name))
		*other = port;
	else if (up)
		*other = (uint32_t)up->portnum;
	else
		return wanted->name;
	return true;
}

/*
 * Whether a pair of devices fits the caller's choice; if it does, set its
 * preferred ports.
 */
static bool pair_choose(const struct cas *cas, struct umad_ca_pair *pair,
			const struct wanted *wanted)
{
	const struct ibsa__ca *ca;
	bool is_gsi = !*pair->smi_name;

	if ((is_gsi && wanted->enforce_smi) || !*pair->gsi_name)
		return false;
	if (wanted->name && !strcmp(wanted->name, pair->gsi_name))
		is_gsi = true;
	else if (wanted->name && strcmp(wanted->name, pair->smi_name) != 0)
		return false;
	ca = ca_by_name(cas, is_gsi ? pair->gsi_name : pair->smi_name);
	if (wanted->port && !port_by_number(ca, wanted->port))
		return false;
	return ports_choose(pair, ca, is_gsi, wanted);
}

/* Return: 0; -ENODEV; -ENOMEM. */
static int pair_find(const struct cas *cas, const struct wanted *wanted,
		     struct umad_ca_pair *out)
{
	struct umad_ca_pair *pairs = ibsa__calloc(cas->count + 1,
						  sizeof(*pairs));
	size_t count;
	int err;

	if (!pairs)
		return -ENOMEM;
	err = pairs_make(cas, pairs, cas->count, &count);
	if (!err)
		err = -ENODEV;
	for (size_t i = 0; i < count && err == -ENODEV; i++) {
		if (!pair_choose(cas, &pairs[i], wanted))
			continue;
		*out = pairs[i];
		err = 0;
	}
	ibsa__free(pairs);
	return err;
}

int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ca_pair,
				     unsigned enforce_smi)
{
	const struct wanted wanted = {
		.name = devname,
		.port = portnum,
		.enforce_smi = enforce_smi,
	};
	struct cas cas;
	int err;

	if (!ca_pair)
		return -1;
	memset(ca_pair, 0, sizeof(*ca_pair));
	err = cas_read(&cas);
	if (!err) {
		err = pair_find(&cas, &wanted, ca_pair);
		cas_free(&cas);
	}
	if (err)
		errno = -err;
	return err == -ENOMEM ? -1 : err;
}
