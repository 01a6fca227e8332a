/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a port of the fabric: sends the packets that are written to it
 * as MADs, and queues the MADs that arrive for its agents.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fabric/file/inbox.h"
#include "fabric/file/open_file.h"
#include "fabric/node/sma.h"

int ibsa__port_files_init(struct port_files *files)
{
	files->net->responses = (struct response_handler){
		.take = ibsa__port_files_deliver,
		.arg = files,
	};
	return ibsa__hash_init(&files->agents);
}

void ibsa__port_files_done(struct port_files *files)
{
	ibsa__hash_done(&files->agents);
}

static struct port_handler **handlers_of(const struct port_file *file)
{
	return &file->files->subnet->setups[file->end].handlers;
}

static void file_expect(void *arg)
{
	const struct port_file *file = arg;

	if (file->ready)
		file->ready(file->arg);
}

int ibsa__port_file_open(struct port_files *files, uint32_t port,
			 void (*ready)(void *arg), void *arg,
			 struct port_file **out)
{
	struct port_file *file;
	int err;

	if (port >= files->subnet->topo.port_count ||
	    files->subnet->topo.ports[port].end == NO_INDEX)
		return -ENODEV;
	file = ibsa__calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->files = files;
	file->handler = (struct port_handler){
		.take = ibsa__port_file_deliver,
		.expect = file_expect,
		.arg = file,
	};
	file->inbox.total = &files->memory;
	file->port = port;
	file->end = files->subnet->topo.ports[port].end;
	file->ready = ready;
	file->arg = arg;
	err = ibsa__sents_init(&file->sents);
	if (err) {
		ibsa__free(file);
		return err;
	}
	file->handler.next = *handlers_of(file);
	*handlers_of(file) = &file->handler;
	*out = file;
	return 0;
}

static void issm_set(struct port_file *file, bool on)
{
	struct end_setup *setup = &file->files->subnet->setups[file->end];

	setup->issm = on ? file : NULL;
	file->files->subnet->changes++;
	/*
	 * The program that holds the port's issm file has set or cleared IsSM,
	 * which is a bit of the port's capability mask.
	 */
	ibsa__trap_capabilities(file->files->nodes,
				&file->files->subnet->ends[file->end]);
}

static void agent_close(struct agent *agent)
{
	if (agent->is_open)
		ibsa__hash_remove(&agent->file->files->agents,
				  &agent->by_prefix);
	agent->is_open = false;
}

void ibsa__port_file_close(struct port_file *file)
{
	struct port_files *files;
	struct port_handler **at;

	if (!file)
		return;
	files = file->files;
	for (uint32_t i = 0; i < AGENTS_MAX; i++)
		agent_close(&file->agents[i]);
	for (at = handlers_of(file); *at != &file->handler;)
		at = &(*at)->next;
	*at = file->handler.next;
	if (files->subnet->setups[file->end].issm == file)
		issm_set(file, false);
	ibsa__sents_done(&file->sents, files->net->mads.pool);
	ibsa__inbox_done(&file->inbox);
	ibsa__free(file);
}

int ibsa__port_file_issm(struct port_file *file, bool on)
{
	struct port_files *files = file->files;
	const struct end_setup *setup = &files->subnet->setups[file->end];

	if (on && setup->issm && setup->issm != file)
		return -EBUSY;
	if (on != (setup->issm == file))
		issm_set(file, on);
	return 0;
}

bool ibsa__port_file_has(const struct port_file *file,
			 const struct agent_request *request)
{
	for (int i = 0; i < AGENTS_MAX; i++) {
		const struct agent *agent = &file->agents[i];

		if (agent->is_open &&
		    ibsa__agents_collide(&agent->what, request))
			return true;
	}
	return false;
}

/*
 * Whether an agent of any umad file of the port already has one of the
 * requested methods. Each umad file of the port is a handler in the list
 * @handler.
 */
static bool methods_are_taken(const struct port_handler *handler,
			      const struct agent_request *request)
{
	while (handler && !ibsa__port_file_has(handler->arg, request))
		handler = handler->next;
	return handler;
}

int ibsa__port_file_register(struct port_file *file,
			     struct agent_request *request)
{
	struct agent *agent;
	uint32_t id = 0;
	int err = ibsa__agent_check(request);

	if (err)
		return err;
	if (methods_are_taken(*handlers_of(file), request))
		return -EINVAL;
	while (id < AGENTS_MAX && file->agents[id].is_open)
		id++;
	if (id == AGENTS_MAX)
		return -ENOMEM;
	request->id = id;
	agent = &file->agents[id];
	*agent = (struct agent){
		.is_open = true,
		.file = file,
		.what = *request,
	};
	ibsa__hash_add(&file->files->agents, &agent->by_prefix,
		       ++file->files->agent_prefixes);
	return 0;
}

/* Drop the requests of an agent that wait for a response. */
static void agent_sents_end(struct port_file *file, uint32_t id)
{
	struct list *at = file->sents.all.next;

	while (at != &file->sents.all) {
		struct sent *sent = list_object(at, struct sent, in_all);

		at = at->next;
		if (sent->header.id == id)
			ibsa__sent_end(&file->sents, sent,
				       file->files->net->mads.pool);
	}
}

