/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of libibumad's calls on a fabric in another process. */
#ifndef LIBIBUMAD_RIG_H
#define LIBIBUMAD_RIG_H

#include "../support/server_rig.h"

#include <errno.h>

#include <infiniband/umad.h>

#include <ibsa/sa.h>

enum { MAD_BYTES = 256, ROOM = 64 + MAD_BYTES };

/* A packet to send, or room for what is received. */
struct umad_packet {
	_Alignas(8) uint8_t bytes[ROOM];
};

/*
 * Set up a test, whose state is its server: the environment's fabric is
 * served_pair, and its node is "right", or nobody has said which.
 */
int libibumad_at_right(void **state);
int libibumad_anywhere(void **state);
int libibumad_tear_down(void **state);

/* A port at the server, and an agent of the SA's class. */
int port_open(int *agent);
void port_close(int portid);

/* A request to the SA at LID 1. Return: it. */
struct umad_packet sa_request(uint8_t method, uint16_t attribute);

#endif
