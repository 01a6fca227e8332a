/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport over a umad file, whichever implements it: agents, packets, and
 * what happens when the file is lost and opened again.
 */
#ifndef UMAD_TRANSPORT_H
#define UMAD_TRANSPORT_H

#include <ibsa/transport.h>

#include "umad/file.h"

/* What the transport registers for. */
enum umad_agent_use {
	UMAD_AGENT_SA,	     /* replies to its own requests */
	UMAD_AGENT_OPA,	     /* the same of OPA's class version */
	UMAD_AGENT_REPORTS,  /* the SA's Reports */
	UMAD_AGENT_REQUESTS, /* requests to the SA, where this program is one */
	UMAD_AGENTS,
};

struct umad_agent {
	uint32_t id;
	bool is_registered;
	bool is_asked; /* for, and not answered yet */
};

/* Packets that are taken at a time. */
enum { UMAD_BUFFERS = 16 };

struct umad_transport {
	struct ibsa_transport base;
	struct umad_file *file;
	uint8_t link; /* enum ibsa_link_layer of the port that is open */
	struct umad_agent agents[UMAD_AGENTS];
	bool is_open;
	bool listens; /* is to take Reports, whether it has an agent or not */
	bool serves;  /* is to take requests to the SA */
	/* Why there is no file: -EAGAIN the system is short of something, or
	 * the error of opening it again. */
	int lost;
	bool is_gone;	      /* the port went away since the file was opened */
	int loss;	      /* what recv is to tell of it once, or 0 */
	bool has_changed;     /* the port is there again, or not any more */
	uint32_t reregisters; /* how often it came back */

	int reports_err; /* of Reports that were refused late, for listen */

	/* Packets that were taken from the file. */
	struct umad_buffer buffers[UMAD_BUFFERS];
	size_t held;
	size_t at; /* the next of them */

	uint8_t *packet; /* memory for one: header and MAD */
	size_t packet_room;
	size_t packet_max;
};

/*
 * Begin with a file, whose implementation has the transport's memory. Return:
 * 0; -ENOMEM. The transport's close is the end of both.
 */
int ibsa__umad_transport_init(struct umad_transport *umad,
			      struct umad_file *file,
			      size_t reply_bytes) IBSA_MUST_USE;
void ibsa__umad_transport_done(struct umad_transport *umad);

/*
 * Register what is needed at the file, which was opened. @wait_ms: for each
 * answer; below 0 as long as the file waits for any. Return: 0; -EINPROGRESS not
 * all answers have come; or another error, and then the file is not open.
 */
int ibsa__umad_up(struct umad_transport *umad, int wait_ms) IBSA_MUST_USE;

/* Register an agent at a file that has none of this use yet. Return: 0; -EBUSY
 * another program has its methods; -EINPROGRESS; or the file's error. */
int ibsa__umad_agent_register(struct umad_file *file, enum umad_agent_use use,
			      struct umad_agent *out) IBSA_MUST_USE;

/* Take late answers of the file to what was registered. */
void ibsa__umad_agents_poll(struct umad_transport *umad);

/* Have a file, opened again if there is none. 0; -EAGAIN not now, for want of
 * something; or -ENODEV or what else keeps it from being opened. */
int ibsa__umad_have(struct umad_transport *umad) IBSA_MUST_USE;

/* Close the file, which is to be opened again. */
void ibsa__umad_drop(struct umad_transport *umad);

/* The file is lost for @err. Return: @err, or -EAGAIN. */
int ibsa__umad_lose(struct umad_transport *umad, int err);

/* What is told of a file that is lost, once; then there is nothing. */
int ibsa__umad_loss(struct umad_transport *umad);

/* The system is short of something, which says nothing of the port. */
bool ibsa__umad_is_shortage(int err);

/* What a failed send of the file is for the transport's user. */
int ibsa__umad_send_error(struct umad_transport *umad, int err);

int ibsa__umad_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms);
int ibsa__umad_recv(struct ibsa_transport *transport, struct ibsa_message *out);
int ibsa__umad_listen(struct ibsa_transport *transport, bool on);

/**
 * ibsa__umad_serve - let recv deliver requests to the SA, too
 * @transport: over a umad file
 *
 * From then on Get, Set, GetTable, GetMulti and Delete of class version 2
 * come in, a GetMulti of several segments whole. They stay this program's
 * until the transport is closed. If another takes them while the file is
 * opened again, that is as a file that cannot be opened: with -EBUSY.
 *
 * Return: 0; -EBUSY another program at the port takes them; -EAGAIN the file
 * is not open for now; or what recv would say.
 */
int ibsa__umad_serve(struct ibsa_transport *transport) IBSA_MUST_USE;

/**
 * ibsa__umad_answer - answer a request that has come in
 * @transport: that it came to, after ibsa__umad_serve()
 * @to:        the requester, as recv has said
 * @id:        transaction id of the request, which the answer is given
 * @mad:       the answer, from the MAD header on
 * @len:       bytes of it; above one MAD it is sent in segments, if its RMPP
 *             header says that it is active
 *
 * The kernel sends segments again after 2 seconds without an ACK. After three
 * such tries without success it gives up, and recv returns the header of the
 * answer with -ETIMEDOUT. If the requester sends an ABORT, the kernel gives up
 * without a notification.
 *
 * Return: 0; -EMSGSIZE @len is more than a packet's header can hold; -EALREADY
 * an answer with this transaction id is still being sent to @to, or the kernel
 * refuses the answer; -EAGAIN, -ENOMEM and -ENODEV as send.
 */
int ibsa__umad_answer(struct ibsa_transport *transport,
		      const struct ibsa_address *to, uint64_t id,
		      const uint8_t *mad, size_t len) IBSA_MUST_USE;

/*
 * In how many milliseconds recv is to be called at the latest, though fd is
 * not readable; -1: no such need.
 */
int ibsa__umad_pause_ms(struct ibsa_transport *transport);

static inline struct umad_transport *umad_of(struct ibsa_transport *transport)
{
	return (struct umad_transport *)transport;
}

#endif
