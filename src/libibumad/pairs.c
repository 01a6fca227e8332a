/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Planarized adapters: which devices are the two sides of one port.
 *
 * Source: what libibumad of rdma-core 64 does; IBA vol 1, 14.2.5.6.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/sa.h>
#include <ibsa/umad_ext.h>

#include "base/alloc.h"
#include "libibumad/libibumad.h"

/* A device as one side of a port. */
struct side {
	char name[UMAD_CA_NAME_LEN];
	__be64 guid; /* of its first port that has one; else 0 */
	bool has_smi;
};

static void side_fill(const struct ibsa__ca *ca, struct side *out)
{
	for (size_t i = 0; i < ca->count; i++) {
		const umad_port_t *port = ca->ports[i];

		if (!port->port_guid)
			continue;
		out->guid = port->port_guid;
		out->has_smi = ibsa__ca_port_has_smi(port);
		return;
	}
}

/* One that cannot be read has no GUID. 0 or -ENOMEM. */
static int side_read(struct device_files *files, struct side *side)
{
	struct ibsa__ca ca;
	int err = ibsa__ca_read(files, side->name, &ca);

	if (err)
		return err == -ENOMEM ? err : 0;
	side_fill(&ca, side);
	ibsa__ca_free(&ca);
	return 0;
}

static int sides_fill(struct device_files *files,
		      const struct ibsa__names *names, struct side *sides,
		      size_t *out_count)
{
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; i < names->count && !err; i++) {
		if (ibsa__ca_name_fits(names->at[i], sides[count].name))
			err = side_read(files, &sides[count++]);
	}
	*out_count = count;
	return err;
}

/* Without the modules there are none. 0 or -ENOMEM. */
static int sides_read(struct device_files *files, struct side **out,
		      size_t *out_count)
{
	struct ibsa__names names = { 0 };
	struct side *sides;
	int err;

	err = ibsa__ca_names_sorted(files, &names);
	if (err == -ENOMEM)
		return err;
	sides = ibsa__calloc(names.count + 1, sizeof(*sides));
	err = sides ? sides_fill(files, &names, sides, out_count) : -ENOMEM;
	ibsa__names_free(&names);
	if (err) {
		ibsa__free(sides);
		return err;
	}
	*out = sides;
	return 0;
}

/* The first device of a GUID that has SMI, or has not; or NULL. */
static const struct side *side_find(const struct side *sides, size_t count,
				    __be64 guid, bool has_smi)
{
	for (size_t i = 0; i < count; i++) {
		if (sides[i].guid == guid && sides[i].has_smi == has_smi)
			return &sides[i];
	}
	return NULL;
}

static bool is_first_of_its_guid(const struct side *sides, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (sides[i].guid == sides[at].guid)
			return false;
	}
	return true;
}

static void pair_fill(const struct side *smi, const struct side *gsi,
		      struct umad_ca_pair *out)
{
	struct umad_ca_pair pair = { 0 };

	if (smi)
		memcpy(pair.smi_name, smi->name, sizeof(pair.smi_name));
	gsi = gsi ? gsi : smi;
	memcpy(pair.gsi_name, gsi->name, sizeof(pair.gsi_name));
	*out = pair;
}

static size_t pairs_fill(const struct side *sides, size_t count,
			 struct umad_ca_pair *pairs, size_t max)
{
	size_t made = 0;

	for (size_t i = 0; i < count && made < max; i++) {
		const __be64 guid = sides[i].guid;

		if (guid && is_first_of_its_guid(sides, i))
			pair_fill(side_find(sides, count, guid, true),
				  side_find(sides, count, guid, false),
				  &pairs[made++]);
	}
	return made;
}

int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max)
{
	struct device_files *files;
	struct side *sides;
	size_t count;
	int err = ibsa__files_open_now(&files);

	if (!err) {
		err = sides_read(files, &sides, &count);
		ibsa__files_put(files);
	}
	if (err)
		return -1;
	count = pairs_fill(sides, count, cas, max);
	ibsa__free(sides);
	return (int)count;
}

