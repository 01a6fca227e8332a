/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol between a server, such as a fabric server, and its clients, over a
 * Unix stream socket or TCP. Numbers are in host byte order, which the server
 * checks by the version in the hello.
 *
 * A client sends a hello, then requests; the server answers in the same order.
 * Each frame is a head, followed by @length bytes. An answer has the @type of
 * its request, and @err. If @err is not 0, its body is a sentence that gives
 * the reason.
 *
 * The server passes a second socket with the answer to REMOTE_ATTACH: the data
 * socket of a umad file. Packets pass through the data socket in both
 * directions: a umad_header, whose @length counts the header and the MAD, and a
 * MAD of any size. A packet from the server whose @status is not 0 returns the
 * header of a MAD that was sent, with its result.
 *
 * If the client has set REMOTE_HAS_RINGS in its hello, and the server can share
 * memory, the packets pass through rings instead (ring.h). The answer to
 * REMOTE_ATTACH then has a body, the size of the shared memory, and the server
 * passes three descriptors with it: the data socket, the memory and an eventfd.
 * To wake the server, the client adds 1 to the eventfd. To wake the client, the
 * server sends one byte through the data socket; the client reads one byte for
 * each time that it announces that it waits, so that the socket is readable if
 * and only if the ring has bytes or the server has gone. Both sides detect each
 * other's end by the sockets.
 *
 * TCP carries no descriptors (tcp.h). There, a token follows the hello. The body
 * of the answer to REMOTE_ATTACH is a ticket; the client connects once more, and
 * sends REMOTE_JOIN with the ticket, which is not answered: this connection is
 * then the data socket. Since packets and requests may overtake each other, a
 * request has the number of packets that were sent before it, for which the server
 * waits; and if the client ends the connection, the server reads the packets that
 * arrive until the client ends the data socket, too. The answer to REMOTE_ISSM is
 * empty: the port has the bit IsSM set as long as the connection that requested it
 * is open.
 *
 * Versions: a client sends its latest version. The server answers with its own
 * latest version, if that is lower, and both use the lower one; bits of features
 * that the server does not have are 0 in the answer. A server ignores what
 * later versions append to the hello.
 */
#ifndef REMOTE_PROTOCOL_H
#define REMOTE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umad/header.h"
#include "wire/mad.h"

enum {
	REMOTE_VERSION = 4,
	/* The earliest version that this one accepts. */
	REMOTE_VERSION_FIRST = 4,
	/*
	 * Maximum number of bytes behind the head of a frame, in both
	 * directions.
	 */
	REMOTE_BODY_MAX = 65536,
	/*
	 * Maximum length of a node's name, which is that of a NodeDescription,
	 * of a host's name, and of a device's name.
	 */
	REMOTE_NODE_MAX = 64,
	/* Maximum length of the line in a request REMOTE_CONTROL. */
	REMOTE_LINE_MAX = 511,
	REMOTE_MAD_MIN = MAD_HEADER_BYTES, /* what a failed MAD is cut to */
	/* Maximum length of a hello, with what later versions add to it. */
	REMOTE_HELLO_MAX = 1024,
	REMOTE_TOKEN_BYTES = 32,  /* of the token that follows a hello */
	REMOTE_TICKET_BYTES = 16, /* of the ticket for REMOTE_JOIN */
	/*
	 * The client can use rings. If struct ring_memory changes after a
	 * release, this bit must get another value: a client and a server with
	 * different structs then use the data socket.
	 */
	REMOTE_HAS_RINGS = 1,
	/* The client sends no requests but REMOTE_CONTROL. */
	REMOTE_IS_CONTROL = 2,
	/*
	 * The node's name in the hello is the host name of the client's
	 * machine. If no node of the fabric belongs to that host, the server
	 * uses the first adapter.
	 */
	REMOTE_IS_MACHINE = 4,
	REMOTE_FEATURES = REMOTE_HAS_RINGS | REMOTE_IS_CONTROL |
			  REMOTE_IS_MACHINE,
};

/*
 * Maximum size of a packet in both directions: the SA's largest reply, with a
 * umad header.
 */
#define REMOTE_PACKET_MAX ((UINT32_C(256) << 20) + UMAD_HEADER_BYTES)

/*
 * A device whose node has no name for it is called REMOTE_DEVICES and a number;
 * REMOTE_DEVICE is the first such name. In a hello, if the client's host has no
 * device with this name, it selects the same device as no name.
 */
#define REMOTE_DEVICES "ibsa"
#define REMOTE_DEVICE REMOTE_DEVICES "0"

/*
 * Stands, in the paths of device files, for the device that the client has
 * selected with its hello.
 */
#define REMOTE_SELECTED "-"

/* Precedes the path, or the host and port, in IBSA_FABRIC. */
#define REMOTE_PREFIX "unix:"
#define REMOTE_PREFIX_ANY "unix-any-user:"
#define REMOTE_PREFIX_TCP "tcp:"

