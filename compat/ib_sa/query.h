/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts queries of all kinds. */
#ifndef IB_SA_QUERY_H
#define IB_SA_QUERY_H

#include "ib_sa/state.h"

/* The arguments of a call that starts a query. */
struct sa_request {
	const struct ibsa_record *record;
	/* The program's record; used only during the call. */
	const void *match;
	ib_sa_comp_mask comp_mask;
	unsigned long timeout_ms;
	sa_tell_fn tell;
	void (*callback)(void); /* of the type that @tell needs */
	void *context;
	uint8_t method;
	/*
	 * The query is for a table (method GetTable). If it is not, @method
	 * must be Get, Set or Delete.
	 */
	bool is_table;
	/*
	 * The program queries an OPA record, but the request is sent in the IB
	 * form because the manager does not support the OPA form.
	 */
	bool was_opa;
};

/*
 * Find the port for a call that starts a query, and check that it can send
 * queries. Return: 0; -ENODEV, which the call returns in any case; or another
 * error, which the call returns only if its other arguments are valid.
 */
int ibsa__sa_query_port(const struct ib_sa_client *client,
			struct ib_device *device, uint8_t port_num,
			struct sa_port **out) IBSA_MUST_USE;

/*
 * Whether all bits of @mask are the kernel's bits for members of @record, also
 * for reserved ones. The modern interface's mask of the same members, which is
 * in host byte order, has other bits.
 */
bool ibsa__sa_mask_is_defined(const struct ibsa_record *record,
			      ib_sa_comp_mask mask);

/*
 * Return: the result of a call that starts a query. @port_err is the result of
 * ibsa__sa_query_port(); @is_good tells whether the other arguments are valid.
 * If there are several errors, the result is, as in the kernel, first -ENODEV,
 * then an error of the arguments, then an error of the port's state.
 */
int ibsa__sa_argument_error(int port_err, bool is_good) IBSA_MUST_USE;

/* Return: as ib_sa_path_rec_get(); *@out_query is always set. */
int ibsa__sa_query_start(struct sa_port *port, struct ib_sa_client *client,
			 const struct sa_request *request,
			 struct ib_sa_query **out_query);

/*
 * For records that have only one form: find the port, check the arguments and
 * start the query. Return: as ibsa__sa_query_start(); -EINVAL also for an
 * invalid method or mask.
 */
int ibsa__sa_query_submit(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, const struct sa_request *request,
			  struct ib_sa_query **out_query);

/*
 * Return: the record in the reply to a query for one record, also if the SA
 * sent it with a status other than 0; NULL if the reply has no record.
 */
const uint8_t *ibsa__sa_answer_record(const struct ibsa_reply *reply);

/*
 * Decode the record that ibsa__sa_answer_record() returns into @out; fill @out
 * with zeros if the reply has no record.
 */
void ibsa__sa_answer_decode(const struct sa_query *query,
			    const struct ibsa_reply *reply, void *out);

#endif
