/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the GID that fits an IP address or GID best, from the rows of a GID
 * table. This file reads no device files.
 *
 * Source: what NCCL and UCX do; RFC 6724, 5, rule 8 for the leading bits.
 */
#include <errno.h>

#include <ibsa/device.h>
#include <ibsa/types.h>

#include "wire/gid.h"

enum {
	/*
	 * Number of leading bits of two IPv6 addresses that are compared: those
	 * of the subnet prefix, because the other bits do not show how near two
	 * addresses are. If two addresses are equal, ALL_BITS is used instead.
	 */
	IPV6_BITS = 64,
	ALL_BITS = 128,
};

/*
 * Rank of a row of the GID table. Two ranks are compared member by member in
 * this order; the larger value wins.
 */
struct score {
	unsigned int version;
	unsigned int bits;
};

static unsigned int common_bits(const struct ibsa_gid *a,
				const struct ibsa_gid *b)
{
	unsigned int bits = 0;

	while (bits < ALL_BITS &&
	       !((a->raw[bits / 8] ^ b->raw[bits / 8]) & 0x80 >> bits % 8))
		bits++;
	return bits;
}

/*
 * Return: IBSA_GID_CHOSEN if this row can be used; otherwise the reason why it
 * cannot.
 */
static enum ibsa_gid_fit row_fit(const struct ibsa_gid_row *row,
				 const struct ibsa_gid *address)
{
	const struct ibsa_gid *gid = &row->entry.gid;
	const bool may_be_local = address ? gid_is_link_local(address)
					  : row->entry.type == IBSA_GID_IB;

	if (row->err)
		return IBSA_GID_UNREADABLE;
	if (gid_is_zero(gid))
		return IBSA_GID_EMPTY;
	if (row->port_state && row->port_state != IBSA_PORT_ACTIVE)
		return IBSA_GID_PORT_DOWN;
	if (address && gid_is_ipv4(gid) != gid_is_ipv4(address))
		return IBSA_GID_OTHER_FAMILY;
	if (gid_is_link_local(gid) && !may_be_local)
		return IBSA_GID_LINK_LOCAL;
	return IBSA_GID_CHOSEN;
}

static struct score row_score(const struct ibsa_gid_row *row,
			      const struct ibsa_gid *address)
{
	const struct ibsa_gid *gid = &row->entry.gid;
	struct score score = { .version = row->entry.type != IBSA_GID_ROCE_V1 };

	if (!address) {
		score.bits = gid_is_ipv4(gid);
		return score;
	}
	score.bits = common_bits(gid, address);
	if (score.bits > IPV6_BITS && score.bits < ALL_BITS &&
	    !gid_is_ipv4(gid))
		score.bits = IPV6_BITS;
	return score;
}

static bool is_better(const struct score *a, const struct score *b)
{
	return a->version != b->version ? a->version > b->version
					: a->bits > b->bits;
}

/*
 * Return: the reason why a row that can be used is worse than the chosen row.
 */
static enum ibsa_gid_fit fit_beside(const struct score *row,
				    const struct score *chosen,
				    const struct ibsa_gid *address)
{
	if (row->version != chosen->version)
		return IBSA_GID_ROCE_V1_ONLY;
	if (row->bits != chosen->bits)
		return address ? IBSA_GID_FARTHER : IBSA_GID_OTHER_FAMILY;
	return IBSA_GID_LATER;
}

/*
 * Fill the result for each row. @chosen is the index of the chosen row; it is
 * @count if no row can be used.
 */
static void fits_fill(const struct ibsa_gid_row *rows, size_t count,
		      const struct ibsa_gid *address, size_t chosen,
		      enum ibsa_gid_fit *fits)
{
	struct score best = { 0 };

	if (chosen < count)
		best = row_score(&rows[chosen], address);
	for (size_t i = 0; i < count; i++) {
		struct score score;

		fits[i] = row_fit(&rows[i], address);
		if (fits[i] != IBSA_GID_CHOSEN || i == chosen)
			continue;
		score = row_score(&rows[i], address);
		fits[i] = fit_beside(&score, &best, address);
	}
}

int ibsa_gid_choose(const struct ibsa_gid_row *rows, size_t count,
		    const struct ibsa_gid *address, enum ibsa_gid_fit *out_fits,
		    size_t *out_at)
{
	struct score best = { 0 };
	size_t at = count;

	for (size_t i = 0; i < count; i++) {
		struct score score;

		if (row_fit(&rows[i], address) != IBSA_GID_CHOSEN)
			continue;
		score = row_score(&rows[i], address);
		if (at < count && !is_better(&score, &best))
			continue;
		at = i;
		best = score;
	}
	if (out_fits)
		fits_fill(rows, count, address, at, out_fits);
	if (at == count)
		return -ENOENT;
	*out_at = at;
	return 0;
}
