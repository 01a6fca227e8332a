/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Redirection: the SA answers a request with the address of another SA. The
 * engine sends all requests to that address until the port changes, the target
 * does not answer or is not an SA, or a request is redirected too often.
 *
 * Source: IBA vol 1, 13.4.8.1 (ClassPortInfo), 13.5.2 (redirection).
 */
#include <errno.h>

#include "engine/reply.h"
#include "engine/state.h"
#include "wire/gid.h"

enum {
	PKEYS_MAX = 0x10000,
	PKEY_BITS = 0x7fff,
	PKEY_FULL = 0x8000,
	QPN_MULTICAST = 0xffffff,
};

/* First multicast LID of OPA. */
#define OPA_LID_MULTICAST UINT32_C(0xf0000000)

#define REDIRECT_DECODE(kind, bytes, out)                          \
	do {                                                       \
		struct ibsa_##kind info;                           \
                                                                   \
		ibsa_##kind##_record.decode(bytes, &info);         \
		*(out) = (struct ibsa__redirect){                  \
			.to.lid = info.redirect_lid,               \
			.to.gid = info.redirect_gid,               \
			.to.qpn = info.redirect_qp,                \
			.to.flow_label = info.redirect_flow_label, \
			.to.sl = info.redirect_sl,                 \
			.to.traffic_class = info.redirect_tclass,  \
			.qkey = info.redirect_qkey,                \
			.pkey = info.redirect_pkey,                \
		};                                                 \
	} while (0)

void ibsa__redirect_read(const struct ibsa_reply *reply,
			 struct ibsa__redirect *out)
{
	if (reply->record->class_version == IBSA_CLASS_VERSION_OPA) {
		REDIRECT_DECODE(opa_class_port_info, reply->redirect, out);
		out->is_opa = true;
		out->to.lid = out->to.lid == UINT32_MAX ? 0 : out->to.lid;
		return;
	}
	REDIRECT_DECODE(class_port_info, reply->redirect, out);
	if (out->to.lid == IBSA_LID_PERMISSIVE)
		out->to.lid = 0;
}

void ibsa__redirect_drop(struct ibsa__engine *engine)
{
	engine->resolving_id = 0;
	if (!engine->is_redirected)
		return;
	engine->is_redirected = false;
	engine->sa = engine->home;
}

void ibsa__redirect_distrust(struct ibsa__engine *engine, const struct txn *txn)
{
	if (engine->is_redirected && txn_is_at_sa(engine, txn))
		ibsa__redirect_drop(engine);
}

/*
 * Send all requests to @target from now on. Requests in flight are sent again.
 */
static void redirect_use(struct ibsa__engine *engine,
			 const struct ibsa_address *target)
{
	if (!engine->is_redirected)
		engine->home = engine->sa;
	engine->is_redirected = true;
	engine->sa = *target;
	engine->stats.redirected++;
	ibsa__engine_resend(engine, true);
}

bool ibsa__engine_pkey_find(const struct ibsa__engine *engine, uint16_t pkey,
			    uint16_t *out)
{
	struct ibsa_transport *transport = engine->transport;
	bool is_found = false;
	uint16_t have;

	if (!IBSA_TRANSPORT_HAS(transport, pkey) || !(pkey & PKEY_BITS))
		return false;
	for (uint32_t i = 0; i < PKEYS_MAX; i++) {
		if (transport->ops->pkey(transport, i, &have))
			break;
		if ((have ^ pkey) & PKEY_BITS)
			continue;
		if (!is_found || have & PKEY_FULL)
			*out = (uint16_t)i;
		is_found = true;
		if (have & PKEY_FULL)
			break;
	}
	return is_found;
}

/*
 * Whether the target is a multicast address, to which no request may be sent.
 */
static bool address_is_multicast(const struct ibsa_address *target, bool is_opa)
{
	const uint32_t first = is_opa ? OPA_LID_MULTICAST
				      : IBSA_LID_MULTICAST_MIN;

	return target->qpn == QPN_MULTICAST || target->lid >= first ||
	       gid_is_multicast(&target->gid);
}

/*
 * Fill @out with the address of the redirection's target; its LID is 0 if
 * @redirect has only a GID. Return: false if the port cannot send to the
 * target: it has no QP, or no GID although one is needed; it is multicast; its
 * partition is not in the port's P_Key table; or its Q_Key is not that of QP 1,
 * with which all transports send.
 */
static bool redirect_address(struct ibsa__engine *engine,
			     const struct ibsa__redirect *redirect,
			     struct ibsa_address *out)
{
	*out = redirect->to;
	out->has_grh = engine->is_redirected ? engine->home.has_grh
					     : engine->sa.has_grh;
	if (!out->qpn || redirect->qkey != IBSA_QKEY_GSI ||
	    address_is_multicast(out, redirect->is_opa))
		return false;
	if (ibsa__lid_is_long(out->lid))
		ibsa__engine_long_lid(engine, out);
	if ((!out->lid || out->has_grh) && gid_is_zero(&out->gid))
		return false;
	if (!out->has_grh)
		out->traffic_class = 0, out->flow_label = 0;
	return ibsa__engine_pkey_find(engine, redirect->pkey, &out->pkey_index);
}

