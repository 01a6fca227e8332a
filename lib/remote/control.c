/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads frames from a transport's connection to a fabric server, without
 * waiting.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/fd.h"
#include "remote/control.h"
#include "wire/gid.h"

enum {
	/*
	 * Initial size of the receive buffer: enough for a port's state with
	 * tables of the usual size.
	 */
	FIRST_BYTES = 2048,
	/*
	 * Maximum number of reads in one call; the fd stays readable if more
	 * data have arrived.
	 */
	READS_MAX = 4,
};

void ibsa__control_init(struct remote_control *control)
{
	*control = (struct remote_control){ .asked = CONTROL_IDLE,
					    .fds = remote_fds_none() };
}

void ibsa__control_reset(struct remote_control *control)
{
	control->used = 0;
	control->packets = 0;
	control->has_answer = false;
	control->asked = CONTROL_IDLE;
	ibsa__remote_fds_close(&control->fds);
}

void ibsa__control_free(struct remote_control *control)
{
	ibsa__control_reset(control);
	ibsa__free(control->bytes);
	ibsa__free(control->state);
}

static struct remote_state control_state(const struct remote_control *control)
{
	struct remote_state state;

	memcpy(&state, control->state, sizeof(state));
	return state;
}

/*
 * Whether the body of a state frame has the length that its state and tables
 * require.
 */
static bool state_len_is_valid(const void *body, size_t len)
{
	struct remote_state state;

	if (len < sizeof(state))
		return false;
	memcpy(&state, body, sizeof(state));
	return state.gid_count <= REMOTE_BODY_MAX &&
	       state.pkey_count <= REMOTE_BODY_MAX &&
	       len == sizeof(state) +
			       state.gid_count * sizeof(struct ibsa_gid) +
			       state.pkey_count * sizeof(uint16_t);
}

/*
 * Set @state to the body of a state frame. Return: 0; -EPROTO the body's
 * length is wrong; -ENOMEM.
 */
static int state_set(struct remote_control *control, const void *body,
		     size_t len)
{
	uint8_t *state = control->state;

	if (!state_len_is_valid(body, len))
		return -EPROTO;
	if (!state || len > control->state_len)
		state = ibsa__realloc(state, len, 1);
	if (!state)
		return -ENOMEM;
	memcpy(state, body, len);
	control->state = state;
	control->state_len = len;
	return 0;
}

int ibsa__control_request(struct remote_control *control, int fd, uint32_t type,
			  const void *body, size_t len)
{
	const struct remote_head head = { .length = (uint32_t)len,
					  .type = type,
					  .err = (int32_t)control->packets };
	size_t sent = 0;
	const int err = ibsa__remote_send(fd, &head, sizeof(head), body, len,
					  &sent);

	if (err)
		return err == -EAGAIN && !sent ? -EAGAIN : -ENODEV;
	control->asked = type;
	return 0;
}

void ibsa__control_open(struct remote_control *control, int fd,
			struct remote_address *address, bool watches)
{
	struct {
		struct remote_head head;
		struct remote_greeting greeting;
	} hello = { .head = { .type = REMOTE_HELLO } };
	static const struct remote_head rest[] = { { .type = REMOTE_ATTACH },
						   { .type = REMOTE_WATCH } };
	size_t sent = 0;

	hello.head.length = (uint32_t)ibsa__remote_hello_put(address,
							     &hello.greeting);
	control->address = address;
	control->asked = REMOTE_HELLO;
	control->watches = watches;
	if (ibsa__remote_send(fd, &hello,
			      sizeof(hello.head) + hello.head.length, rest,
			      watches ? sizeof(rest) : sizeof(rest[0]), &sent))
		shutdown(fd, SHUT_RDWR);
}

/*
 * Return: the type of the request that ibsa__control_open() sends after the
 * request of @type; CONTROL_IDLE if there is none.
 */
static uint32_t request_next(const struct remote_control *control,
			     uint32_t type)
{
	switch (type) {
	case REMOTE_HELLO:
		return REMOTE_ATTACH;
	case REMOTE_ATTACH:
		return control->watches ? REMOTE_WATCH : CONTROL_IDLE;
	default:
		return CONTROL_IDLE;
	}
}

/*
 * Store the text of the server's error answer; "" if the answer is not an
 * error.
 */
static void refusal_take(struct remote_control *control,
			 const struct remote_head *head, const void *body)
{
	struct ibsa_error *refusal = &control->refusal;
	size_t len = head->err ? head->length : 0;

	if (len >= sizeof(refusal->text))
		len = sizeof(refusal->text) - 1;
	memcpy(refusal->text, body, len);
	refusal->text[len] = '\0';
}

/*
 * Return: the length that the body of a successful answer to a request of @type
 * must have. The answers to REMOTE_WATCH and REMOTE_ATTACH are handled
 * elsewhere, because their length varies.
 */
static size_t answer_len(uint32_t type)
{
	switch (type) {
	case REMOTE_HELLO:
		return sizeof(struct remote_hello);
	case REMOTE_REGISTER:
		return sizeof(struct umad_agent_request2);
	default:
		return 0;
	}
}

static int attached_take(struct remote_control *control, const void *body,
			 size_t len)
{
	control->ring_bytes = 0;
	if (control->address->is_tcp) {
		if (len != sizeof(control->ticket))
			return -EPROTO;
		memcpy(control->ticket, body, len);
		return 0;
	}
	if (len && len != sizeof(control->ring_bytes))
		return -EPROTO;
	memcpy(&control->ring_bytes, body, len);
	return 0;
}

