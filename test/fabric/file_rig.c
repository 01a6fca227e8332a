/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests that open umad files on a fabric. */
#include "file_rig.h"
#include "wire/mad.h"

struct ibsa_fabric *file_fabric(const char *text,
				const struct ibsa_fabric_options *options)
{
	static const struct ibsa_fabric_options usual = {
		.virtual_clock = true,
	};
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric = NULL;

	if (ibsa_fabric_parse(text, strlen(text), options ? options : &usual,
			      &error, &fabric))
		fail_msg("%s", error.text);
	return fabric;
}

struct port_file *file_open(struct ibsa_fabric *fabric, const char *node,
			    unsigned int port)
{
	const uint32_t at = ibsa__fabric_find_port(
		fabric, ibsa__fabric_find_node(fabric, node), port);
	struct port_file *file = NULL;

	assert_int_equal(ibsa__port_file_open(&fabric->first.files, at, NULL,
					      NULL, &file),
			 0);
	return file;
}

uint32_t file_agent(struct port_file *file, uint8_t mgmt_class,
		    uint8_t class_version, uint64_t methods)
{
	struct agent_request request = {
		.method_mask = { methods },
		.qpn = mgmt_class != CLASS_SMP_LID &&
		       mgmt_class != CLASS_SMP_DIRECT,
		.mgmt_class = mgmt_class,
		.class_version = class_version,
		.rmpp_version = mgmt_class == IBSA_CLASS_SA,
	};

	assert_int_equal(ibsa__port_file_register(file, &request), 0);
	return request.id;
}

struct packet_out file_request(uint32_t agent, uint32_t lid, uint8_t mgmt_class,
			       uint8_t method, uint16_t attribute, uint32_t tid)
{
	struct packet_out packet = {
		.header = { .id = agent, .timeout_ms = 1000 },
		.mad = { 1, mgmt_class, mgmt_class == IBSA_CLASS_SA ? 2 : 1,
			 method },
	};
	const struct ibsa_address to = {
		.lid = lid,
		.qpn = mgmt_class != CLASS_SMP_LID,
	};

	assert_int_equal(umad_header_address_put(&packet.header, &to), 0);
	ibsa_put_be32(packet.mad + MAD_TID + 4, tid);
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, attribute);
	return packet;
}

struct packet_out file_smp(uint32_t agent, uint8_t method, uint16_t attribute,
			   uint32_t modifier, const uint8_t *path, uint8_t hops)
{
	static const uint8_t permissive[] = { 0xff, 0xff, 0xff, 0xff };
	struct packet_out packet = {
		.header = { .id = agent, .timeout_ms = 1000, .lid = 0xffff },
		.mad = { 1, CLASS_SMP_DIRECT, 1, method },
	};

	packet.mad[SMP_HOP_COUNT] = hops;
	ibsa_put_be32(packet.mad + MAD_TID + 4, 77);
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, attribute);
	ibsa_put_be32(packet.mad + MAD_MODIFIER, modifier);
	memcpy(packet.mad + SMP_DR_SLID, permissive, sizeof(permissive));
	if (hops)
		memcpy(packet.mad + SMP_INITIAL_PATH + 1, path, hops);
	return packet;
}

int file_write(struct port_file *file, const struct packet_out *packet)
{
	return ibsa__port_file_write(file, (const uint8_t *)packet,
				     sizeof(*packet));
}

bool file_read(struct port_file *file, struct packet_in *in)
{
	static uint8_t bytes[1 << 20];
	const uint8_t *head;
	size_t len = 0;

	ibsa__port_file_settle(file);
	head = ibsa__port_file_head(file, &len);
	if (!head)
		return false;
	assert_true(len <= sizeof(bytes));
	memcpy(bytes, head, len);
	memcpy(&in->header, bytes, sizeof(in->header));
	assert_int_equal(in->header.length, len);
	in->mad = bytes + sizeof(in->header);
	in->len = len - sizeof(in->header);
	ibsa__port_file_take(file);
	return true;
}

const uint8_t *file_exchange(struct port_file *file,
			     const struct packet_out *packet)
{
	struct packet_in in = { .mad = NULL };

	assert_int_equal(file_write(file, packet), 0);
	assert_true(file_read(file, &in));
	assert_int_equal(in.header.status, 0);
	return in.mad;
}

uint32_t file_lid(struct ibsa_fabric *fabric, const char *node,
		  unsigned int port)
{
	struct ibsa_port_state state;

	ibsa__fabric_port_state(
		fabric,
		ibsa__fabric_find_port(
			fabric, ibsa__fabric_find_node(fabric, node), port),
		&state);
	return state.lid;
}

uint64_t file_drops(struct ibsa_fabric *fabric, enum ibsa_drop_reason reason)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(fabric, &stats);
	return stats.drops[reason];
}

const char file_two_hosts[] = "Switch 4 \"s\"\n"
			      "[1] \"a\"[1]\n"
			      "[2] \"b\"[1]\n"
			      "Ca 1 \"a\"\n"
			      "Ca 2 \"b\"\n";

int file_pair_setup(void **state)
{
	static struct file_pair pair;

	pair.fabric = file_fabric(file_two_hosts, NULL);
	pair.a = file_open(pair.fabric, "a", 1);
	pair.b = file_open(pair.fabric, "b", 1);
	*state = &pair;
	return 0;
}

int file_pair_teardown(void **state)
{
	struct file_pair *pair = *state;

	ibsa__port_file_close(pair->a);
	ibsa__port_file_close(pair->b);
	ibsa_fabric_put(pair->fabric);
	return 0;
}
