/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles the requests of a client. Each frame is fully
 * checked. An invalid frame ends only the connection on which it came.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/close.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"
#include "serve/tcp.h"

/* A request and its answer. */
struct request {
	const uint8_t *body;
	size_t len;
	uint8_t *out; /* REMOTE_BODY_MAX bytes */
	size_t used;
	struct server_fds fds; /* to send with the answer */
	struct ibsa_error error;
};

static struct remote_port remote_port(const struct ibsa_port_state *state)
{
	const struct ibsa_port_state from = *state;
	struct remote_port port = { REMOTE_PORT_NUMBERS(REMOTE_PORT_COPY) };

	memcpy(port.gid, from.gid.raw, sizeof(port.gid));
	return port;
}

/* Append @len bytes. Return: the address behind them. */
static uint8_t *bytes_put(uint8_t *out, const void *bytes, size_t len)
{
	memcpy(out, bytes, len);
	return out + len;
}

size_t ibsa__peer_state(const struct server_peer *peer, uint8_t *out)
{
	const struct server *server = peer->control.server;
	struct remote_state head;
	struct serve_state state;
	uint8_t *at;

	pthread_mutex_lock(server->options.lock);
	peer_ops(peer)->state(server->options.owner, &peer->port, &state);
	pthread_mutex_unlock(server->options.lock);
	head = (struct remote_state){
		.port = remote_port(&state.port),
		.gid_count = state.gid_count,
		.pkey_count = state.pkey_count,
	};
	at = bytes_put(out, &head, sizeof(head));
	at = bytes_put(at, state.gids, state.gid_count * sizeof(*state.gids));
	at = bytes_put(at, state.pkeys,
		       state.pkey_count * sizeof(*state.pkeys));
	return (size_t)(at - out);
}

/*
 * Store the state that was sent. If memory is short, the state is not stored
 * and is sent once more.
 */
void ibsa__peer_state_sent(struct server_peer *peer, const uint8_t *state,
			   size_t len)
{
	peer->sent_state.count = 0;
	if (!ibsa__bytes_grow(&peer->sent_state, len))
		return;
	memcpy(peer->sent_state.at, state, len);
	peer->sent_state.count = len;
}

static void answer_set(struct request *request, const void *body, size_t len)
{
	memcpy(request->out, body, len);
	request->used = len;
}

static int hello_find_port(struct server_peer *peer, struct remote_hello *hello,
			   struct ibsa_error *error)
{
	const struct server *server = peer->control.server;
	int err;

	pthread_mutex_lock(server->options.lock);
	err = peer_ops(peer)->find(server->options.owner, hello, &peer->port,
				   error);
	pthread_mutex_unlock(server->options.lock);
	return err;
}

static int answer_hello(struct server_peer *peer, struct request *request)
{
	const struct server *server = peer->control.server;
	struct remote_greeting greeting;
	struct remote_hello *hello = &greeting.hello;
	int err = ibsa__remote_hello_read(request->body, request->len,
					  &greeting);

	if (peer->is_greeted)
		return -EPROTO;
	if (err == -EPROTONOSUPPORT)
		return ibsa__fail(&request->error, -EPROTO,
				  "the %s uses another protocol version; use "
				  "one version of ibsa for client and server",
				  server->options.title);
	if (!err && peer_is_stranger(peer))
		err = ibsa__stranger_admit(peer, greeting.token,
					   &request->error);
	if (!err)
		err = ibsa__peer_check_slot(peer,
					    hello->features & REMOTE_IS_CONTROL,
					    &request->error);
	if (!err)
		err = hello_find_port(peer, hello, &request->error);
	if (err)
		return err;
	peer->is_greeted = true;
	peer->has_rings = server->options.has_rings && !peer->is_tcp &&
			  hello->features & REMOTE_HAS_RINGS;
	if (!peer->has_rings)
		hello->features &= (uint8_t)~REMOTE_HAS_RINGS;
	answer_set(request, hello, sizeof(*hello));
	return 0;
}

/* The path in a client's request, with a terminating NUL. */
struct path {
	char text[256];
};

static int request_path_get(const struct request *request, struct path *out)
{
	if (request->len >= sizeof(out->text))
		return -ENAMETOOLONG;
	memcpy(out->text, request->body, request->len);
	out->text[request->len] = '\0';
	return 0;
}

/*
 * Answer a request that has a path, with the content that @get writes for it.
 */
