/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attacks on a fabric server, and what the driver and they share. */
#ifndef ATTACK_H
#define ATTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "remote/file.h"
#include "wire/mad.h"

enum { NODE_RECORD = 0x0011, PATH_RECORD = 0x0035 };

/* A packet of a umad file: a request to the SA. */
struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* An attack runs in processes of its own, until they are killed. */
struct attack {
	const char *name;
	/*
	 * Attack the server @address, with @nodes hosts. Call attack_has_begun() when the server has what the
	 * attack consists of.
	 */
	void (*run)(const char *address, unsigned int nodes);
	int processes;
	bool passes_descriptors; /* which TCP cannot */
};

extern const struct attack attacks[];
extern const int attack_count;

/* Called by an attack once: the innocent client then begins. */
void attack_has_begun(void);

/* Return: a request to the SA for records of @attribute, all of them. */
struct packet packet_request(uint8_t method, uint16_t attribute, uint32_t agent,
			     uint32_t tid);

/*
 * Open the umad file of host @index with an agent for the SA's answers. Return:
 * 0 or -errno.
 */
int file_open(const char *address, unsigned int index,
	      struct remote_file *out_file, uint32_t *out_agent);

/*
 * Connect to the server, and send a hello unless @node is NULL. If the server
 * refuses, attack_connect() ends the process, and attack_connect_try() returns
 * -1.
 */
int attack_connect(const char *address, const char *node);
int attack_connect_try(const char *address, const char *node);

/*
 * Attack the server over TCP, in a way that @seed chooses, until this process is
 * killed (tcp.c).
 */
void attack_over_tcp(const char *address, uint64_t seed);

void pause_us(unsigned int us);

#endif
