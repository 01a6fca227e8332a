/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one client may take of a fabric server: rounds, time, room, places. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <ibsa/bits.h>
#include <ibsa/sa.h>

#include "remote/file.h"
#include "served_rig.h"

enum { NODE_RECORD = 0x0011, NOWHERE = 99 };

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

static void attach(struct served *served, struct remote_file *file)
{
	struct umad_agent_request2 request = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.rmpp_version = 1,
	};
	struct remote_place place;

	assert_int_equal(ibsa__remote_place(served_name(served), "left", 0,
					    NULL, &place),
			 0);
	assert_int_equal(ibsa__remote_file_open(&place, NULL, file), 0);
	assert_int_equal(ibsa__remote_register(&file->connection, &request), 0);
	assert_int_equal(request.id, 0);
}

/* Ask whatever is at @lid for a table; by its first agent. */
static void ask_table(struct remote_file *file, uint16_t lid, uint32_t tid,
		      uint32_t timeout_ms)
{
	struct packet packet = {
		.header = { .timeout_ms = timeout_ms },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 IBSA_METHOD_GET_TABLE },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, lid);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be32(packet.mad + 12, tid);
	ibsa_put_be16(packet.mad + 16, NODE_RECORD);
	assert_int_equal(ibsa__remote_file_write(file, &packet, sizeof(packet)),
			 0);
}

/* Whether a server comes to a point where it has nothing to do. */
static bool comes_to_rest(struct ibsa_fabric_server *server)
{
	struct pollfd fd = { .fd = ibsa_fabric_server_fd(server),
			     .events = POLLIN };

	for (int i = 0; i < 10000; i++) {
		if (!poll(&fd, 1, 50))
			return true;
		assert_int_equal(ibsa_fabric_server_wait(server, 0), 0);
	}
	return false;
}

/* What is due is seen to, though what comes of it cannot be sent. */
static void who_does_not_read_takes_no_rounds(void **state)
{
	struct served *served = served_start(served_pair);
	struct ibsa_fabric_server *server;
	struct remote_file file;

	(void)state;
	attach(served, &file);
	for (uint32_t i = 0; i < 2000; i++)
		ask_table(&file, 1, i + 1, 1000);
	ask_table(&file, NOWHERE, 1, 1);
	server = served_pause(served);
	assert_true(comes_to_rest(server));
	served_resume(served);
	ibsa__remote_file_close(&file);
	served_stop(served);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_not_read_takes_no_rounds),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