static int hello_take(struct remote_control *control, const void *body)
{
	struct remote_hello hello;

	memcpy(&hello, body, sizeof(hello));
	return ibsa__remote_hello_take(&hello, control->address);
}

static int body_take(struct remote_control *control,
		     const struct remote_head *head, const void *body)
{
	if (head->type == REMOTE_WATCH)
		return state_set(control, body, head->length);
	if (head->type == REMOTE_ATTACH)
		return attached_take(control, body, head->length);
	if (head->length != answer_len(head->type))
		return -EPROTO;
	if (head->type == REMOTE_HELLO)
		return hello_take(control, body);
	if (head->type == REMOTE_REGISTER)
		memcpy(&control->answer, body, sizeof(control->answer));
	return 0;
}

/*
 * Return: 0; 1: the server has refused the request, and the answers to the
 * requests that were sent after it will not be handled; -ENODEV: the answer is
 * invalid.
 */
static int answer_take(struct remote_control *control,
		       const struct remote_head *head, const void *body)
{
	const uint32_t next = request_next(control, head->type);

	if (head->type != control->asked)
		return -ENODEV;
	control->answer_err = head->err;
	control->answer = 0;
	refusal_take(control, head, body);
	if (head->err ? !remote_err_is_valid(head->err)
		      : body_take(control, head, body))
		return -ENODEV;
	control->asked = head->err ? CONTROL_IDLE : next;
	return head->err && next != CONTROL_IDLE;
}

static int frame_take(struct remote_control *control,
		      const struct remote_head *head, const void *body)
{
	if (head->type != REMOTE_EVENT)
		return answer_take(control, head, body);
	if (head->err)
		return -ENODEV;
	control->has_event = true;
	return state_set(control, body, head->length) ? -ENODEV : 0;
}

/*
 * Handle all complete frames in the buffer. Return: 0; -ENODEV a frame is
 * invalid.
 */
static int frames_take(struct remote_control *control)
{
	struct remote_head head;
	size_t at = 0;
	int err = 0;

	while (!err && control->used - at >= sizeof(head)) {
		memcpy(&head, control->bytes + at, sizeof(head));
		if (head.length > REMOTE_BODY_MAX)
			return -ENODEV;
		if (control->used - at - sizeof(head) < head.length)
			break;
		err = frame_take(control, &head,
				 control->bytes + at + sizeof(head));
		at += sizeof(head) + head.length;
	}
	control->used -= at;
	if (at)
		memmove(control->bytes, control->bytes + at, control->used);
	return err < 0 ? err : 0;
}

static bool control_grow(struct remote_control *control)
{
	const size_t want = control->room ? control->used + 1 : FIRST_BYTES;

	return !ARRAY_GROW(control->bytes, control->room, want);
}

/*
 * Receive bytes from the server, and descriptors. Descriptors may come only
 * with the answer to REMOTE_ATTACH, which one receive may return together with
 * the answer to the hello; others are closed.
 */
static ssize_t control_recv(struct remote_control *control, int fd)
{
	struct remote_fds passed = remote_fds_none();
	const ssize_t got =
		ibsa__remote_recv(fd, control->bytes + control->used,
				  control->room - control->used, &passed);

	if ((control->asked != REMOTE_HELLO &&
	     control->asked != REMOTE_ATTACH) ||
	    control->fds.fd[0] >= 0)
		ibsa__remote_fds_close(&passed);
	else if (passed.fd[0] >= 0 || passed.is_cut)
		control->fds = passed;
	return got;
}

/*
 * Reading ends with the first read that does not fill the buffer: it has
 * received everything, or the fd is still readable.
 */
int ibsa__control_read(struct remote_control *control, int fd)
{
	/*
	 * The number of reads is limited, so that a server which sends all the
	 * time does not block the caller.
	 */
	for (int i = 0; i < READS_MAX; i++) {
		size_t room;
		ssize_t got;
		int err;

		if (!control_grow(control))
			return -ENODEV;
		room = control->room - control->used;
		got = control_recv(control, fd);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got <= 0)
			return -ENODEV;
		control->has_answer = true;
		control->used += (size_t)got;
		err = frames_take(control);
		if (err || (size_t)got < room)
			return err;
	}
	return 0;
}

void ibsa__control_port(const struct remote_control *control,
			struct ibsa_port_state *out)
{
	const struct remote_port from = control_state(control).port;

	*out = (struct ibsa_port_state){ REMOTE_PORT_NUMBERS(
		REMOTE_PORT_COPY) };
	memcpy(out->gid.raw, from.gid, sizeof(out->gid.raw));
}

int ibsa__control_gid(const struct remote_control *control, uint32_t index,
		      struct ibsa_gid_entry *out)
{
	struct ibsa_gid_entry entry = { .index = index };

	if (index >= control_state(control).gid_count)
		return -EINVAL;
	memcpy(&entry.gid,
	       control->state + sizeof(struct remote_state) +
		       index * sizeof(entry.gid),
	       sizeof(entry.gid));
	if (gid_is_zero(&entry.gid))
		return -ENODATA;
	*out = entry;
	return 0;
}

int ibsa__control_pkey(const struct remote_control *control, uint32_t index,
		       uint16_t *out)
{
	const struct remote_state state = control_state(control);

	if (index >= state.pkey_count)
		return -EINVAL;
	memcpy(out,
	       control->state + sizeof(state) +
		       state.gid_count * sizeof(struct ibsa_gid) +
		       index * sizeof(*out),
	       sizeof(*out));
	return 0;
}
