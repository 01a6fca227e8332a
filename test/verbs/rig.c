/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of the verbs names. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibsa/ibsa.h>

#include "test/support/three_nodes.h"
#include "test/verbs/rig.h"

struct ibv_context *verbs_rig_open(struct verbs_rig *rig, const char *node)
{
	const struct ibsa_options options = { .device = node,
					      .on = rig->fabric };
	struct ibv_context *context = NULL;

	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	return context;
}

void verbs_rig_start(struct verbs_rig *rig, bool virtual_clock)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = virtual_clock,
	};

	assert_int_equal(ibsa_fabric_parse(three_nodes, sizeof(three_nodes) - 1,
					   &options, NULL, &rig->fabric),
			 0);
	rig->context = verbs_rig_open(rig, "node1");
}

void verbs_rig_stop(struct verbs_rig *rig)
{
	assert_int_equal(ibsa_close_device(rig->context), 0);
	ibsa_fabric_put(rig->fabric);
}

int verbs_rig_setup(void **state)
{
	verbs_rig_start(*state, false);
	return 0;
}

int verbs_rig_setup_virtual(void **state)
{
	verbs_rig_start(*state, true);
	return 0;
}

int verbs_rig_teardown(void **state)
{
	verbs_rig_stop(*state);
	return 0;
}

union ibv_gid verbs_rig_gid(const struct verbs_rig *rig, const char *node,
			    unsigned int port)
{
	struct ibsa_fabric_port at;
	union ibv_gid gid = { { 0 } };

	for (size_t i = 0; !ibsa_fabric_port_at(rig->fabric, i, &at); i++) {
		if (!strcmp(at.node, node) && at.number == port)
			memcpy(&gid, &at.state.gid, sizeof(gid));
	}
	assert_int_equal(gid.raw[0], 0xfe);
	return gid;
}

union ibv_gid verbs_rig_group(uint8_t number)
{
	return (union ibv_gid){ { 0xff, 0x12, 0x12, 0x34, [15] = number } };
}

void verbs_rig_plug(struct verbs_rig *rig, const char *node, unsigned int port,
		    bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, node, port, &change),
			 0);
}

void verbs_rig_fault(struct verbs_rig *rig, enum ibsa_fault_kind kind, bool on)
{
	const struct ibsa_fault fault = { .kind = kind,
					  .percent = on ? 100 : 0 };

	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
}

#define CM(field) IBSA_MCMEMBER_CM(field)

void verbs_rig_join(struct verbs_rig *rig, const char *node,
		    const union ibv_gid *group, bool joined)
{
	const union ibv_gid port = verbs_rig_gid(rig, node, 1);
	const struct ibsa_options options = { .device = node,
					      .on = rig->fabric };
	struct ibsa_mcmember wanted = {
		.qkey = 1,
		.pkey = 0xffff,
		.scope = 2,
		.join_state = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_mcmember_record,
		.match = &wanted,
		.mask = CM(mgid) | CM(port_gid) | CM(join_state) |
			(joined ? CM(qkey) | CM(pkey) | CM(sl) |
					  CM(flow_label) | CM(tclass)
				: 0),
		.method = joined ? IBSA_METHOD_SET : IBSA_METHOD_DELETE,
	};
	struct ibsa_client *client;

	memcpy(&wanted.mgid, group, sizeof(wanted.mgid));
	memcpy(&wanted.port_gid, &port, sizeof(wanted.port_gid));
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

bool verbs_rig_is_in(pid_t thread, long call)
{
	char path[64];
	char text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	return atol(text) == call;
}
