/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts queries of all kinds. */
#ifndef IB_SA_QUERY_H
#define IB_SA_QUERY_H

#include "ib_sa/state.h"

/* The common arguments of the start calls. */
struct sa_request {
	struct ib_sa_client *client;
	const struct ibsa_record *record;
	const void *match; /* the record's struct */
	ib_sa_comp_mask comp_mask;
	unsigned long timeout_ms;
	uint8_t method;
	bool is_table; /* else @method must be Get, Set or Delete */
	bool was_opa;
	sa_tell_fn tell;
	void (*callback)(void);
	void *context;
};

/*
 * Find the port of a start call, ready for queries. Return: 0; -ENODEV; or the
 * error that the call returns if its other arguments are valid.
 */
int ibsa__sa_query_port(const struct ib_sa_client *client,
			struct ib_device *device, uint8_t port_num,
			struct sa_port **out) IBSA_MUST_USE;

/*
 * The result of a start call, from the result @port_err of
 * ibsa__sa_query_port() and the validity of its other arguments. The kernel
 * checks these after -ENODEV and before the port's state. Return: 0; or an
 * error.
 */
int ibsa__sa_argument_error(int port_err, bool is_good) IBSA_MUST_USE;

/* Return: as ib_sa_path_rec_get(); *@out_query is always set. */
int ibsa__sa_query_start(struct sa_port *port, const struct sa_request *request,
			 struct ib_sa_query **out_query);

/*
 * Find the port and check the arguments in one call, for records with one form.
 * Return: as ibsa__sa_query_start(); -EINVAL also for an invalid method.
 */
int ibsa__sa_query_submit(struct ib_device *device, uint8_t port_num,
			  const struct sa_request *request,
			  struct ib_sa_query **out_query);

/* Decode the record of a reply with one record; zeros if there is none. */
void ibsa__sa_answer_decode(const struct sa_query *query,
			    const struct ibsa_reply *reply, void *out);

#endif
