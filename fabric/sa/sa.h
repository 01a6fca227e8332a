/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded SA: answers request MADs. */
#ifndef FABRIC_SA_SA_H
#define FABRIC_SA_SA_H

#include <string.h>

#include <ibsa/records.h>

#include "fabric/node/sma.h"
#include "fabric/sa/group.h"
#include "fabric/sa/name.h"
#include "fabric/sa/report.h"
#include "fabric/sa/service.h"
#include "fabric/sa/subscription.h"
#include "fabric/mad/reply.h"

/* The decoded record of a request, of any type. */
union sa_record {
#define SA_RECORD(record, ...) struct ibsa_##record record;
	IBSA_RECORDS(SA_RECORD)
#undef SA_RECORD
};

/*
 * A function that answers requests in place of the embedded SA: with the
 * answers of a recording. If @answer is NULL, the embedded SA answers.
 */
struct sa_source {
	/* Return: whether @reply was filled in. */
	bool (*answer)(void *arg, const uint8_t *request,
		       struct sa_reply *reply);
	void *arg;
};

struct sa_client;

/*
 * Selects the requests for which a table is built in slices of time. If @find
 * is NULL, every table is built at once.
 */
struct sa_slicer {
	/*
	 * Find the client that has sent the request @mad. *@out: the client; or
	 * NULL if the table is built at once. Return: false: the sender of the
	 * request has gone, and the SA does not answer.
	 */
	bool (*find)(void *arg, const uint8_t *mad, struct sa_client **out);
	void *arg;
};

/* The embedded SA and everything that clients have registered with it. */
struct sa {
	struct subnet *subnet;
	struct mad_net *net;
	const struct nodes *nodes;
	struct services services;
	struct subscriptions subscriptions;
	struct reports reports;
	struct groups groups;
	struct sa_source source;
	struct sa_slicer slicer;
	/*
	 * The millisecond in which the SA received its last request, for the
	 * SM profile "busy".
	 */
	uint64_t busy_ms;
	unsigned int busy_in; /* requests in that millisecond */
	/*
	 * The time at which the SA has served all requests that it has accepted,
	 * for the SM profiles "slow" and "full".
	 */
	uint64_t free_ns;
	enum ibsa_sm_profile profile;
	bool has_opa_paths;
};

/* A request that arrives at the SA. */
struct sa_request {
	uint32_t end; /* Index of the end port that has sent the request. */
	uint32_t at;  /* Index of the end port that has received the request. */
	/* The destination address that the requester used. */
	const struct ibsa_address *to;
	const uint8_t *mad; /* IBSA_MAD_BYTES */
	/*
	 * Time at which the request arrived, on the fabric's clock; it may be
	 * in the past.
	 */
	uint64_t now_ns;
};

/*
 * The part of an answer that is built in one call of ibsa__sa_answer(), for a
 * table of many records; zero except @until_ns: nothing is built yet.
 */
struct sa_slice {
	uint64_t until_ns; /* time at which the call pauses */
	/* Number of the next step in the walk over the table. */
	size_t index;
	/* For paths: the walks over the ends of all pairs. */
	struct name_walk outer;
	struct name_walk inner;
	size_t count; /* records in the answer so far */
	unsigned int steps;
	bool is_paused;	 /* the answer is not complete */
	bool is_refused; /* answer with the status BUSY */
};

/* A request that is being answered. */
struct sa_work {
	struct sa *sa;
	struct subnet *subnet; /* that of the SA */
	const struct end_port *from;
	const struct ibsa_address *to;
	uint64_t now_ns;
	const uint8_t *mad;
	const union sa_record *want; /* the decoded record of the request */
	uint64_t mask;
	struct sa_reply *reply;
	struct sa_slice slice;
	const struct ibsa_record *record; /* the record of the answer */
	size_t count;			  /* records in the answer so far */
	/* Number of bytes that a record has in the answer, with padding. */
	uint16_t stride;
	/* Value of AttributeOffset in an answer that has records. */
	uint8_t offset;
	uint16_t status;
	uint8_t method;
	/* The request and the answer use the record layouts of Omni-Path. */
	bool is_opa;
	bool is_trusted; /* the request has the SM_Key */
	bool is_silent;	 /* do not send an answer */
	/*
	 * If the answer reports an error, the Subscribe bit in its InformInfo
	 * is cleared.
	 */
	bool ends_subscription;
};

