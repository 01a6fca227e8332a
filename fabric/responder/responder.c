/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A responder connects a port of this machine with an embedded fabric. The
 * responder sends the requests that arrive at the port to the fabric's SA, from
 * one of the fabric's nodes, and sends the SA's replies and Reports to that
 * node back to the requester.
 *
 * The umad file of the node replaces the upper half of a transaction id. Each
 * request therefore gets a new transaction id in the fabric, by which the
 * responder finds the requester of a reply. The node sends its requests with a
 * GRH. The flow label of the GRH, which the fabric itself does not use, is the
 * requester's number; the SA returns this number in its Reports.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <ibsa/responder.h>
#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/registry.h"
#include "base/sized.h"
#include "device/device.h"
#include "device/sysfs.h"
#include "fabric/fabric/fabric.h"
#include "fabric/responder/peers.h"
#include "fabric/tools/environment.h"
#include "umad/transport.h"
#include "umad_dev/umad.h"
#include "wire/mad.h"

enum {
	REQUESTS_AT_ONCE = 256,
	REQUEST_BYTES_MAX = 65536,
	/*
	 * Timeout of a Report. The SA repeats it after 200 ms, and the kernel
	 * refuses that until the timeout has ended, at most two ticks late.
	 */
	REPORT_WAIT_MS = 180,
	/*
	 * Milliseconds for which the responder's node waits for the reply of
	 * the fabric's SA.
	 */
	REPLY_MS = 4000,
	PENDING_MAX = 16384,
};

/*
 * A request that the responder's node has sent to the fabric's SA, and that is
 * not answered yet.
 */
struct pending_request {
	uint64_t id;   /* the requester's transaction id */
	uint32_t peer; /* the requester's number */
	/*
	 * Lower half of the transaction id that the request has in the fabric.
	 */
	uint32_t own;
};

/*
 * The interface id of the GID at which the SA of every subnet is reached.
 * Source: IBA vol 1, 4.1.1.
 */
#define SA_WELL_KNOWN_ID UINT64_C(0x0200000000000002)

struct ibsa_responder {
	struct ibsa_transport *port; /* of this machine */
	struct ibsa_transport *node; /* of the fabric */
	/*
	 * Address of the fabric's SA, to which the responder's node sends
	 * requests.
	 */
	struct ibsa_address sa;
	struct peers peers;
	/*
	 * A ring of PENDING_MAX requests; a new request overwrites the oldest
	 * one.
	 */
	struct pending_request *pending;
	uint32_t last_own;
	struct ibsa_responder_info info;
	struct ibsa__port_selection selection;
	int epoll_fd;
	/* Value of ibsa__process() when the responder was opened. */
	unsigned int process;
	int lost; /* The error that has ended the responder; 0 while it runs. */
	/*
	 * Upper half of the transaction id of the last Report from the fabric's
	 * SA. The responder stores the upper half because the kernel replaces
	 * it when the responder sends the Report.
	 */
	uint32_t report_id;
};

static uint8_t message_method(const struct ibsa_message *message)
{
	return message->mad[MAD_METHOD];
}

static uint64_t message_id(const struct ibsa_message *message)
{
	return ibsa_be64(message->mad + MAD_TID);
}

/*
 * Send a MAD from the responder's node to the current LID of the fabric's SA,
 * with the P_Key index of the node's requests.
 */
static int node_send(struct ibsa_responder *responder, uint32_t peer,
		     const uint8_t *mad, size_t len, unsigned int timeout_ms)
{
	struct ibsa_address to = responder->sa;
	struct ibsa_port_state state;
	int err = responder->node->ops->port(responder->node, &state,
					     sizeof(state));

	if (err)
		return err;
	to.lid = state.sm_lid;
	to.sl = state.sm_sl;
	to.flow_label = peer;
	to.pkey_index = state.pkey_index;
	return responder->node->ops->send(responder->node, &to, mad, len,
					  timeout_ms);
}