/* Any state but Down: the subnet manager itself works on such ports. */
static bool is_up(const umad_port_t *port)
{
	return port->state > IBSA_PORT_DOWN;
}

/* @wanted 0 for any; @named: it need not be up. */
static bool port_suits(const struct ibsa__ca *ca, const umad_port_t *port,
		       unsigned int wanted, bool named)
{
	if (wanted && (unsigned int)port->portnum != wanted)
		return false;
	return is_up(port) || (named && (wanted || ca->count == 1));
}

/* 0, -ENODEV or -ENOMEM. */
static int port_choose(struct device_files *files, const char *name,
		       unsigned int wanted, bool named, uint32_t *out)
{
	struct ibsa__ca ca;
	int err = ibsa__ca_read(files, name, &ca);

	if (err)
		return err == -ENOMEM ? err : -ENODEV;
	err = -ENODEV;
	for (size_t i = 0; i < ca.count && err; i++) {
		if (!port_suits(&ca, ca.ports[i], wanted, named))
			continue;
		*out = (uint32_t)ca.ports[i]->portnum;
		err = 0;
	}
	ibsa__ca_free(&ca);
	return err;
}

/* The port of the other side, if there is one. 0, -ENODEV or -ENOMEM. */
static int other_choose(struct device_files *files, const char *name,
			bool named, uint32_t *out)
{
	int err = *name ? port_choose(files, name, 0, false, out) : 0;

	return named && err == -ENODEV ? 0 : err;
}

/* Sets the preferred ports. 0, -ENODEV it will not do, or -ENOMEM. */
static int pair_choose(struct device_files *files, struct umad_ca_pair *pair,
		       const char *name, unsigned int portnum)
{
	const bool is_gsi = name ? !strcmp(name, pair->gsi_name)
				 : !*pair->smi_name;
	const bool is_one = !strcmp(pair->smi_name, pair->gsi_name);
	uint32_t *asked = &pair->smi_preferred_port;
	uint32_t *other = &pair->gsi_preferred_port;
	int err;

	if (name && !is_gsi && strcmp(name, pair->smi_name) != 0)
		return -ENODEV;
	if (is_gsi) {
		asked = &pair->gsi_preferred_port;
		other = &pair->smi_preferred_port;
	}
	err = port_choose(files, is_gsi ? pair->gsi_name : pair->smi_name,
			  portnum, name != NULL, asked);
	if (err)
		return err;
	if (!is_one)
		return other_choose(files,
				    is_gsi ? pair->smi_name : pair->gsi_name,
				    name != NULL, other);
	*other = *asked;
	return 0;
}

static int pair_find(struct device_files *files, const struct side *sides,
		     size_t count, struct umad_ca_pair *pairs, const char *name,
		     unsigned int portnum, bool enforce_smi)
{
	count = pairs_fill(sides, count, pairs, count);
	for (size_t i = 0; i < count; i++) {
		int err;

		if (enforce_smi && !*pairs[i].smi_name)
			continue;
		err = pair_choose(files, &pairs[i], name, portnum);
		if (err == -ENODEV)
			continue;
		pairs[0] = pairs[i];
		return err;
	}
	return -ENODEV;
}

static int pair_get(struct device_files *files, const char *name,
		    unsigned int portnum, bool enforce_smi,
		    struct umad_ca_pair *out)
{
	struct umad_ca_pair *pairs;
	struct side *sides;
	size_t count;
	int err;

	if (sides_read(files, &sides, &count))
		return -1;
	pairs = ibsa__calloc(count + 1, sizeof(*pairs));
	err = pairs ? pair_find(files, sides, count, pairs, name, portnum,
				enforce_smi)
		    : -ENOMEM;
	if (!err)
		*out = pairs[0];
	ibsa__free(pairs);
	ibsa__free(sides);
	return err == -ENOMEM ? -1 : err;
}

int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ca_pair,
				     unsigned enforce_smi)
{
	struct device_files *files;
	int err;

	if (!ca_pair || ibsa__files_open_now(&files))
		return -1;
	err = pair_get(files, devname, portnum, enforce_smi, ca_pair);
	ibsa__files_put(files);
	return err;
}