static int answer_path(struct server_peer *peer, struct request *request,
		       int (*get)(void *owner, const struct serve_port *at,
				  const char *path, char *out, size_t room,
				  size_t *used))
{
	const struct server *server = peer->control.server;
	struct path path;
	int err = request_path_get(request, &path);

	if (err)
		return err;
	pthread_mutex_lock(server->options.lock);
	err = get(server->options.owner, &peer->port, path.text,
		  (char *)request->out, REMOTE_BODY_MAX, &request->used);
	pthread_mutex_unlock(server->options.lock);
	return err;
}

static int answer_file(struct server_peer *peer, struct request *request)
{
	return answer_path(peer, request, peer_ops(peer)->read);
}

static int answer_folder(struct server_peer *peer, struct request *request)
{
	return answer_path(peer, request, peer_ops(peer)->list);
}

static int request_number_get(const struct request *request, uint32_t *out)
{
	if (request->len != sizeof(*out))
		return -EPROTO;
	memcpy(out, request->body, sizeof(*out));
	return 0;
}

/* Whether the client has received everything that was sent to it. */
static bool answers_are_read(const struct server_peer *peer)
{
	int unread = 0;

	return !ioctl(peer->control.fd, SIOCOUTQ, &unread) && !unread;
}

static int answer_attach(struct server_peer *peer, struct request *request)
{
	const uint32_t ring_bytes = sizeof(struct ring_memory);
	int err;

	if (request->len)
		return -EPROTO;
	if (peer->file)
		return -EBUSY;
	/*
	 * The kernel limits the descriptors that all clients together have not
	 * received yet: unix(7), ETOOMANYREFS.
	 */
	if (peer->has_attached && !peer->is_tcp && !answers_are_read(peer))
		return ibsa__fail(&request->error, -EBUSY,
				  "the client has not received the answer to "
				  "its last request for a port: receive it, "
				  "then request again");
	peer->has_attached = true;
	err = ibsa__peer_attach(peer, &request->fds);
	if (err)
		return err;
	if (peer->rings.memory)
		answer_set(request, &ring_bytes, sizeof(ring_bytes));
	if (!peer->is_tcp)
		return 0;
	request->used = REMOTE_TICKET_BYTES;
	return ibsa__peer_ticket_put(peer, request->out);
}

static int answer_detach(struct server_peer *peer, struct request *request)
{
	if (request->len)
		return -EPROTO;
	ibsa__peer_detach(peer);
	return 0;
}

/*
 * Set @error to a text that names the process whose agent at @peer's port
 * conflicts with the request.
 */
static void agent_holder_name(const struct server_peer *peer,
			      const struct umad_agent_request2 *agent,
			      struct ibsa_error *error)
{
	const struct list *peers = &peer->control.server->peers;
	const struct server_peer *other;

	LIST_EACH(other, peers, link) {
		struct process_text process;

		if (!other->file || !other->pid || other->is_tcp ||
		    other->port.port != peer->port.port ||
		    !peer_file_ops(peer)->has_agent(other->file, agent))
			continue;
		ibsa__process_text(PROCESS_FOLDER, other->pid, &process);
		ibsa__fail(error, 0,
			   "%s already receives MADs of this class and method "
			   "at the port",
			   process.text);
		return;
	}
	if (peer_file_ops(peer)->holder)
		peer_file_ops(peer)->holder(peer->file, error);
}

static int answer_register(struct server_peer *peer, struct request *request)
{
	pthread_mutex_t *lock = peer->control.server->options.lock;
	struct umad_agent_request2 agent;
	int err;

	if (request->len != sizeof(agent))
		return -EPROTO;
	if (!peer->file)
		return -EBADF;
	memcpy(&agent, request->body, sizeof(agent));
	if (agent.qpn > 1)
		return -EINVAL;
	pthread_mutex_lock(lock);
	err = peer->file->ops->register_agent2(peer->file, &agent);
	if (err == -EINVAL)
		agent_holder_name(peer, &agent, &request->error);
	pthread_mutex_unlock(lock);
	if (err)
		return err;
	answer_set(request, &agent, sizeof(agent));
	return 0;
}

static int answer_unregister(struct server_peer *peer, struct request *request)
{
	pthread_mutex_t *lock = peer->control.server->options.lock;
	uint32_t id;
	int err = request_number_get(request, &id);

	if (err)
		return err;
	if (!peer->file)
		return -EBADF;
	pthread_mutex_lock(lock);
	err = peer->file->ops->unregister_agent(peer->file, id);
	pthread_mutex_unlock(lock);
	return err;
}

static int answer_watch(struct server_peer *peer, struct request *request)
{
	if (request->len)
		return -EPROTO;
	peer->is_watching = true;
	request->used = ibsa__peer_state(peer, request->out);
	ibsa__peer_state_sent(peer, request->out, request->used);
	return 0;
}

