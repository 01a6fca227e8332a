/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How every kind of query is started. */
#ifndef IB_SA_QUERY_H
#define IB_SA_QUERY_H

#include "ib_sa/state.h"

/* What the start calls have in common, as their callers gave it. */
struct sa_request {
	struct ib_sa_client *client;
	const struct ibsa_record *record;
	const void *match; /* the record's struct */
	ib_sa_comp_mask comp_mask;
	unsigned long timeout_ms;
	uint8_t method;
	bool is_table; /* else @method is to be Get, Set or Delete */
	bool was_opa;
	sa_tell_fn tell;
	void (*callback)(void);
	void *context;
};

/*
 * The port that a start call names, ready to be asked through. Return: 0 or
 * what the call returns if its other arguments are good; -ENODEV in any case.
 */
int ibsa__sa_query_port(const struct ib_sa_client *client,
			struct ib_device *device, uint8_t port_num,
			struct sa_port **out) IBSA_MUST_USE;

/*
 * What a start call returns by @port_err of the call above and its other
 * arguments. The kernel checks these after -ENODEV, and before it checks whether
 * the port is up. Return: 0; or an error.
 */
int ibsa__sa_argument_error(int port_err, bool is_good) IBSA_MUST_USE;

/* Return: as ib_sa_path_rec_get(); *@out_query is set in any case. */
int ibsa__sa_query_start(struct sa_port *port, const struct sa_request *request,
			 struct ib_sa_query **out_query);

/* Both in one, for calls that ask in one form; also -EINVAL: the method. */
int ibsa__sa_query_submit(struct ib_device *device, uint8_t port_num,
			  const struct sa_request *request,
			  struct ib_sa_query **out_query);

/* The one record of an answer into its struct; zeroes if there is none. */
void ibsa__sa_answer_decode(const struct sa_query *query,
			    const struct ibsa_reply *reply, void *out);

#endif