static int request_send(struct ibsa_responder *responder,
			const struct ibsa_message *message)
{
	const uint32_t own = ++responder->last_own;
	struct pending_request *pending =
		&responder->pending[own % PENDING_MAX];
	uint8_t mad[IBSA_MAD_BYTES];

	if (message->len < IBSA_SA_HEADER_BYTES || message->len > sizeof(mad))
		return -EMSGSIZE;
	memcpy(mad, message->mad, message->len);
	ibsa_put_be64(mad + MAD_TID, own);
	*pending = (struct pending_request){
		.id = message_id(message),
		.peer = ibsa__peers_number(&responder->peers, &message->from),
		.own = own,
	};
	return node_send(responder, pending->peer, mad, message->len, REPLY_MS);
}

/*
 * Pass the response to a Report on to the fabric's SA, with the Report's own
 * transaction id: the SA identifies the Report by all 64 bits of it.
 */
static int report_response_pass(struct ibsa_responder *responder,
				const struct ibsa_message *message)
{
	uint8_t mad[IBSA_MAD_BYTES];

	if (message->len < sizeof(mad))
		return -EINVAL;
	memcpy(mad, message->mad, sizeof(mad));
	ibsa_put_be32(mad + MAD_TID, responder->report_id);
	return node_send(responder,
			 ibsa__peers_number(&responder->peers, &message->from),
			 mad, sizeof(mad), 0);
}

/*
 * Pass a request, or the response to a Report, on to the fabric's SA. Other
 * responses do not arrive here: the kernel drops a response without a request.
 */
static void request_pass(struct ibsa_responder *responder,
			 const struct ibsa_message *message)
{
	int err;

	/*
	 * The response to a Report, or the ACK of a large reply, did not come.
	 * Nothing needs to be done: the SA of the fabric sends the Report
	 * again, and the requester sends its request again.
	 */
	if (message->err && message->err != -EMSGSIZE)
		return;
	if (message_method(message) == IBSA_METHOD_REPORT_RESP) {
		err = report_response_pass(responder, message);
	} else {
		responder->info.requests++;
		err = message->err ? message->err
				   : request_send(responder, message);
	}
	if (err)
		responder->info.unprocessed++;
}

/*
 * Return: the address of the requester @peer for a reply. The reply is sent
 * from the base LID of the port, as OpenSM does.
 */
static struct ibsa_address address_of(const struct ibsa_address *peer)
{
	struct ibsa_address to = *peer;

	to.path_bits = 0;
	return to;
}

static void outcome_count(struct ibsa_responder *responder, int err,
			  uint64_t *count)
{
	if (err)
		responder->info.refused++;
	else
		++*count;
}

static void report_pass(struct ibsa_responder *responder,
			const struct ibsa_message *message)
{
	const struct ibsa_address *peer = ibsa__peers_address(
		&responder->peers, message->from.flow_label);
	struct ibsa_address to;

	if (!peer)
		return;
	to = address_of(peer);
	responder->report_id = (uint32_t)(message_id(message) >> 32);
	outcome_count(responder,
		      responder->port->ops->send(responder->port, &to,
						 message->mad, message->len,
						 REPORT_WAIT_MS),
		      &responder->info.reports);
}

static void answer_pass(struct ibsa_responder *responder,
			const struct ibsa_message *message)
{
	const uint32_t own = (uint32_t)message_id(message);
	const struct pending_request *pending =
		&responder->pending[own % PENDING_MAX];
	const struct ibsa_address *peer = ibsa__peers_address(&responder->peers,
							      pending->peer);
	struct ibsa_address to;

	if (!peer || pending->own != own)
		return;
	to = address_of(peer);
	outcome_count(responder,
		      ibsa__umad_answer(responder->port, &to, pending->id,
					message->mad, message->len),
		      &responder->info.answers);
}

static void message_pass(struct ibsa_responder *responder,
			 const struct ibsa_message *message)
{
	/*
	 * The umad file of the responder's node reports that no reply to the
	 * request came in time: forget the request.
	 */
	if (message->err)
		return;
	if (message_method(message) == IBSA_METHOD_REPORT)
		report_pass(responder, message);
	else
		answer_pass(responder, message);
}