/*
 * The fields of a record that the component mask of a request selects, as
 * offsets in the record's struct.
 */
struct sa_match {
	unsigned int count;
	struct {
		uint16_t offset;
		uint16_t len;
	} fields[64];
};

/**
 * ibsa__sa_answer - answer one request
 * @sa:      the SA of a fabric that the caller has locked
 * @request: the request
 * @reply:   the answer; has room for at least IBSA_MAD_BYTES
 * @slice:   NULL: the whole answer is built. Otherwise, a table may be paused:
 *           the next call with the same arguments continues it. Before this,
 *           only @until_ns may be changed
 *
 * The requests and the state of the fabric must not change between the calls
 * for one answer.
 *
 * Return: false: the SA does not answer this request.
 */
bool ibsa__sa_answer(struct sa *sa, const struct sa_request *request,
		     struct sa_reply *reply, struct sa_slice *slice);

/*
 * Append a record, a struct of the type work->record, to the answer. If the
 * answer has no room for the record, the request fails with
 * IBSA_STATUS_NO_RESOURCES.
 */
void ibsa__sa_append(struct sa_work *work, const void *host);

/*
 * Whether the SA receives requests at a QP of an end port. This function is the
 * member has_qp of a struct port_handler.
 */
bool ibsa__sa_has_qp(void *arg, uint32_t end, uint32_t qpn);

/*
 * Process a MAD if it is for the SA. This function is the member take of a
 * struct port_handler.
 */
bool ibsa__sa_take(void *arg, const struct message *message,
		   const struct arrival *at, uint64_t now_ns);

/*
 * Delete all registrations of clients at the SA, as a restart of the SM does
 * (receive.c).
 */
void ibsa__sa_forget(struct sa *sa);

/*
 * Whether appending can stop: the request has failed, or it is a Get and has
 * more than one record, which is an error.
 */
static inline bool sa_is_full(const struct sa_work *work)
{
	return work->status ||
	       (work->method == IBSA_METHOD_GET && work->count > 1);
}

/* Read the clock. Return: whether the slice has ended. */
bool ibsa__sa_slice_ends(struct sa_work *work);

/*
 * Count a step of a table's walk. Return: whether the walk pauses before the
 * next step.
 */
static inline bool sa_pauses(struct sa_work *work)
{
	enum { STEPS = 32 }; /* between two reads of the clock */

	return !(++work->slice.steps % STEPS) &&
	       work->slice.until_ns != UINT64_MAX && ibsa__sa_slice_ends(work);
}

/*
 * Take the next step of a walk over @count objects. Return: false: the walk has
 * ended, or it pauses, or no more records are needed.
 */
static inline bool sa_next(struct sa_work *work, size_t count, size_t *out)
{
	if (work->slice.index >= count || sa_is_full(work) || sa_pauses(work))
		return false;
	*out = work->slice.index++;
	return true;
}

static inline void sa_fail(struct sa_work *work, uint16_t status)
{
	work->status = status;
}

/*
 * Make room for one more record in the answer. Return: false: there is no
 * room, and the request fails.
 */
bool ibsa__sa_append_grow(struct sa_work *work);

/*
 * Do what ibsa__sa_append() does, with an encoder that the compiler inlines
 * (CODEC_ONLY in wire/record.inc), for tables of many records.
 */
