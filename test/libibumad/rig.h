/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of libibumad's calls on a fabric in another process. */
#ifndef LIBIBUMAD_RIG_H
#define LIBIBUMAD_RIG_H

#include "../support/server_rig.h"

#include <errno.h>

#include <infiniband/umad.h>

#include <ibsa/types.h>

enum { MAD_BYTES = 256, ROOM = 64 + MAD_BYTES };

/* A packet to send, or room for a received one. */
struct umad_packet {
	_Alignas(8) uint8_t bytes[ROOM];
};

/*
 * Set up a test, whose state is its fabric server. IBSA_FABRIC names a server
 * with server_pair; IBSA_NODE is "right", or not set.
 */
int libibumad_at_right(void **state);
int libibumad_anywhere(void **state);
int libibumad_tear_down(void **state);

/* Open a port at the server, with an agent of the SA's class. */
int port_open(int *agent);
void port_close(int portid);

/* A request to the SA at LID 1. */
struct umad_packet sa_request(uint8_t method, uint16_t attribute);

#endif
