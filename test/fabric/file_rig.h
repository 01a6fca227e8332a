/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests that open umad files on a fabric. */
#ifndef FABRIC_FILE_RIG_H
#define FABRIC_FILE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/types.h>

#include "umad/header.h"
#include "fabric/fabric/fabric.h"
#include "fabric/file/file.h"
#include "fabric/mad/mad.h"

struct packet_out {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* The packet that was read last. */
struct packet_in {
	struct umad_header header;
	const uint8_t *mad;
	size_t len; /* of the MAD */
};

/*
 * Return: a fabric with the topology @text on a virtual clock; @options may be
 * NULL.
 */
struct ibsa_fabric *file_fabric(const char *text,
				const struct ibsa_fabric_options *options);

/*
 * Open a umad file at port @port of a node; 0 is port 0 of a switch, or the
 * first port of an adapter with a cable.
 */
struct port_file *file_open(struct ibsa_fabric *fabric, const char *node,
			    unsigned int port);

/*
 * Register an agent for a class and the methods in a mask. Return: the agent's
 * number.
 */
uint32_t file_agent(struct port_file *file, uint8_t mgmt_class,
		    uint8_t class_version, uint64_t methods);

/* Return: a request of this agent with a timeout of one second. */
struct packet_out file_request(uint32_t agent, uint32_t lid, uint8_t mgmt_class,
			       uint8_t method, uint16_t attribute,
			       uint32_t tid);

/* Make an SMP of class 0x81, along a path of @hops ports. */
struct packet_out file_smp(uint32_t agent, uint8_t method, uint16_t attribute,
			   uint32_t modifier, const uint8_t *path,
			   uint8_t hops);

int file_write(struct port_file *file, const struct packet_out *packet);

/* Read a packet, if there is one; its MAD is valid until the next read. */
bool file_read(struct port_file *file, struct packet_in *in);

/* Write a request, and read the answer. Return: its MAD. */
const uint8_t *file_exchange(struct port_file *file,
			     const struct packet_out *packet);

/*
 * Two hosts "a" and "b" behind the switch "s", and a umad file at each; the SA
 * is at a.
 */
struct file_pair {
	struct ibsa_fabric *fabric;
	struct port_file *a;
	/* the node b has two ports, the second without a cable */
	struct port_file *b;
};

extern const char file_two_hosts[];

/* Set up a test; its state is a struct file_pair. */
int file_pair_setup(void **state);
int file_pair_teardown(void **state);

uint32_t file_lid(struct ibsa_fabric *fabric, const char *node,
		  unsigned int port);
uint64_t file_drops(struct ibsa_fabric *fabric, enum ibsa_drop_reason reason);

#endif
