/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Delivers arriving MADs to the agents of a umad file. The upper half of a
 * response's transaction id names the agent that sent the request. All other
 * MADs go to the agent that has registered for them.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/file/open_file.h"

/* Return: the umad header that the kernel would set for an arriving MAD. */
static struct umad_header header_of(const struct port_file *file, uint32_t id,
				    const struct mad_headers *mad)
{
	const struct subnet *subnet = file->files->subnet;
	const uint8_t lids = subnet->ends[file->end].lid_count;
	const struct ibsa_address from = {
		.lid = mad->slid & UINT16_MAX,
		.qpn = mad->src_qpn,
		.sl = mad->sl,
		.path_bits = (uint8_t)(mad->dlid & (lids - 1u)),
		.pkey_index = ibsa__pkey_index(&subnet->setups[file->end],
					       mad->pkey),
		.has_grh = mad->has_grh,
		.gid = mad->sgid,
		.hop_limit = mad->hop_limit,
		.traffic_class = mad->traffic_class,
		.flow_label = mad->flow_label,
	};
	struct umad_header header = { .id = id };

	/* A LID of 16 bits does fit. */
	(void)!umad_header_address_put(&header, &from);
	header.qkey = 0;
	return header;
}

/*
 * Queue a copy of @mad. @body: NULL; or the buffer that holds the whole @mad,
 * which the queue may take instead of the copy.
 */
static void packet_put(struct port_file *file, const struct umad_header *header,
		       const uint8_t *mad, size_t len, struct sa_reply *body)
{
	const bool was_empty = !file->inbox.count;

	if (!(body && body->is_owned
		      ? ibsa__inbox_take_reply(&file->inbox, header, body)
		      : ibsa__inbox_put(&file->inbox, header, mad, len))) {
		ibsa__drop(file->files->net, IBSA_DROP_QUEUE_FULL);
		return;
	}
	ibsa__port_file_count(file);
	if (was_empty && file->ready)
		file->ready(file->arg);
}

static void agent_deliver(struct port_file *file, const struct agent *agent,
			  const struct message *message, struct sa_reply *body)
{
	const uint32_t id = (uint32_t)(agent - file->agents);
	const struct umad_header header = header_of(file, id, &message->mad);
	size_t len = message->body.len;

	/*
	 * An agent that handles RMPP itself receives only the first segment of
	 * a message.
	 */
	if (len > IBSA_MAD_BYTES && !agent_has_rmpp(agent)) {
		len = IBSA_MAD_BYTES;
		body = NULL;
	}
	file->files->net->stats.answers++;
	packet_put(file, &header, message->body.bytes, len, body);
}

/* Return: the agent that has sent the request of this transaction, or NULL. */
static const struct agent *agent_of_prefix(const struct port_files *files,
					   const uint8_t *mad)
{
	struct hash_node *node = hash_find(&files->agents,
					   ibsa_be32(mad + MAD_TID));

	return node ? hash_object(node, struct agent, by_prefix) : NULL;
}

bool ibsa__port_file_sender(const struct port_files *files, const uint8_t *mad,
			    void (*ready)(void *arg), void **out_arg)
{
	const struct agent *agent = agent_of_prefix(files, mad);

	if (!agent)
		return false;
	*out_arg = agent->file->ready == ready ? agent->file->arg : NULL;
	return true;
}

/*
 * Return: the agent at the end port @end that has sent the request of this
 * response, or NULL.
 */
static const struct agent *agent_of_response(const struct port_files *files,
					     uint32_t end, const uint8_t *mad)
{
	const struct agent *agent = agent_of_prefix(files, mad);

	return agent && agent->file->end == end ? agent : NULL;
}

bool ibsa__port_files_deliver(void *arg, struct message *message,
			      const struct arrival *at)
{
	const struct port_files *files = arg;
	const uint8_t *mad = message->body.bytes;
	const struct agent *agent = agent_of_response(
		files, files->subnet->topo.ports[at->port].end, mad);
	struct sent *sent;

	if (!agent)
		return false;
	sent = ibsa__sent_find(&agent->file->sents, mad);
	if (!sent)
		return false;
	ibsa__sent_end(&agent->file->sents, sent, files->net->mads.pool);
	agent_deliver(agent->file, agent, message, &message->body);
	return true;
}

