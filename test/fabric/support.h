/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of the embedded fabric. */
#ifndef FABRIC_SUPPORT_H
#define FABRIC_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/fabric.h>

/* timeout of requests; longer than all delays of the tests */
enum { BENCH_TIMEOUT_MS = 60000 };

/* A fabric on a virtual clock and one client on it. */
struct bench {
	struct ibsa_fabric *fabric;
	struct ibsa_transport *transport;
	struct ibsa_message answer; /* the last one */
	uint8_t request[IBSA_MAD_BYTES];
	uint32_t next_tid;
};

/*
 * Start a bench with a fabric whose topology is the text; @options may be
 * NULL.
 */
void bench_start_text(struct bench *bench, const char *text, const char *node,
		      const struct ibsa_fabric_options *options);

/* Start a bench with the fabric of a file in test/data/fabrics. */
void bench_start_file(struct bench *bench, const char *file, const char *node,
		      const struct ibsa_fabric_options *options);

void bench_stop(struct bench *bench);

/*
 * Set up a test; its state is a bench with the fabric b.net and a client at
 * host-r3.
 */
int bench_setup_b(void **state);
int bench_teardown(void **state);

/* The state of the client's port, and a new client at @node. */
struct ibsa_port_state bench_port(struct bench *bench);
struct ibsa_port_state bench_port_at(struct bench *bench, const char *node);

struct ibsa_fabric_stats bench_stats(const struct bench *bench);

/* Return: the number of MADs that were lost for other reasons than a fault. */
uint64_t bench_lost(const struct bench *bench);

/* Change a port, and check that this succeeds. */
void bench_set_port(struct bench *bench, const char *node, unsigned int port,
		    struct ibsa_fabric_port_change change);
void bench_set_link(struct bench *bench, const char *node, unsigned int port,
		    bool is_up);
void bench_set_pkeys(struct bench *bench, const char *node,
		     const uint16_t *pkeys, size_t count);

/*
 * Return: the address of an SA at this LID; an Omni-Path LID is in its GID,
 * too.
 */
struct ibsa_address bench_address(uint32_t lid);

/* The address of the SA, as the client has it. */
struct ibsa_address bench_sa(struct bench *bench);

/* Begin a request in bench->request. Return: where to write its record. */
uint8_t *bench_request(struct bench *bench, uint8_t method, uint16_t attribute,
		       uint64_t mask);

/* Send bench->request. */
void bench_send(struct bench *bench);

/* Receive a MAD into bench->answer. Return: whether there was one. */
bool bench_receive(struct bench *bench);

/* The lower half of the last answer's transaction id, which is the client's. */
uint32_t bench_id(const struct bench *bench);

/*
 * Send bench->request and receive the answer. Return: its status; -1: no
 * answer.
 */
int bench_exchange(struct bench *bench);

/* Send a query with a host struct and its mask. Return: as bench_exchange(). */
int bench_query(struct bench *bench, uint8_t method,
		const struct ibsa_record *record, const void *match,
		uint64_t mask);

/*
 * Return: bench_count(), the number of records in the last answer;
 * bench_record(), one of these records.
 */
size_t bench_count(const struct bench *bench);
const uint8_t *bench_record(const struct bench *bench, size_t index);

/* Add bytes to a checksum, which starts at 0. */
uint64_t bench_mix(uint64_t sum, const void *bytes, size_t len);

/* Read a file in @dir of test/data; the caller frees it. */
char *bench_read(const char *dir, const char *file, size_t *len);

#endif