int ibsa__port_file_unregister(struct port_file *file, uint32_t id)
{
	if (id >= AGENTS_MAX || !file->agents[id].is_open)
		return -EINVAL;
	agent_close(&file->agents[id]);
	agent_sents_end(file, id);
	return 0;
}

/* A packet that a program has written, with the agent that sends it. */
struct out {
	struct port_file *file;
	const struct agent *agent;
	struct umad_header header;
	const uint8_t *mad;
	size_t len;
	/*
	 * The packet is a message that the umad file splits into RMPP segments.
	 */
	bool is_table;
	/*
	 * The packet is one segment of a message that the program itself has
	 * split; all segments have the same transaction id.
	 */
	bool is_segment;
};

static size_t mad_max(const struct subnet *subnet)
{
	return subnet->is_opa ? OPA_MAD_BYTES : IBSA_MAD_BYTES;
}

static int out_check(struct out *out)
{
	const struct port_file *file = out->file;
	const uint32_t id = out->header.id;
	bool has_rmpp;

	if (id >= AGENTS_MAX)
		return -EINVAL;
	if (!file->agents[id].is_open)
		return -EIO;
	out->agent = &file->agents[id];
	has_rmpp = ibsa__class_has_rmpp(out->mad[MAD_CLASS]) &&
		   out->mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
	out->is_table = has_rmpp && agent_has_rmpp(out->agent);
	out->is_segment = has_rmpp && !agent_has_rmpp(out->agent);
	if (out->len < ibsa__class_header_bytes(out->mad[MAD_CLASS]) ||
	    (!out->is_table && out->len > mad_max(file->files->subnet)) ||
	    out->len > SA_REPLY_BYTES_MAX ||
	    (out->header.grh_present &&
	     out->header.gid_index >= GUID_CAP_ADAPTER))
		return -EINVAL;
	return 0;
}

/*
 * Return: the destination LID of a packet. An Omni-Path LID that does not fit
 * into the umad header is in the GID.
 */
static uint32_t dlid_of(const struct subnet *subnet,
			const struct ibsa_address *to)
{
	if (to->lid || !to->has_grh)
		return to->lid;
	return lid_in_gid(subnet, ibsa_be64(to->gid.raw + 8));
}

/* Return: the source and destination of a packet, from its umad header. */
static struct mad_headers out_address(const struct out *out)
{
	const struct subnet *subnet = out->file->files->subnet;
	const struct end_port *end = &subnet->ends[out->file->end];
	struct ibsa_address to;
	struct mad_headers mad;

	umad_header_address_get(&out->header, &to);
	mad = (struct mad_headers){
		.from = out->file->port,
		.slid = out->mad[MAD_CLASS] == CLASS_SMP_DIRECT
				? IBSA_LID_PERMISSIVE
				: end->lid | (to.path_bits &
					      (end->lid_count - 1u)),
		.dlid = dlid_of(subnet, &to),
		.src_qpn = mad_is_smp(out->mad) ? 0 : IBSA_QPN_GSI,
		.dst_qpn = to.qpn,
		.pkey = setup_pkey(&subnet->setups[out->file->end],
				   to.pkey_index),
		.sl = to.sl,
		.has_grh = to.has_grh,
	};
	if (mad.has_grh) {
		end_gid(subnet, end, mad.sgid.raw);
		mad.dgid = to.gid;
		mad.flow_label = to.flow_label;
		mad.traffic_class = to.traffic_class;
		mad.hop_limit = to.hop_limit;
	}
	return mad;
}

/*
 * Write the RMPP header of a message's first segment: the receiver gets only
 * this header after reassembly. Source: Linux mad_rmpp.c, send_next_seg().
 */
