/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: odd-sa empty|flood|twins LID...
 *
 * An SA at the port of IBSA_NODE, in the fabric server of IBSA_FABRIC, that
 * answers as no SA should: each table with success and no record. With "flood"
 * it sends Reports to the last subscriber, as fast as it can. With
 * "twins" its NodeRecords are that of the asking port, and those of two
 * switches that have one GUID. It becomes the SM
 * of the ports with these LIDs, prints a line when it is ready, and runs until
 * a signal ends it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include <ibsa/types.h>

#include "wire/mad.h"

enum {
	MAD_BYTES = 256,
	REPORT = 0x06,
	NODE_RECORD = 0x0011,
	NOTICE = 0x0002,
	INFORM_INFO = 0x0003,
	TRAP_GID_IN_SERVICE = 64,
	NO_RECORDS = 0x0300,
	CLASS_SMP = 0x01,
	PORT_INFO = 0x0015,
	SMP_DATA = 64,
	/* Offsets in PortInfo. Source: IBA vol 1, 14.2.5.6. */
	PORT_INFO_SM_LID = 18,
	PORT_INFO_STATES = 32,
};

struct packet {
	_Alignas(8) uint8_t bytes[64 + 3 * MAD_BYTES];
};

struct odd_sa {
	int port;
	int agent;
	bool floods;
	bool has_twins;
	bool has_subscriber;
	struct ib_mad_addr subscriber;
	uint64_t reports;
};

static void packet_send(struct odd_sa *sa, struct packet *packet, int len)
{
	(void)umad_send(sa->port, sa->agent, packet->bytes, len, 0, 0);
}

static void address_set(struct packet *packet, const struct ib_mad_addr *to)
{
	(void)umad_set_addr_net(packet->bytes, to->lid, to->qpn, to->sl,
				htobe32(IBSA_QKEY_GSI));
}

static void report_send(struct odd_sa *sa)
{
	struct packet packet = { { 0 } };
	uint8_t *mad = umad_get_mad(packet.bytes);
	uint8_t *notice = mad + IBSA_SA_HEADER_BYTES;

	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = IBSA_CLASS_SA;
	mad[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION;
	mad[MAD_METHOD] = REPORT;
	ibsa_put_be64(mad + MAD_TID, ++sa->reports);
	ibsa_put_be16(mad + MAD_ATTRIBUTE, NOTICE);
	notice[0] = 0x83; /* generic, informational */
	notice[3] = 4;	  /* from a class manager */
	ibsa_put_be16(notice + 4, TRAP_GID_IN_SERVICE);
	notice[16] = 0xfe;
	notice[17] = 0x80;
	ibsa_put_be64(notice + 24, sa->reports);
	address_set(&packet, &sa->subscriber);
	packet_send(sa, &packet, MAD_BYTES);
}

/*
 * Append the NodeRecords of the twins. Return: the length of the MAD.
 */
static int twins_put(uint16_t lid, uint8_t *mad)
{
	struct ibsa_node nodes[3] = {
		{ .lid = lid,
		  .node_guid = lid,
		  .port_guid = lid,
		  .node_type = IBSA_NODE_CA,
		  .num_ports = 1,
		  .local_port_num = 1 },
		{ .lid = 101,
		  .node_guid = 0xabc,
		  .port_guid = 0xabc,
		  .node_type = IBSA_NODE_SWITCH,
		  .num_ports = 8,
		  .node_description = "twin one" },
		{ .lid = 102,
		  .node_guid = 0xabc,
		  .port_guid = 0xabc,
		  .node_type = IBSA_NODE_SWITCH,
		  .num_ports = 8,
		  .node_description = "twin two" },
	};
	const int size = (ibsa_node_record.size + 7) / 8 * 8;
	int len = IBSA_SA_HEADER_BYTES;

	ibsa_put_be16(mad + MAD_ATTRIBUTE_OFFSET, (uint16_t)(size / 8));
	for (int i = 0; i < 3; i++, len += size)
		if (ibsa_record_encode(&ibsa_node_record, &nodes[i],
				       sizeof(nodes[i]), mad + len,
				       ibsa_node_record.size))
			abort();
	return len;
}

static void request_answer(struct odd_sa *sa, struct packet *packet)
{
	const struct ib_mad_addr from = *umad_get_mad_addr(packet->bytes);
	uint8_t *mad = umad_get_mad(packet->bytes);
	const uint8_t method = mad[MAD_METHOD];
	const unsigned int attribute = ibsa_be16(mad + MAD_ATTRIBUTE);
	int len = MAD_BYTES;

	mad[MAD_METHOD] = method | METHOD_RESPONSE;
	if (method == IBSA_METHOD_SET)
		mad[MAD_METHOD] = IBSA_METHOD_GET | METHOD_RESPONSE;
	if (method == IBSA_METHOD_GET && attribute != 1)
		ibsa_put_be16(mad + MAD_STATUS, NO_RECORDS);
	if (method == IBSA_METHOD_GET_TABLE) {
		len = sa->has_twins && attribute == NODE_RECORD
			      ? twins_put(be16toh(from.lid), mad)
			      : IBSA_SA_HEADER_BYTES;
		mad[MAD_RMPP_VERSION] = 1;
		mad[MAD_RMPP_TYPE] = 1;
		mad[MAD_RMPP_FLAGS] = 1;
	}
	address_set(packet, &from);
	packet_send(sa, packet, len);
	if (method == IBSA_METHOD_SET && attribute == INFORM_INFO) {
		sa->subscriber = from;
		sa->has_subscriber = true;
	}
}

static void run(struct odd_sa *sa)
{
	struct packet packet;

	for (;;) {
		const bool floods = sa->floods && sa->has_subscriber;
		int len = MAD_BYTES;

		if (umad_recv(sa->port, packet.bytes, &len, floods ? 0 : -1) >=
			    0 &&
		    !umad_status(packet.bytes) &&
		    !(((uint8_t *)umad_get_mad(packet.bytes))[MAD_METHOD] &
		      METHOD_RESPONSE))
			request_answer(sa, &packet);
		if (floods)
			report_send(sa);
	}
}

/* Send an SMP and wait for the answer, which replaces it. */
static bool smp_exchange(int port, int agent, uint16_t lid, uint8_t method,
			 struct packet *packet)
{
	uint8_t *mad = umad_get_mad(packet->bytes);
	int len = MAD_BYTES;

	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = CLASS_SMP;
	mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_METHOD] = method;
	ibsa_put_be64(mad + MAD_TID, method);
	ibsa_put_be16(mad + MAD_ATTRIBUTE, PORT_INFO);
	return !umad_set_addr(packet->bytes, lid, 0, 0, 0) &&
	       !umad_send(port, agent, packet->bytes, MAD_BYTES, 1000, 3) &&
	       umad_recv(port, packet->bytes, &len, 10000) == agent &&
	       !umad_status(packet->bytes) && !ibsa_be16(mad + MAD_STATUS);
}