/*
 * Send the replies of the fabric's SA to the requesters. The function is called
 * before the first and after each request, so that large replies do not
 * accumulate.
 */
static void answers_pass(struct ibsa_responder *responder)
{
	struct ibsa_message message;

	while (responder->node->ops->recv(responder->node, &message) > 0)
		message_pass(responder, &message);
}

/* A forked child must not use the responder of its parent. */
static bool responder_is_ours(const struct ibsa_responder *responder)
{
	return responder->process == ibsa__process();
}

int ibsa_responder_dispatch(struct ibsa_responder *responder)
{
	if (!responder_is_ours(responder))
		return -EINVAL;
	if (!responder->lost)
		answers_pass(responder);
	for (int i = 0; i < REQUESTS_AT_ONCE && !responder->lost; i++) {
		struct ibsa_message message;
		const int got = responder->port->ops->recv(responder->port,
							   &message);

		if (!got)
			break;
		if (got < 0) {
			responder->lost = got;
			break;
		}
		request_pass(responder, &message);
		answers_pass(responder);
	}
	return responder->lost;
}

int ibsa_responder_fd(const struct ibsa_responder *responder)
{
	return responder_is_ours(responder) ? responder->epoll_fd : -1;
}

int ibsa_responder_timeout_ms(const struct ibsa_responder *responder)
{
	if (responder->lost || !responder_is_ours(responder))
		return -1;
	return ibsa__umad_pause_ms(responder->port);
}

void ibsa_responder_info_get_sized(const struct ibsa_responder *responder,
				   struct ibsa_responder_info *out, size_t size)
{
	struct ibsa_responder_info info = responder->info;

	info.requesters = responder->peers.seen;
	ibsa__sized_write(out, size, &info, sizeof(info));
}

static int umad_open(struct ibsa_responder *responder,
		     struct device_files *files,
		     const struct ibsa_responder_options *options,
		     struct ibsa_error *error)
{
	int err = ibsa__port_select(files, options->device, options->port, 0,
				    error, &responder->selection);

	if (err)
		return err;
	return ibsa__umad_open(files, responder->selection.device,
			       responder->selection.port, REQUEST_BYTES_MAX,
			       error, &responder->port);
}

static int port_open(struct ibsa_responder *responder,
		     const struct ibsa__environment *environment,
		     const struct ibsa_responder_options *options,
		     struct ibsa_error *error)
{
	struct device_files *files;
	int err = ibsa__sysfs_open(environment->sysfs, &files);

	if (err)
		return ibsa__fail(error, err, "out of memory");
	err = umad_open(responder, files, options, error);
	ibsa__files_put(files);
	if (err)
		return err;
	err = ibsa__umad_serve(responder->port);
	if (err == -EBUSY)
		return ibsa__fail(error, err,
				  "another program receives requests to the "
				  "SA at port %u of %.64s, possibly a subnet "
				  "manager; end it, or choose another port",
				  responder->selection.port,
				  responder->selection.device);
	if (err)
		return ibsa__fail(
			error, err,
			"cannot receive requests to the SA at port %u of "
			"%.64s: %s",
			responder->selection.port, responder->selection.device,
			strerror(-err));
	return 0;
}

static int node_open(struct ibsa_responder *responder,
		     struct ibsa_fabric *fabric,
		     const struct ibsa_responder_options *options,
		     struct ibsa_error *error)
{
	struct ibsa_gid_entry own;
	int err = ibsa__fabric_attach(fabric, NULL, options->node,
				      options->node_port, error,
				      &responder->node);

