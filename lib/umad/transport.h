/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport over a umad file of any implementation: it registers agents,
 * sends and receives packets, and opens the file again if it was lost.
 */
#ifndef UMAD_TRANSPORT_H
#define UMAD_TRANSPORT_H

#include <limits.h>

#include <ibsa/transport.h>

#include "umad/file.h"

/* The agents of a transport, by the MADs that they receive. */
enum umad_agent_use {
	UMAD_AGENT_SA,	    /* replies to its own requests */
	UMAD_AGENT_OPA,	    /* replies to requests of OPA's class version */
	UMAD_AGENT_REPORTS, /* the SA's Reports */
	/*
	 * Agent that receives requests to the SA, if this program is a
	 * responder.
	 */
	UMAD_AGENT_REQUESTS,
	UMAD_AGENTS,
};

struct umad_agent {
	uint32_t id;
	bool is_registered;
	/*
	 * The file was requested to register the agent, and has not answered
	 * yet.
	 */
	bool is_asked;
};

/* Maximum number of packets in one call of the file's receive operation. */
enum { UMAD_BUFFERS = 16 };

/* Value of the member expected: any number of packets may have arrived. */
#define UMAD_EXPECTED_ANY UINT_MAX

struct umad_transport {
	struct ibsa_transport base;
	struct umad_file *file;
	uint8_t link; /* Link layer of the port, an enum ibsa_link_layer. */
	struct umad_agent agents[UMAD_AGENTS];
	bool is_open;
	/*
	 * The transport's user has begun to listen for Reports. The agent that
	 * receives them may not be registered yet.
	 */
	bool listens;
	/* The transport receives requests to the SA; see ibsa__umad_serve(). */
	bool serves;
	/*
	 * The last error with which the umad file was lost or could not be
	 * opened again; -EAGAIN for a shortage of descriptors or memory.
	 */
	int lost;
	/*
	 * The umad file was lost with another error than a shortage, usually
	 * because the port has disappeared, and is not open again yet.
	 */
	bool is_gone;
	/* Error that the recv operation must return once; 0: none. */
	int loss;
	/*
	 * The port has disappeared or come back since the last call of the
	 * changed operation.
	 */
	bool has_changed;
	/*
	 * Number of times that the port has come back after it had disappeared.
	 */
	uint32_t reregisters;

	/* Packets have UMAD_IS_FRESH: the SA itself must reply. */
	bool is_fresh;

	/*
	 * Error of the agent for Reports that the file refused late; the next
	 * call of the listen operation returns it.
	 */
	int reports_err;

	/* Packets that were received from the file. */
	struct umad_buffer buffers[UMAD_BUFFERS];
	/*
	 * Number of requests that were sent with a timeout, and that the file
	 * has not yet returned, with a reply or an error.
	 */
	unsigned int outstanding;
	/*
	 * How many of the requests that were outstanding at the last wait the
	 * file has not returned. At 0, a file with @reads_singly probably has
	 * no packet, and recv returns once without reading it.
	 */
	unsigned int expected;
	size_t held; /* number of packets in @buffers */
	/* Index in @buffers of the next packet that recv returns. */
	size_t at;

	/* Memory for one packet: its umad header and its MAD. */
	uint8_t *packet;
	/* Current size of @packet, which grows up to @packet_max. */
	size_t packet_room;
	size_t packet_max;
};

/*
 * Initialise the transport of @file. The file's implementation owns the memory
 * of the transport. The transport's close operation also closes the file.
 * Return: 0; -ENOMEM.
 */
int ibsa__umad_transport_init(struct umad_transport *umad,
			      struct umad_file *file,
			      size_t reply_bytes) IBSA_MUST_USE;
void ibsa__umad_transport_done(struct umad_transport *umad);

/*
 * From now on, the SA itself must reply to requests, not the cache of a server.
 * No effect on a transport of another kind, or at a device.
 */
void ibsa__umad_fresh_set(struct ibsa_transport *transport);

/*
 * Register the agents that the transport needs, after the umad file was
 * opened. @wait_ms: maximum wait for each answer of the file; below 0: as long
 * as the file itself waits. Return: 0; -EINPROGRESS the file has not sent all
 * answers yet; or another error, and the file is closed.
 */
int ibsa__umad_up(struct umad_transport *umad, int wait_ms) IBSA_MUST_USE;

/*
 * Register an agent for @use at a umad file that has no agent for it yet.
 * Return: 0; -EBUSY another program receives its methods; -EINPROGRESS the
 * file has not answered yet; or the file's error.
 */
int ibsa__umad_agent_register(struct umad_file *file, enum umad_agent_use use,
			      struct umad_agent *out) IBSA_MUST_USE;

/*
 * umad_agents_poll() handles an answer of the umad file to a request for an
 * agent that came after the listen operation had returned;
 * ibsa__umad_agents_answer() does so while there is such a request.
 */
void ibsa__umad_agents_answer(struct umad_transport *umad);

static inline void umad_agents_poll(struct umad_transport *umad)
{
	if (umad->agents[UMAD_AGENT_REPORTS].is_asked)
		ibsa__umad_agents_answer(umad);
}

/*
 * ibsa__umad_reopen() opens the umad file again; umad_have() does so unless the
 * file is open. Return: 0; -EAGAIN descriptors or memory are short; or the
 * reason why the file cannot be opened, such as -ENODEV.
 */
int ibsa__umad_reopen(struct umad_transport *umad) IBSA_MUST_USE;

IBSA_MUST_USE static inline int umad_have(struct umad_transport *umad)
{
	return umad->is_open ? 0 : ibsa__umad_reopen(umad);
}

/*
 * Close the umad file, to open it again later. @is_gone: the port has
 * disappeared.
 */
void ibsa__umad_shut(struct umad_transport *umad, bool is_gone);

/*
 * Close the umad file because it was lost with the error @err. Return: -EAGAIN
 * if the error is a shortage of resources; otherwise @err.
 */
int ibsa__umad_lose(struct umad_transport *umad, int err);

/*
 * Return: the error with which the umad file was lost, once; 0 in later calls.
 */
int ibsa__umad_loss(struct umad_transport *umad);

/*
 * Convert an error of the umad file's send operation to the error that the
 * transport's send operation returns.
 */
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
 * these requests until the transport is closed. If another program registers
 * for them while the file is opened again, the transport fails with -EBUSY, as
 * if the file could not be opened.
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
 * such tries without an ACK, the kernel gives up, and recv returns the header
 * of the answer with -ETIMEDOUT. If the requester sends an ABORT, the kernel
 * gives up without a notification.
 *
 * Return: 0; -EMSGSIZE @len is shorter than a MAD header, or more than a umad
 * header can hold; -ERANGE @to has a LID of more than 16 bits, but no GRH;
 * -EALREADY an answer with this transaction id is still being sent to @to, or
 * the kernel refuses the answer; -EAGAIN, -ENOMEM and -ENODEV as send.
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