/*
 * The query for the path to a redirection's target has ended. Without a path,
 * the redirection is not used: the next try of each redirected request goes to
 * the SA again, which may redirect it again, up to the limit of a request.
 */
static void redirect_path_done(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa__engine *engine = arg;
	struct ibsa_path path;

	if (reply->id != engine->resolving_id)
		return;
	engine->resolving_id = 0;
	if (reply->err || reply->status ||
	    ibsa_reply_decode(reply, 0, &path, sizeof(path)) || !path.dlid ||
	    path.dlid >= IBSA_LID_MULTICAST_MIN)
		return;
	engine->resolving.lid = path.dlid;
	/*
	 * The packet needs a GRH if the redirection's target is in another
	 * subnet, or if the link always needs a GRH.
	 */
	engine->resolving.has_grh |= path.hop_limit > 1;
	engine->resolving.hop_limit = path.hop_limit;
	if (!engine->resolving.has_grh)
		engine->resolving.gid = (struct ibsa_gid){ { 0 } };
	redirect_use(engine, &engine->resolving);
}

/*
 * Send a query for the path to a redirection's target that has only a GID. The
 * query goes to the SA that redirected the request.
 */
static bool redirect_resolve(struct ibsa__engine *engine,
			     const struct ibsa_address *target)
{
	const struct ibsa_path match = {
		.sgid = engine->port.gid,
		.dgid = target->gid,
		.numb_path = 1,
		.reversible = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(numb_path) | IBSA_PATH_CM(reversible),
		.no_sharing = true,
	};

	if (ibsa__engine_query(engine, &query, redirect_path_done, engine,
			       &engine->resolving_id))
		return false;
	engine->resolving = *target;
	return true;
}

bool ibsa__redirect_is_path_query(const struct txn *txn)
{
	return list_object(txn->queries.next, struct query, link)->done ==
	       redirect_path_done;
}

/*
 * Whether the LID of a redirection's target must be queried. RoCE ports have
 * no LIDs and send to GIDs.
 */
static bool needs_lid(const struct ibsa__engine *engine,
		      const struct ibsa_address *target)
{
	return !target->lid && engine->port.link != IBSA_LINK_ETHERNET;
}

/*
 * Send requests to the target of the redirection in @reply from now on, after a
 * query for its path if its LID is not known. While such a query is in flight,
 * further redirections are not used. Return: false if the port cannot send to
 * the target.
 */
static bool redirect_learn(struct ibsa__engine *engine,
			   const struct ibsa_reply *reply)
{
	struct ibsa__redirect redirect;
	struct ibsa_address target;

	ibsa__redirect_read(reply, &redirect);
	if (!redirect_address(engine, &redirect, &target))
		return false;
	if (engine->resolving_id)
		return true;
	if (needs_lid(engine, &target))
		return redirect_resolve(engine, &target);
	if (!target.has_grh)
		target.gid = (struct ibsa_gid){ { 0 } };
	redirect_use(engine, &target);
	return true;
}

static void last_redirect_set(struct ibsa__engine *engine,
			      const struct ibsa_reply *reply)
{
	memcpy(engine->last_redirect_info, reply->redirect,
	       redirect_record(reply->record)->size);
	engine->last_redirect = (struct ibsa_reply){
		.record = reply->record,
		.status = IBSA_STATUS_REDIRECT,
		.redirects = reply->redirects,
		.redirect = engine->last_redirect_info,
	};
}

bool ibsa__engine_last_redirect(const struct ibsa__engine *engine,
				struct ibsa_reply *out)
{
	*out = engine->last_redirect;
	return out->record;
}

/*
 * Let @txn follow the redirection in @reply. If the redirection of another
 * request has changed the SA's address since @txn was sent, @txn is sent to
 * that address. If @txn was redirected too often, @txn ends, and later
 * requests are sent to the SM's own SA again.
 */
bool ibsa__redirect_follow(struct ibsa__engine *engine, struct txn *txn,
			   const struct ibsa_reply *reply)
{
	const bool waits = engine->resolving_id;

	if (!reply->redirect || ibsa__redirect_is_path_query(txn))
		return false;
	if (txn->hops == IBSA__REDIRECTS_MAX) {
		ibsa__redirect_drop(engine);
		last_redirect_set(engine, reply);
		return false;
	}
	if (txn_is_at_sa(engine, txn) && !redirect_learn(engine, reply)) {
		last_redirect_set(engine, reply);
		return false;
	}
	/*
	 * A redirection is not counted while the path to the target is being
	 * queried, because the SA will redirect the request again.
	 */
	txn->hops += !waits;
	ibsa__txn_redirected(engine, txn);
	return true;
}