	if (err)
		return err;
	if (responder->node->ops->fd(responder->node) < 0)
		return ibsa__fail(error, -EINVAL,
				  "a responder needs a fabric with a real "
				  "clock; this one has a virtual clock");
	err = responder->node->ops->listen(responder->node, true);
	if (err)
		return ibsa__fail(error, err,
				  "another client in the fabric receives the "
				  "Reports to this node: name another node");
	err = responder->node->ops->gid(responder->node, 0, &own);
	if (err)
		return ibsa__fail(error, err, "the node has no GID: %s",
				  strerror(-err));
	responder->sa = (struct ibsa_address){
		.qpn = IBSA_QPN_GSI,
		.has_grh = true,
		.gid = own.gid,
	};
	ibsa_put_be64(responder->sa.gid.raw + 8, SA_WELL_KNOWN_ID);
	return 0;
}

static int epoll_add(struct ibsa_responder *responder,
		     struct ibsa_transport *transport)
{
	const int err = fd_watch(responder->epoll_fd,
				 transport->ops->fd(transport));

	return err == -EBADF ? -EOPNOTSUPP : err;
}

/*
 * Prepare to wait for the port and the fabric. The function fails with
 * -EOPNOTSUPP for an ibsim device, whose descriptor does not work with epoll.
 */
static int wait_init(struct ibsa_responder *responder, struct ibsa_error *error)
{
	int err;

	responder->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = responder->epoll_fd < 0 ? -errno
				      : epoll_add(responder, responder->port);
	if (!err)
		err = epoll_add(responder, responder->node);
	if (err == -EOPNOTSUPP)
		return ibsa__fail(error, err,
				  "port %u of %.64s cannot serve a fabric: the "
				  "descriptor of the port does not work with "
				  "epoll; a port of ibsim cannot be used",
				  responder->selection.port,
				  responder->selection.device);
	if (err)
		return ibsa__fail(error, err,
				  "cannot wait for the device and the fabric "
				  "at once: %s",
				  strerror(-err));
	return 0;
}

/*
 * Store the addresses at which requesters reach the responder. The addresses do
 * not change until the responder is closed.
 */
static void info_init(struct ibsa_responder *responder)
{
	responder->info.device = responder->selection.device;
	responder->info.port = responder->selection.port;
	responder->info.gid = responder->selection.state.gid;
	responder->info.lid = responder->selection.state.lid;
}

int ibsa_responder_open_sized(struct ibsa_fabric *fabric,
			      const struct ibsa_responder_options *options,
			      size_t size, struct ibsa_error *error,
			      struct ibsa_responder **out)
{
	struct ibsa__environment environment;
	struct ibsa_responder_options known;
	struct ibsa_responder *responder;
	int err = ibsa__options_read(&known, sizeof(known), options, size,
				     error);

	if (err)
		return err;
	environment = ibsa__fabric_environment_read(known.no_environment);
	responder = ibsa__calloc(1, sizeof(*responder));
	if (!responder)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	responder->epoll_fd = -1;
	responder->process = ibsa__process();
	responder->pending = ibsa__calloc(PENDING_MAX,
					  sizeof(*responder->pending));
	err = responder->pending ? ibsa__peers_init(&responder->peers)
				 : -ENOMEM;
	if (err)
		err = ibsa__fail(error, err, "out of memory");
	if (!err)
		err = node_open(responder, fabric, &known, error);
	if (!err)
		err = port_open(responder, &environment, &known, error);
	if (!err)
		err = wait_init(responder, error);
	if (err) {
		ibsa_responder_close(responder);
		return err;
	}
	info_init(responder);
	*out = responder;
	return 0;
}

/*
 * Close a transport; in a forked child, only the child's copies of its
 * descriptors.
 */
static void transport_close(struct ibsa_transport *transport, bool is_ours)
{
	if (transport && is_ours)
		transport->ops->close(transport);
	else if (transport && IBSA_TRANSPORT_HAS(transport, inherited))
		transport->ops->inherited(transport);
}

void ibsa_responder_close(struct ibsa_responder *responder)
{
	bool is_ours;

	if (!responder)
		return;
	is_ours = responder_is_ours(responder);
	fd_close(&responder->epoll_fd);
	transport_close(responder->port, is_ours);
	transport_close(responder->node, is_ours);
	ibsa__peers_done(&responder->peers);
	ibsa__free(responder->pending);
	ibsa__free(responder);
}
