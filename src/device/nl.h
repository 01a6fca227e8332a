/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Questions to the kernel by netlink. libnl-3 speaks it, and is loaded for
 * the time of one question: programs that ask none do without it.
 */
#ifndef DEVICE_NL_H
#define DEVICE_NL_H

#include <ibsa/types.h>

struct ibsa__nl_attr {
	uint16_t type;
	uint16_t len;
	const void *data;
};

/* One message of an answer. */
struct ibsa__nl_reply;

typedef void (*ibsa__nl_reply_fn)(const struct ibsa__nl_reply *reply,
				  void *arg);

/*
 * @protocol: NETLINK_ROUTE, NETLINK_RDMA; @type: of the message; @is_dump:
 * for a list; @head: of the family, may be empty; @attrs: behind it; @answer:
 * called for each message that comes back.
 */
struct ibsa__nl_request {
	int protocol;
	int type;
	bool is_dump;
	const void *head;
	size_t head_len;
	const struct ibsa__nl_attr *attrs;
	size_t attr_count;
	ibsa__nl_reply_fn on_reply;
	void *arg;
};

/*
 * Ask and wait for the answer. 0; -ELIBACC there is no libnl-3; -ENOMEM; the
 * error that the kernel answers with; or that of the socket.
 */
int ibsa__nl_query(const struct ibsa__nl_request *request) IBSA_MUST_USE;

/* An attribute of @len bytes or more, or NULL. */
const void *ibsa__nl_find(const struct ibsa__nl_reply *reply, uint16_t type,
			  size_t len);

/* Whether a text attribute says just this. */
bool ibsa__nl_text_is(const struct ibsa__nl_reply *reply, uint16_t type,
		      const char *text);

#endif
