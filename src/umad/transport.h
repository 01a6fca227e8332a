/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport over a umad file of any implementation: agents, packets, and
 * the reopening of a file that was lost.
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
	UMAD_AGENT_REQUESTS, /* requests to the SA, if this program is a
			      * responder */
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
	uint8_t link; /* link layer of the open port, enum ibsa_link_layer */
	struct umad_agent agents[UMAD_AGENTS];
	bool is_open;
	bool listens; /* the client listens for Reports, even if the agent is
		       * not registered yet */
	bool serves;  /* is to take requests to the SA */
	/*
	 * Reason why no file is open: -EAGAIN for a shortage of descriptors or
	 * memory, or the error of opening the file again.
	 */
	int lost;
	bool is_gone;	      /* the port has disappeared since the file was
			       * opened */
	int loss;	      /* error that recv must return once, or 0 */
	bool has_changed;     /* the port has disappeared or come back since
			       * changed was called */
	uint32_t reregisters; /* how often it came back */

	int reports_err; /* error of an agent for Reports that was refused late;
			  * the next listen returns it */

	/* Packets that were taken from the file. */
	struct umad_buffer buffers[UMAD_BUFFERS];
	size_t held;
	size_t at; /* the next of them */

	uint8_t *packet; /* memory for one: header and MAD */
	size_t packet_room;
	size_t packet_max;
};

/*
 * Initialise the transport of a file, whose implementation owns the memory of
 * the transport. Return: 0; -ENOMEM. The close operation of the transport also
 * ends the file.
 */
int ibsa__umad_transport_init(struct umad_transport *umad,
			      struct umad_file *file,
			      size_t reply_bytes) IBSA_MUST_USE;
void ibsa__umad_transport_done(struct umad_transport *umad);

/*
 * Register the agents that the transport needs, after the file was opened.
 * @wait_ms: maximum wait for each answer of the file; below 0: as long as the
 * file itself waits. Return: 0; -EINPROGRESS not all answers have come; or
 * another error, and the file is closed.
 */
int ibsa__umad_up(struct umad_transport *umad, int wait_ms) IBSA_MUST_USE;

/*
 * Register an agent at a file that has no agent of this use yet. Return: 0;
 * -EBUSY another program receives its methods; -EINPROGRESS the answer has not
 * come; or the file's error.
 */
int ibsa__umad_agent_register(struct umad_file *file, enum umad_agent_use use,
			      struct umad_agent *out) IBSA_MUST_USE;

/* Handle answers of the file that came after listen had returned. */
void ibsa__umad_agents_poll(struct umad_transport *umad);

/*
 * Open the file again unless it is open. Return: 0; -EAGAIN descriptors or
 * memory are short; or the reason why it cannot be opened, such as -ENODEV.
 */
int ibsa__umad_have(struct umad_transport *umad) IBSA_MUST_USE;

/* Close the file, to open it again later. @is_gone: the port has gone. */
void ibsa__umad_shut(struct umad_transport *umad, bool is_gone);

/*
 * Close the file because it was lost with the error @err. Return: @err; -EAGAIN
 * if the error is a shortage.
 */
int ibsa__umad_lose(struct umad_transport *umad, int err);

/* Return the error of a lost file, once; after that 0. */
int ibsa__umad_loss(struct umad_transport *umad);

/*
 * Whether an error is a shortage of descriptors or memory, which does not mean
 * that the port has disappeared.
 */
bool ibsa__umad_is_shortage(int err);

/* Convert an error of the file's send operation to that of the transport's. */
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
 * From then on, recv delivers Get, Set, GetTable, GetMulti and Delete of class
 * version 2, a GetMulti of several segments as a whole. This program receives
 * them until the transport is closed. If another program registers for them
 * while the file is opened again, the transport fails with -EBUSY, as if the
 * file could not be opened.
 *
 * Return: 0; -EBUSY another program at the port receives these requests;
 * -EAGAIN the file is not open for now; or an error of recv.
 */
int ibsa__umad_serve(struct ibsa_transport *transport) IBSA_MUST_USE;

/**
 * ibsa__umad_answer - answer a request that has arrived
 * @transport: the transport that delivered the request, after
 *             ibsa__umad_serve()
 * @to:        the address of the requester, as recv returned it
 * @id:        transaction id of the request and the answer
 * @mad:       the answer, from the MAD header on
 * @len:       number of bytes at @mad; an answer of more than one MAD is sent
 *             in segments if the Active flag of its RMPP header is set
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
 * Milliseconds until recv must be called even if fd is not readable; -1: never.
 */
int ibsa__umad_pause_ms(struct ibsa_transport *transport);

static inline struct umad_transport *umad_of(struct ibsa_transport *transport)
{
	return (struct umad_transport *)transport;
}

#endif