/* Set the SM's LID of the port with this LID, and keep the rest as it is. */
static bool sm_lid_set(int port, int agent, uint16_t lid, uint16_t sm_lid)
{
	struct packet packet = { { 0 } };
	uint8_t *info = (uint8_t *)umad_get_mad(packet.bytes) + SMP_DATA;

	if (!smp_exchange(port, agent, lid, IBSA_METHOD_GET, &packet))
		return false;
	ibsa_put_be16(info + PORT_INFO_SM_LID, sm_lid);
	info[PORT_INFO_STATES] &= 0xf0;
	info[PORT_INFO_STATES + 1] &= 0x0f;
	return smp_exchange(port, agent, lid, IBSA_METHOD_SET, &packet);
}

/* Become the SM of the ports with these LIDs. */
static bool sm_become(char **lids)
{
	const int port = umad_open_port(NULL, 0);
	const int agent = umad_register(port, CLASS_SMP, 1, 0, NULL);
	umad_port_t own;
	bool is_set = !umad_get_port(NULL, 0, &own);

	for (; is_set && *lids; lids++)
		is_set = sm_lid_set(port, agent, (uint16_t)atoi(*lids),
				    (uint16_t)own.base_lid);
	(void)umad_close_port(port);
	return is_set;
}

int main(int argc, char **argv)
{
	long methods[16 / sizeof(long)] = { 0 };
	struct odd_sa sa = { .floods = argc > 1 && !strcmp(argv[1], "flood"),
			     .has_twins = argc > 1 &&
					  !strcmp(argv[1], "twins") };

	umad_init();
	if (argc < 3 || !sm_become(argv + 2)) {
		fprintf(stderr, "odd-sa: the SM's LID is not set\n");
		return 1;
	}
	methods[0] = 1L << IBSA_METHOD_GET | 1L << IBSA_METHOD_SET |
		     1L << IBSA_METHOD_GET_TABLE;
	sa.port = umad_open_port(NULL, 0);
	sa.agent = sa.port < 0 ? -1
			       : umad_register(sa.port, IBSA_CLASS_SA,
					       IBSA_CLASS_VERSION, 1, methods);
	if (sa.agent < 0) {
		fprintf(stderr, "odd-sa: no agent: %d\n", sa.agent);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	run(&sa);
}