static int answer_issm(struct server_peer *peer, struct request *request)
{
	struct server *server = peer->control.server;
	struct serve_port port;
	uint32_t number;
	int err = request_number_get(request, &number);

	if (err)
		return err;
	pthread_mutex_lock(server->options.lock);
	err = peer_ops(peer)->find_mad(server->options.owner, &peer->port,
				       number, &port);
	pthread_mutex_unlock(server->options.lock);
	if (!err && peer->is_tcp)
		return ibsa__peer_issm_set(peer, &port);
	if (!err)
		err = ibsa__issm_path(server, &port, (char *)request->out,
				      REMOTE_BODY_MAX);
	if (!err)
		request->used = strlen((char *)request->out);
	return err;
}

static int answer_control(struct server_peer *peer, struct request *request)
{
	/* with a terminating NUL */
	char line[REMOTE_LINE_MAX + 1];
	int err;

	if (request->len >= sizeof(line))
		return -ENAMETOOLONG;
	memcpy(line, request->body, request->len);
	line[request->len] = '\0';
	if (peer->is_tcp && !peer->may_change && peer_ops(peer)->changes(line))
		return ibsa__fail(&request->error, -EACCES,
				  "over TCP, this command needs the token of "
				  "--control-token: give its file, or send the "
				  "command through the Unix socket");
	err = peer_ops(peer)->command(peer->control.server->options.owner, line,
				      (char *)request->out, REMOTE_BODY_MAX,
				      &request->error);
	if (!err)
		request->used = strlen((char *)request->out);
	/*
	 * Events are sent to the clients before the answer to a command: a
	 * client that has received the answer finds the effect of the command
	 * at every client.
	 */
	ibsa__peers_send_events(peer->control.server);
	return err;
}

static int (*const answer_functions[REMOTE_TYPES])(struct server_peer *peer,
						   struct request *request) = {
	[REMOTE_HELLO] = answer_hello,
	[REMOTE_FILE] = answer_file,
	[REMOTE_FOLDER] = answer_folder,
	[REMOTE_ATTACH] = answer_attach,
	[REMOTE_DETACH] = answer_detach,
	[REMOTE_REGISTER] = answer_register,
	[REMOTE_UNREGISTER] = answer_unregister,
	[REMOTE_WATCH] = answer_watch,
	[REMOTE_ISSM] = answer_issm,
	[REMOTE_CONTROL] = answer_control,
};

/* Add the descriptors to a message. @head has room for all descriptors. */
static void fds_put(const struct server_fds *fds, struct msghdr *message,
		    struct cmsghdr *head)
{
	size_t count = 0;

	while (count < REMOTE_FDS && fds->fd[count] >= 0)
		count++;
	if (!count)
		return;
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(head), fds->fd, count * sizeof(int));
	message->msg_control = head;
	message->msg_controllen = CMSG_SPACE(count * sizeof(int));
}

/*
 * Send the answer in one message, together with its descriptors if it has any.
 */