bool ibsa__port_file_deliver(void *arg, const struct message *message,
			     const struct arrival *at, uint64_t now_ns)
{
	const uint8_t *mad = message->body.bytes;
	struct port_file *file = arg;

	(void)at;
	(void)now_ns;
	if (mad_is_response(mad))
		return false;
	for (int i = 0; i < AGENTS_MAX; i++) {
		if (!ibsa__agent_wants(&file->agents[i], mad))
			continue;
		agent_deliver(file, &file->agents[i], message, NULL);
		return true;
	}
	return false;
}

/*
 * Queue the report about a MAD that was sent: its umad header with the status,
 * and the start of the MAD.
 */
static void sent_report(struct port_file *file, const struct umad_header *sent,
			const uint8_t *mad, uint32_t status)
{
	struct umad_header header = *sent;

	header.status = status;
	packet_put(file, &header, mad, MAD_HEADER_BYTES, NULL);
}

static void sent_give_up(struct port_file *file, struct sent *sent)
{
	const struct umad_header header = sent->header;
	uint8_t mad[MAD_HEADER_BYTES];

	memcpy(mad, sent->mad, sizeof(mad));
	ibsa__sent_end(&file->sents, sent, file->files->net->mads.pool);
	sent_report(file, &header, mad, ETIMEDOUT);
}

void ibsa__port_file_refuse(struct port_file *file, const uint8_t *packet,
			    int err)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	sent_report(file, &header, packet + sizeof(header), (uint32_t)-err);
}

/*
 * Send a copy of a request again. As in the kernel, the next try is due one
 * timeout after now, not one timeout after this try was due: if several tries
 * were missed, only one is sent, so that a client with a short timeout does
 * not delay other clients.
 */
static void sent_retry(struct port_file *file, struct sent *sent,
		       uint64_t now_ns)
{
	struct mad_net *net = file->files->net;
	struct message *message = ibsa__mad_new(net);

	sent->retries--;
	ibsa__sent_wait(&file->sents, sent,
			now_ns + sent->header.timeout_ms * NS_PER_MS);
	/* If memory is short, the try is not sent but counts as lost. */
	if (!message)
		return;
	message->mad = sent->again->mad;
	message->due_ns = now_ns;
	if (!ibsa__sa_reply_put(&message->body, sent->again->body.bytes,
				sent->again->body.len)) {
		ibsa__queue_release(net->mads.pool, message);
		return;
	}
	ibsa__mad_post(net, message, now_ns);
}

void ibsa__port_file_settle(struct port_file *file)
{
	const struct port_files *files = file->files;
	const uint64_t now_ns = fabric_clock_now(files->subnet->clock);
	struct sent *sent;
	int count = 0;

	while ((sent = sent_first(&file->sents)) && sent->due_ns <= now_ns) {
		/*
		 * First deliver the responses that were due before the timeout
		 * of this request.
		 */
		ibsa__mads_settle(files->net, sent->due_ns);
		if (sent != sent_first(&file->sents))
			continue;
		if (count++ == AGAIN_MAX)
			break;
		if (sent->retries)
			sent_retry(file, sent, now_ns);
		else
			sent_give_up(file, sent);
	}
	ibsa__mads_settle(files->net, now_ns);
}

const uint8_t *ibsa__port_file_head(struct port_file *file, size_t *len)
{
	const struct packet *first = file->inbox.first;

	if (!first)
		return NULL;
	*len = UMAD_HEADER_BYTES + first->body.len;
	return packet_bytes(first);
}

void ibsa__port_file_take(struct port_file *file)
{
	ibsa__inbox_take(&file->inbox);
}

bool ibsa__port_file_is_readable(const struct port_file *file)
{
	return file->inbox.first;
}

size_t ibsa__port_file_receive(struct port_file *file,
			       struct umad_buffer *buffers, size_t count)
{
	return ibsa__inbox_receive(&file->inbox, buffers, count);
}

size_t ibsa__port_file_memory(const struct port_file *file)
{
	return inbox_memory(&file->inbox) + file->sents.bytes;
}

uint64_t ibsa__port_file_due(const struct port_file *file)
{
	const struct sent *sent = sent_first(&file->sents);
	const uint64_t due_ns = ibsa__mads_due(file->files->net, file->end);

	return sent && sent->due_ns < due_ns ? sent->due_ns : due_ns;
}
