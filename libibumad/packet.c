/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layout and address of a packet in the program's buffer (umad_set_addr() and
 * others). umad_size() and umad_get_mad() are in umad_dev/ibsim_names.c.
 *
 * Source: umad_set_addr(3) and related pages, infiniband/umad.h of rdma-core.
 */
#include <infiniband/umad.h>

#include "umad/header.h"

_Static_assert(sizeof(struct ib_user_mad) == UMAD_HEADER_BYTES, "umad header");
_Static_assert(offsetof(struct ib_user_mad, addr) ==
		       offsetof(struct umad_header, qpn),
	       "umad header");

ib_mad_addr_t *umad_get_mad_addr(void *umad)
{
	return &((struct ib_user_mad *)umad)->addr;
}

int umad_status(void *umad)
{
	return (int)((const struct ib_user_mad *)umad)->status;
}

int umad_set_grh_net(void *umad, void *mad_addr)
{
	ib_mad_addr_t *to = umad_get_mad_addr(umad);
	const ib_mad_addr_t *from = mad_addr;

	to->grh_present = from != NULL;
	if (!from)
		return 0;
	to->ib_gid = from->ib_gid;
	to->flow_label = from->flow_label;
	to->hop_limit = from->hop_limit;
	to->traffic_class = from->traffic_class;
	return 0;
}

/*
 * Set the GRH of a packet. In @mad_addr, only the flow label is in host byte
 * order; the GID is in network byte order, as for umad_set_grh_net().
 */
int umad_set_grh(void *umad, void *mad_addr)
{
	ib_mad_addr_t *to = umad_get_mad_addr(umad);

	umad_set_grh_net(umad, mad_addr);
	if (mad_addr)
		to->flow_label = htobe32(to->flow_label);
	return 0;
}

int umad_set_addr_net(void *umad, __be16 dlid, __be32 dqp, int sl, __be32 qkey)
{
	ib_mad_addr_t *to = umad_get_mad_addr(umad);

	to->qpn = dqp;
	to->lid = dlid;
	to->qkey = qkey;
	to->sl = (uint8_t)sl;
	return 0;
}

int umad_set_addr(void *umad, int dlid, int dqp, int sl, int qkey)
{
	return umad_set_addr_net(umad, htobe16((uint16_t)dlid),
				 htobe32((uint32_t)dqp), sl,
				 htobe32((uint32_t)qkey));
}

int umad_set_pkey(void *umad, int pkey_index)
{
	umad_get_mad_addr(umad)->pkey_index = (uint16_t)pkey_index;
	return 0;
}

int umad_get_pkey(void *umad)
{
	return umad_get_mad_addr(umad)->pkey_index;
}
