/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of libibumad's calls on a fabric in another process. */
#include "libibumad_rig.h"

#include <stdlib.h>

#include <ibsa/bits.h>

int libibumad_anywhere(void **state)
{
	struct served *served = served_start(served_pair);

	*state = served;
	return setenv("IBSA_FABRIC", served_name(served), 1);
}

int libibumad_at_right(void **state)
{
	return libibumad_anywhere(state) || setenv("IBSA_NODE", "right", 1);
}

int libibumad_tear_down(void **state)
{
	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	served_stop(*state);
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

	mad[0] = 1;
	mad[1] = IBSA_CLASS_SA;
	mad[2] = IBSA_CLASS_VERSION;
	mad[3] = method;
	mad[15] = 1;
	ibsa_put_be16(mad + 16, attribute);
	assert_int_equal(umad_set_addr(packet.bytes, 1, 1, 0, IBSA_QKEY_GSI),
			 0);
	return packet;
}