static inline void sa_append(struct sa_work *work,
			     void (*encode)(const void *host, uint8_t *wire,
					    uint64_t *over),
			     const void *host)
{
	struct sa_reply *reply = work->reply;
	uint8_t *wire;
	uint64_t over;

	if (work->stride > reply->room - reply->len &&
	    !ibsa__sa_append_grow(work))
		return;
	wire = reply->bytes + reply->len;
	reply->len += work->stride;
	work->count++;
	/*
	 * The bytes that pad a record are among its last 8 bytes: clear these
	 * first.
	 */
	memset(wire + work->stride - 8, 0, 8);
	encode(host, wire, &over);
}

/*
 * Refuse a request that is not trusted, because it lacks the SM_Key. With
 * IBSA_SM_PROFILE_SILENT, send no answer.
 */
static inline void sa_fail_untrusted(struct sa_work *work)
{
	sa_fail(work, IBSA_STATUS_REQ_INVALID);
	work->is_silent = work->sa->profile == IBSA_SM_PROFILE_SILENT;
}

/*
 * Whether the request's method is Get or GetTable; if not, refuse the request.
 */
bool ibsa__sa_is_query(struct sa_work *work);

/* Set @match to the fields of @record that the component mask @mask selects. */
void ibsa__sa_select(const struct ibsa_record *record, uint64_t mask,
		     struct sa_match *out);

/* Whether two structs of a record have equal values in the fields of @match. */
bool ibsa__sa_agree(const struct sa_match *match, const void *a, const void *b);

/*
 * sa_has_any(): whether the request's component mask has any of @bits;
 * sa_has_all(): whether it has all of them.
 */
static inline bool sa_has_any(const struct sa_work *work, uint64_t bits)
{
	return work->mask & bits;
}

static inline bool sa_has_all(const struct sa_work *work, uint64_t bits)
{
	return (work->mask & bits) == bits;
}

/* Whether the end port is a member of the partition of the P_Key. */
static inline bool sa_has_pkey(const struct sa_work *work,
			       const struct end_port *end, uint16_t pkey)
{
	return ibsa__pkey_has(end_setup(work->subnet, end), pkey);
}

/* Whether two end ports are members of a common partition. */
static inline bool sa_share_pkey(const struct sa_work *work,
				 const struct end_port *a,
				 const struct end_port *b)
{
	return ibsa__pkey_shared(end_setup(work->subnet, a),
				 end_setup(work->subnet, b));
}

/*
 * Whether the requester and an end port are members of a common partition. If
 * not, the SA shows the requester no records of the port.
 */
static inline bool sa_may_know_port(const struct sa_work *work,
				    const struct topo_port *port)
{
	return ibsa__ports_share_pkey(
		work->subnet, end_topo_port(work->subnet, work->from), port);
}

/* Functions that answer the requests, one for each attribute. */
void ibsa__sa_class_port_info(struct sa_work *work);
void ibsa__sa_opa_class_port_info(struct sa_work *work);
void ibsa__sa_node(struct sa_work *work);
void ibsa__sa_port_info(struct sa_work *work);
void ibsa__sa_switch_info(struct sa_work *work);
void ibsa__sa_lft(struct sa_work *work);
void ibsa__sa_mft(struct sa_work *work);
void ibsa__sa_sl_to_vl(struct sa_work *work);
void ibsa__sa_vl_arb(struct sa_work *work);
void ibsa__sa_pkey_table(struct sa_work *work);
void ibsa__sa_link(struct sa_work *work);
void ibsa__sa_sm_info(struct sa_work *work);
void ibsa__sa_path(struct sa_work *work);
void ibsa__sa_opa_path(struct sa_work *work);
void ibsa__sa_multi_path(struct sa_work *work);
void ibsa__sa_service(struct sa_work *work);
void ibsa__sa_group(struct sa_work *work);
void ibsa__sa_guid_info(struct sa_work *work);
void ibsa__sa_inform_info(struct sa_work *work);
void ibsa__sa_inform_info_record(struct sa_work *work);

#endif
