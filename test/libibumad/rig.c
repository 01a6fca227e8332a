/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of libibumad's calls on a fabric in another process. */
#include "rig.h"
#include "wire/mad.h"

#include <stdlib.h>

#include <ibsa/types.h>

int libibumad_anywhere(void **state)
{
	struct server_rig *server = server_start(server_pair);

	*state = server;
	return setenv("IBSA_FABRIC", server_address(server), 1);
}

int libibumad_at_right(void **state)
{
	return libibumad_anywhere(state) || setenv("IBSA_NODE", "right", 1);
}

int libibumad_tear_down(void **state)
{
	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	server_stop(*state);
	return 0;
}

int port_open(int *agent)
{
	const int portid = umad_open_port(NULL, 0);

	assert_true(portid >= 0);
	*agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	assert_true(*agent >= 0);
	return portid;
}

void port_close(int portid)
{
	assert_int_equal(umad_close_port(portid), 0);
}

struct umad_packet sa_request(uint8_t method, uint16_t attribute)
{
	struct umad_packet packet = { { 0 } };
	uint8_t *mad = umad_get_mad(packet.bytes);

	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = IBSA_CLASS_SA;
	mad[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION;
	mad[MAD_METHOD] = method;
	mad[MAD_TID + 7] = 1;
	ibsa_put_be16(mad + MAD_ATTRIBUTE, attribute);
	assert_int_equal(umad_set_addr(packet.bytes, 1, 1, 0, IBSA_QKEY_GSI),
			 0);
	return packet;
}
