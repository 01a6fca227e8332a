/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded SA: one request MAD in, one answer MAD out. */
#ifndef SIM_SA_SA_H
#define SIM_SA_SA_H

#include <string.h>

#include <ibsa/records.h>

#include "sim/node/sma.h"
#include "sim/sa/group.h"
#include "sim/sa/name.h"
#include "sim/sa/report.h"
#include "sim/sa/service.h"
#include "sim/sa/subscription.h"
#include "sim/mad/reply.h"

/* The largest host struct: any record of a request. */
union sa_record {
#define SA_RECORD(record, ...) struct ibsa_##record record;
	IBSA_RECORDS(SA_RECORD)
#undef SA_RECORD
};

/* What answers in place of the SA; all zero: nothing does. */
struct sa_source {
	/* Return: whether there is an answer. */
	bool (*answer)(void *arg, const uint8_t *request,
		       struct sa_reply *reply);
	void *arg;
};

/* The SA, with what clients have registered. */
struct sa {
	struct subnet *subnet;
	struct mad_net *net;
	const struct nodes *nodes;
	struct services services;
	struct subscriptions subscriptions;
	struct reports reports;
	struct groups groups;
	struct sa_source source;
	uint64_t busy_ms;     /* the last one in which the SA was asked */
	unsigned int busy_in; /* requests in it */
	enum ibsa_sm_profile profile;
	bool has_opa_paths;
};

/* A request as it arrives. */
struct sa_request {
	uint32_t end;		       /* index of the end port it came from */
	const struct ibsa_address *to; /* as its sender has addressed it */
	const uint8_t *mad;	       /* IBSA_MAD_BYTES */
	uint64_t now_ns;	       /* when; perhaps a while ago */
};

/* One request being answered. */
struct sa_work {
	struct sa *sa;
	struct subnet *subnet; /* of the SA */
	const struct end_port *from;
	const struct ibsa_address *to;
	uint64_t now_ns;
	const uint8_t *mad;
	const union sa_record *want; /* the record in the request */
	uint64_t mask;
	struct sa_reply *reply;
	const struct ibsa_record *record; /* of the answer */
	size_t count;			  /* records so far */
	uint16_t stride;		  /* bytes of one */
	uint8_t offset; /* AttributeOffset of an answer with records */
	uint16_t status;
	uint8_t method;
	bool is_opa;		/* in the layouts of Omni-Path */
	bool is_trusted;	/* the request carries the SM_Key */
	bool is_silent;		/* no answer at all */
	bool ends_subscription; /* say so in an error's echo */
};

/* The fields of a record that a request selects, in the record's struct. */
struct sa_match {
	unsigned int count;
	struct {
		uint16_t offset;
		uint16_t len;
	} fields[64];
};

/**
 * ibsa__sa_answer - let the SA answer one request
 * @sa:      of a fabric that the caller has locked
 * @request: which
 * @reply:   the answer; has at least IBSA_MAD_BYTES of room
 *
 * Return: whether there is an answer.
 */
bool ibsa__sa_answer(struct sa *sa, const struct sa_request *request,
		     struct sa_reply *reply);

/*
 * The same, of an SA that faults may keep from it; what answers a Report
 * ends here, too (receive.c).
 */
bool ibsa__sa_receive(struct sa *sa, const struct sa_request *request,
		      struct sa_reply *reply);

/*
 * Append a record to the answer: the host struct of work->record. If there is
 * no room, the request fails and nothing is appended.
 */
void ibsa__sa_append(struct sa_work *work, const void *host);

/* Whether a redirection leads to that QP; as in struct port_handler. */
bool ibsa__sa_has_qp(void *arg, uint32_t end, uint32_t qpn);

/* Take a MAD for the SA; as in struct port_handler. */
bool ibsa__sa_take(void *arg, const struct message *message,
		   const struct arrival *at, uint64_t now_ns);

/* The SA is a new one: it has no registration (receive.c). */
void ibsa__sa_forget(struct sa *sa);

/* Whether a Get has what it takes to end: a second record. */
static inline bool sa_is_full(const struct sa_work *work)
{
	return work->status ||
	       (work->method == IBSA_METHOD_GET && work->count > 1);
}

static inline void sa_fail(struct sa_work *work, uint16_t status)
{
	work->status = status;
}

/* Make room for one more record. False: the request has failed. */
bool ibsa__sa_append_grow(struct sa_work *work);

/*
 * As ibsa__sa_append(), with an encoder of the caller's that the compiler
 * has inline (CODEC_ONLY in wire/record.inc): for tables of many records.
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
	/* A record's padding is in its last 8 bytes. */
	memset(wire + work->stride - 8, 0, 8);
	encode(host, wire, &over);
}

/* Refuse who does not know the SM_Key, or keep silent, as the SM does. */
static inline void sa_fail_untrusted(struct sa_work *work)
{
	sa_fail(work, IBSA_STATUS_REQ_INVALID);
	work->is_silent = work->sa->profile == IBSA_SM_PROFILE_SILENT;
}

/* False, and the request is refused, if it is neither Get nor GetTable. */
bool ibsa__sa_is_query(struct sa_work *work);

/* Those fields of @record that the bits of @mask select. */
void ibsa__sa_select(const struct ibsa_record *record, uint64_t mask,
		     struct sa_match *out);

/* Whether two host structs have the same values in the selected fields. */
bool ibsa__sa_agree(const struct sa_match *match, const void *a, const void *b);

/* Whether the request has any, or all, of the component bits. */
static inline bool sa_has_any(const struct sa_work *work, uint64_t bits)
{
	return work->mask & bits;
}

static inline bool sa_has_all(const struct sa_work *work, uint64_t bits)
{
	return (work->mask & bits) == bits;
}

/* Whether a port is of a P_Key's partition. */
static inline bool sa_has_pkey(const struct sa_work *work,
			       const struct end_port *end, uint16_t pkey)
{
	return ibsa__pkey_has(end_setup(work->subnet, end), pkey);
}

/* Whether two ports have a partition in common. */
static inline bool sa_share_pkey(const struct sa_work *work,
				 const struct end_port *a,
				 const struct end_port *b)
{
	return ibsa__pkey_shared(end_setup(work->subnet, a),
				 end_setup(work->subnet, b));
}

/* Whether the requester may be told of a port, a switch's or an end's. */
static inline bool sa_may_know_port(const struct sa_work *work,
				    const struct topo_port *port)
{
	return ibsa__ports_share_pkey(
		work->subnet, end_topo_port(work->subnet, work->from), port);
}

/* The attributes. */
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
