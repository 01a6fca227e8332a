/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport for benchmarks that answers every request at once, from memory
 * and in order, so that only the engine's time is measured.
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <ibsa/types.h>
#include <ibsa/transport.h>

/**
 * struct loop - the transport
 * @transport: for the engine
 * @now_ns:    its clock; advances a little at each read
 * @answer:    the answer to all requests, except its transaction id
 * @ids:       transaction ids of the unanswered requests, a ring
 * @mask:      index mask of the ring
 * @sent, @received: number of MADs since the start
 */
struct loop {
	struct ibsa_transport transport;
	uint64_t now_ns;
	uint8_t answer[IBSA_MAD_BYTES];
	uint64_t *ids;
	uint64_t mask;
	uint64_t sent;
	uint64_t received;
};

/*
 * Allocate the transport's ring for @size requests in flight; @size is a power
 * of two. Return: 0; -1: memory is short.
 */
int loop_init(struct loop *loop, uint64_t size);

#endif