enum remote_type {
	REMOTE_HELLO, /* struct remote_hello; answer: the same */
	/*
	 * Read a device file. Body: its path; body of the answer: the file's
	 * content.
	 */
	REMOTE_FILE,
	/*
	 * List a directory. Body: its path; body of the answer: the names, each
	 * followed by a NUL.
	 */
	REMOTE_FOLDER,
	/*
	 * Open a umad file. The descriptors from REMOTE_FD_DATA on are passed
	 * with the answer. The body of the answer is empty; with rings, it is
	 * the size of the shared memory, an uint32_t.
	 */
	REMOTE_ATTACH,
	/* Close the umad file. The file is closed before the answer is sent. */
	REMOTE_DETACH,
	/*
	 * Register an agent. Body and body of the answer: struct
	 * umad_agent_request2.
	 */
	REMOTE_REGISTER,
	REMOTE_UNREGISTER, /* uint32_t agent */
	/* Request events. Body of the answer: struct remote_state. */
	REMOTE_WATCH,
	/*
	 * Body: the number N of an issmN, an uint32_t. Body of the answer: the
	 * path that the client opens in its place.
	 */
	REMOTE_ISSM,
	REMOTE_CONTROL, /* a line of text; answer: text */
	/* Over TCP, the first frame of a data socket. Body: the ticket. */
	REMOTE_JOIN,
	REMOTE_TYPES,
	/*
	 * The server sends this frame without a request: a struct remote_state,
	 * after a change of the port.
	 */
	REMOTE_EVENT = 0x100,
};

/* The descriptors that are passed with the answer to REMOTE_ATTACH. */
enum { REMOTE_FD_DATA, REMOTE_FD_MEMORY, REMOTE_FD_BELL, REMOTE_FDS };

struct remote_head {
	uint32_t length; /* of the body */
	uint32_t type;
	/*
	 * In an answer 0 or a negative errno; in a request 0, or, over TCP, the
	 * number of packets that the client has sent to its umad file before.
	 */
	int32_t err;
};

/* Whether @err is a negative errno. */
static inline bool remote_err_is_valid(int32_t err)
{
	enum { ERRNO_MAX = 4095 };

	return err < 0 && err >= -ERRNO_MAX;
}

/*
 * The hello message, with names that end with a NUL.
 * @port:     port number; 0: the first port that has a link
 * @node:     name or id of a node, or name of a host, which stands for all its
 *            adapters; "": the first adapter
 * @device:   name of a device of @node, or another node, whose files and port
 *            the client uses; "": the first device of @node with an active port
 * @features: REMOTE_HAS_RINGS, REMOTE_IS_CONTROL, REMOTE_IS_MACHINE
 *
 * In the answer, @port is the port that the server chose, and @name the name of
 * its device. @node, @device and @features select that port again.
 */
struct remote_hello {
	uint32_t version;
	uint32_t port;
	char node[REMOTE_NODE_MAX + 1];
	char device[REMOTE_NODE_MAX + 1];
	char name[REMOTE_NODE_MAX + 1];
	uint8_t features;
};
_Static_assert(sizeof(struct remote_hello) == 204, "remote hello");

/* Whether all names of a hello end within it. */
static inline bool remote_names_end(const struct remote_hello *hello)
{
	return !hello->node[REMOTE_NODE_MAX] &&
	       !hello->device[REMOTE_NODE_MAX] && !hello->name[REMOTE_NODE_MAX];
}

/* A hello over TCP; over a Unix socket, it ends before @token. */
struct remote_greeting {
	struct remote_hello hello;
	uint8_t token[REMOTE_TOKEN_BYTES];
};
_Static_assert(sizeof(struct remote_greeting) == 236, "remote greeting");

/*
 * Read a hello of any length and version. @out: without a token, zeros. Return:
 * 0; -EPROTO it is not a hello; -EPROTONOSUPPORT its version is too early, or
 * the byte order of the client is another.
 */
int ibsa__remote_hello_read(const void *body, size_t len,
			    struct remote_greeting *out) IBSA_MUST_USE;

_Static_assert(sizeof(struct ibsa_gid_entry) == 28, "remote GID");

/*
 * The members of struct ibsa_port_state that are numbers: type and name of
 * each.
 */
/* clang-format off */
#define REMOTE_PORT_NUMBERS(N)		\
	N(uint32_t, lid)		\
	N(uint32_t, sm_lid)		\
	N(uint32_t, reregisters)	\
	N(uint16_t, pkey_index)		\
	N(uint8_t,  sm_sl)		\
	N(uint8_t,  lmc)		\
	N(uint8_t,  port_state)		\
	N(uint8_t,  phys_state)		\
	N(uint8_t,  link)		\
	N(uint8_t,  port_num)		\
	N(uint8_t,  needs_grh)
/* clang-format on */

/*
 * Expand a row to a member of struct remote_port; and to the initialiser of
 * that member from the struct "from".
 */
#define REMOTE_PORT_MEMBER(type, name) type name;
#define REMOTE_PORT_COPY(type, name) .name = from.name,

struct remote_port {
	uint8_t gid[16];
	REMOTE_PORT_NUMBERS(REMOTE_PORT_MEMBER)
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct remote_port) == 40, "remote port");

/*
 * The state of a port that a client receives. The state is followed by the GID
 * table (struct ibsa_gid, 0 in empty entries) and the P_Key table (uint16_t).
 */
struct remote_state {
	struct remote_port port;
	uint32_t gid_count;
	uint32_t pkey_count;
};
_Static_assert(sizeof(struct remote_state) == 48, "remote state");

#endif