static void answer_send(struct server_peer *peer, uint32_t type, int err,
			const struct request *request)
{
	struct remote_head head = {
		.type = type,
		.err = err,
		.length = (uint32_t)(err ? strlen(request->error.text)
					 : request->used),
	};
	struct iovec parts[] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = err ? (void *)(uintptr_t)request->error.text
				  : request->out,
		  .iov_len = head.length },
	};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(REMOTE_FDS * sizeof(int))];
	} control = { .room = { 0 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t sent;

	/*
	 * After a failure, the descriptor of the bell has been closed, and its
	 * number may belong to another file.
	 */
	if (!err)
		fds_put(&request->fds, &message, &control.head);
	sent = sendmsg(peer->control.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent != (ssize_t)(sizeof(head) + head.length))
		ibsa__peer_send_failed(peer, sent,
				       "it does not read its answers");
}

/*
 * Close the descriptors that were sent to the client. The eventfd of the client
 * (REMOTE_FD_BELL) stays open, because the server uses it, too.
 */
static void answer_fds_close(struct server_fds *fds)
{
	fd_close(&fds->fd[REMOTE_FD_DATA]);
	fd_close(&fds->fd[REMOTE_FD_MEMORY]);
}

static void request_answer(struct server_peer *peer,
			   const struct remote_head *head, const uint8_t *body)
{
	struct request request = {
		.body = body,
		.len = head->length,
		.out = peer->control.server->out_batch,
		.fds = { .fd = { -1, -1, -1 } },
	};
	int err = 0;

	if (head->type != REMOTE_HELLO && !peer->is_greeted)
		err = -EPROTO;
	else if (head->type != REMOTE_HELLO)
		err = ibsa__peer_check_slot(peer, head->type == REMOTE_CONTROL,
					    &request.error);
	if (!err)
		err = answer_functions[head->type](peer, &request);
	if (!peer->is_gone)
		answer_send(peer, head->type, err, &request);
	answer_fds_close(&request.fds);
	if (peer->is_greeted && !peer->is_reserved)
		ibsa__source_set_deadline(&peer->control, false);
	/*
	 * After an invalid frame, it is unknown where the next frame begins:
	 * the connection is closed.
	 */
	if (err == -EPROTO)
		ibsa__peer_disconnect(peer, "it sent an invalid request");
	else if (err == -EUSERS)
		ibsa__peer_refuse(peer);
	else if (peer_is_stranger(peer))
		ibsa__stranger_refuse(peer);
}

/* Before the hello, a client has little memory for its bytes. */
static bool head_is_valid(const struct server_peer *peer,
			  const struct remote_head *head)
{
	if (head->type >= REMOTE_TYPES ||
	    (head->err && (!peer->is_tcp || !peer->file)))
		return false;
	if (head->type == REMOTE_JOIN)
		return peer_is_stranger(peer) &&
		       head->length == REMOTE_TICKET_BYTES;
	return head->length <= (peer->is_greeted ? (uint32_t)REMOTE_BODY_MAX
						 : (uint32_t)REMOTE_HELLO_MAX);
}

/*
 * Answer the complete requests of a client until its turn ends. If a complete
 * request is left, @peer->has_request is set. Return: false: the head of a
 * frame is invalid.
 */
static bool requests_answer(struct server_peer *peer)
{
	struct server_bytes *request_bytes = &peer->request_bytes;
	uint64_t now_ns;
	size_t used = 0;

	peer->has_request = false;
	while (!peer->is_gone && !peer->has_request &&
	       request_bytes->count - used >= sizeof(struct remote_head)) {
		const uint8_t *at = request_bytes->at + used;
		struct remote_head head;

		memcpy(&head, at, sizeof(head));
		if (!head_is_valid(peer, &head))
			return false;
		if (request_bytes->count - used - sizeof(head) < head.length)
			break;
		if (head.type == REMOTE_JOIN) {
			used += sizeof(head) + head.length;
			return !ibsa__stranger_join(peer, at + sizeof(head),
						    request_bytes->at + used,
						    request_bytes->count -
							    used);
		}
		peer->has_request = ibsa__peer_is_early(peer, &head) ||
				    !ibsa__peer_charge(peer, 1);
		if (peer->has_request)
			break;
		request_answer(peer, &head, at + sizeof(head));
		used += sizeof(head) + head.length;
		now_ns = clock_now_ns();
		peer_limit_turn(peer, now_ns);
		peer->has_request = now_ns >= peer->until_ns;
	}
	request_bytes->count -= used;
	memmove(request_bytes->at, request_bytes->at + used,
		request_bytes->count);
	return true;
}

/* Return: whether bytes were received. */
static bool requests_receive(struct server_peer *peer)
{
	struct server_bytes *request_bytes = &peer->request_bytes;
	ssize_t got;

	if (!ibsa__bytes_grow(request_bytes, request_bytes->count
						     ? request_bytes->count
						     : 512)) {
		ibsa__peer_disconnect(peer, "out of memory for its request");
		return false;
	}
	got = ibsa__socket_recv(peer->control.fd,
				request_bytes->at + request_bytes->count,
				request_bytes->room - request_bytes->count);
	if (got > 0) {
		request_bytes->count += (size_t)got;
		return true;
	}
	if ((!got || errno == ECONNRESET) && ibsa__peer_await_data_end(peer))
		return false;
	if (!got || (errno != EAGAIN && errno != EINTR))
		ibsa__peer_disconnect(peer, got < 0 && errno == EPROTO
						    ? "it sent a descriptor"
						    : NULL);
	return false;
}

void ibsa__peer_answer(struct server_peer *peer)
{
	if (!ibsa__peer_resume(peer))
		return;
	if (!peer->has_request && !requests_receive(peer)) {
		peer->has_control = false;
		return;
	}
	if (!requests_answer(peer))
		ibsa__peer_disconnect(peer, "it sent an invalid frame");
	else if (peer->request_bytes.count && !peer->has_request)
		ibsa__source_set_deadline(&peer->control, true);
	/* epoll reports the connection again if it has more requests. */
	peer->has_control = peer->has_request;
}

void ibsa__peer_receive(struct server_source *source, uint32_t events)
{
	struct server_peer *peer = list_object(source, struct server_peer,
					       control);

	(void)events;
	if (peer->has_control)
		return;
	peer->has_control = true;
	ibsa__peer_mark(peer);
}