static void segment_header_put(const struct out *out, struct sa_reply *body)
{
	const size_t head = ibsa__class_header_bytes(out->mad[MAD_CLASS]);
	const size_t room = IBSA_MAD_BYTES - head;
	const size_t data = body->len - head;
	const size_t count = data ? (data + room - 1) / room : 1;
	const size_t each = IBSA_MAD_BYTES - MAD_RMPP_END;
	const size_t pad = data ? count * room - data : room;

	body->bytes[MAD_RMPP_VERSION] = 1;
	body->bytes[MAD_RMPP_TYPE] = IBSA_RMPP_TYPE_DATA;
	body->bytes[MAD_RMPP_FLAGS] =
		(uint8_t)((body->bytes[MAD_RMPP_FLAGS] & 0xf8) |
			  IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST |
			  (count == 1 ? IBSA_RMPP_LAST : 0));
	ibsa_put_be32(body->bytes + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(body->bytes + MAD_RMPP_LENGTH,
		      (uint32_t)(count * each - pad));
}

static void prefix_put(const struct agent *agent, uint8_t *mad)
{
	if (!mad_is_response(mad))
		ibsa_put_be32(mad + MAD_TID, (uint32_t)agent->by_prefix.key);
}

static bool out_body_put(const struct out *out, struct sa_reply *body)
{
	static const uint8_t zero[IBSA_MAD_BYTES];

	if (out->len < IBSA_MAD_BYTES) {
		memcpy(body->bytes, zero, sizeof(zero));
		memcpy(body->bytes, out->mad, out->len);
		body->len = out->is_table ? out->len : IBSA_MAD_BYTES;
	} else if (!ibsa__sa_reply_put(body, out->mad, out->len)) {
		return false;
	}
	prefix_put(out->agent, body->bytes);
	if (out->is_table)
		segment_header_put(out, body);
	return true;
}

/* Return: the MAD of the packet, to be sent; NULL: out of memory. */
static struct message *message_make(const struct out *out)
{
	struct message *message = ibsa__mad_new(out->file->files->net);

	if (!message)
		return NULL;
	message->mad = out_address(out);
	if (out_body_put(out, &message->body))
		return message;
	ibsa__queue_release(out->file->files->net->mads.pool, message);
	return NULL;
}

/* Copy a message for its next try. Return: the copy; NULL: memory is short. */
static struct message *message_copy(struct mad_net *net,
				    const struct message *message)
{
	struct message *twin = ibsa__mad_new(net);

	if (!twin)
		return NULL;
	twin->mad = message->mad;
	if (ibsa__sa_reply_put(&twin->body, message->body.bytes,
			       message->body.len))
		return twin;
	ibsa__queue_release(net->mads.pool, twin);
	return NULL;
}

/* If the program waits for a response to the message, store it as sent. */
static int response_expect(const struct out *out, const struct message *message,
			   uint64_t now_ns)
{
	const struct umad_header *header = &out->header;
	struct mad_net *net = out->file->files->net;
	struct sents *sents = &out->file->sents;
	struct message *again = NULL;
	struct sent *sent;

	if (!header->timeout_ms)
		return 0;
	if (header->retries) {
		if (sents_have_room(sents, message->body.len))
			again = message_copy(net, message);
		if (!again)
			return -ENOMEM;
	}
	sent = ibsa__sent_add(sents, message->body.bytes,
			      now_ns + header->timeout_ms * NS_PER_MS);
	if (!sent) {
		if (again)
			ibsa__queue_release(net->mads.pool, again);
		return -ENOMEM;
	}
	sent->header = *header;
	sent->retries = header->retries;
	sent->again = again;
	if (again)
		sents->bytes += again->body.len;
	return 0;
}

/*
 * Whether the kernel refuses a MAD because the port requires a GRH and the
 * address has none. SMPs are not checked: an SM sends them without a GRH.
 *
 * Source: Linux drivers/infiniband/core/verbs.c, rdma_check_ah_attr().
 */
static bool grh_is_missing(const struct out *out, const uint8_t *mad)
{
	const struct port_file *file = out->file;

	return file->files->subnet->setups[file->end].needs_grh &&
	       !out->header.grh_present && !mad_is_smp(mad);
}

/*
 * Make the checks that the kernel makes when the MAD is complete. Return:
 * whether it refuses the MAD.
 */
static bool mad_is_refused(const struct out *out, const uint8_t *mad)
{
	const struct port_file *file = out->file;
	const struct topo_port *port =
		&file->files->subnet->topo.ports[file->port];

	if (!out->is_segment &&
	    ibsa__sent_is_duplicate(&file->sents, mad, &out->header))
		return true;
	if (grh_is_missing(out, mad))
		return true;
	/*
	 * A direct-route SMP of a switch's port 0 may leave by any other port
	 * of the switch.
	 */
	return mad[MAD_CLASS] == CLASS_SMP_DIRECT && port->number &&
	       !ibsa__path_is_sound(mad, port->number);
}

static int out_post(const struct out *out, uint64_t now_ns)
{
	struct mad_net *net = out->file->files->net;
	struct message *message = message_make(out);
	int err = 0;

	if (!message)
		return -ENOMEM;
	if (mad_is_refused(out, message->body.bytes))
		err = -EINVAL;
	if (!err)
		err = response_expect(out, message, now_ns);
	if (err) {
		ibsa__queue_release(net->mads.pool, message);
		return err;
	}
	net->stats.requests++;
	message->due_ns = now_ns;
	ibsa__mad_post(net, message, now_ns);
	ibsa__port_file_count(out->file);
	return 0;
}

int ibsa__port_file_write(struct port_file *file, const uint8_t *packet,
			  size_t len)
{
	struct port_files *files = file->files;
	struct out out = { .file = file };
	uint64_t now_ns;
	int err;

	if (len < UMAD_HEADER_BYTES + MAD_RMPP_END)
		return -EINVAL;
	memcpy(&out.header, packet, sizeof(out.header));
	out.mad = packet + UMAD_HEADER_BYTES;
	out.len = len - UMAD_HEADER_BYTES;
	err = out_check(&out);
	if (err)
		return err;
	now_ns = fabric_clock_now(files->subnet->clock);
	files->now_ns = now_ns;
	ibsa__mads_settle(files->net, now_ns);
	return out_post(&out, now_ns);
}
