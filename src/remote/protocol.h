/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a fabric server and its clients say to each other over a Unix stream
 * socket. Both are on one machine: numbers are in host order.
 *
 * A client says hello, then asks; the server answers in the same order. Each
 * frame is a head and @length bytes behind it. An answer has the @type of its
 * question and @err; the body of a refusal is a sentence.
 *
 * The answer to REMOTE_ATTACH carries a second socket, the data end of a umad
 * file: packets both ways, each a umad_header whose @length is the whole of
 * it and a MAD of any size. A packet from the server with a @status other
 * than 0 holds the head of a MAD that was sent, and what became of it.
 */
#ifndef REMOTE_PROTOCOL_H
#define REMOTE_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "umad/header.h"
#include "wire/mad.h"

enum {
	REMOTE_VERSION = 3,
	REMOTE_BODY_MAX = 65536, /* bytes behind a head, both ways */
	REMOTE_NODE_MAX = 64,	 /* of a node's name, as its description */
	REMOTE_LINE_MAX = 511,	 /* of REMOTE_CONTROL */
	REMOTE_MAD_MIN = MAD_HEADER_BYTES, /* what is left of one that failed */
};

/* The largest packet either way: the largest answer of the SA and a header. */
#define REMOTE_PACKET_MAX ((UINT32_C(256) << 20) + UMAD_HEADER_BYTES)

/* The one device that a client sees. */
#define REMOTE_DEVICE "ibsa0"

/* What stands before the path in $IBSA_FABRIC. */
#define REMOTE_PREFIX "unix:"

enum remote_type {
	REMOTE_HELLO,	   /* struct remote_hello; answer: the same */
	REMOTE_FILE,	   /* a path; answer: what the file holds */
	REMOTE_FOLDER,	   /* a path; answer: names, a NUL after each */
	REMOTE_ATTACH,	   /* answer: the data socket beside it */
	REMOTE_DETACH,	   /* close that file, before the answer */
	REMOTE_REGISTER,   /* struct umad_agent_request2; answer: the same */
	REMOTE_UNREGISTER, /* uint32_t agent */
	REMOTE_WATCH,	   /* answer: struct remote_state; events follow */
	REMOTE_ISSM,	   /* uint32_t port; answer: a path to open */
	REMOTE_CONTROL,	   /* a line of text; answer: text */
	REMOTE_TYPES,
	REMOTE_EVENT = 0x100, /* unasked: struct remote_state, which changed */
};

struct remote_head {
	uint32_t length; /* of what follows */
	uint32_t type;
	int32_t err; /* 0 or negative errno; 0 in a question */
};

/* Whether an answer that is not 0 is an error as the system has them. */
static inline bool remote_err_is_valid(int32_t err)
{
	enum { ERRNO_MAX = 4095 };

	return err < 0 && err >= -ERRNO_MAX;
}

/*
 * @port: 0 for the first with a cable; in the answer the one that it is
 * @node: name or id, "" for the first adapter; ends with a NUL
 */
struct remote_hello {
	uint32_t version;
	uint32_t port;
	char node[REMOTE_NODE_MAX + 1];
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct remote_hello) == 76, "remote hello");

_Static_assert(sizeof(struct ibsa_gid_entry) == 28, "remote GID");

/* As struct ibsa_port_state. */
struct remote_port {
	uint8_t gid[16];
	uint32_t lid;
	uint32_t sm_lid;
	uint32_t reregisters;
	uint16_t pkey_index;
	uint8_t sm_sl;
	uint8_t lmc;
	uint8_t port_state;
	uint8_t phys_state;
	uint8_t link;
	uint8_t port_num;
	uint8_t needs_grh;
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct remote_port) == 40, "remote port");

/*
 * All that a client reads of its port, so that it asks nothing later. Behind
 * it are the GID table, of struct ibsa_gid, 0 in empty entries, and the P_Key
 * table, of uint16_t.
 */
struct remote_state {
	struct remote_port port;
	uint32_t gid_count;
	uint32_t pkey_count;
};
_Static_assert(sizeof(struct remote_state) == 48, "remote state");

#endif
