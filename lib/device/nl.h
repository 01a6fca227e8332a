/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends netlink requests to the kernel. libnl-3 is loaded only during a
 * request, so that programs run without it.
 */
#ifndef DEVICE_NL_H
#define DEVICE_NL_H

#include <ibsa/types.h>

struct ibsa__nl_attr {
	uint16_t type;
	uint16_t len;
	const void *data;
};

/* One message of a reply. */
struct ibsa__nl_reply;

typedef void (*ibsa__nl_reply_fn)(const struct ibsa__nl_reply *reply,
				  void *arg);

/*
 * A netlink request. @protocol: NETLINK_ROUTE or NETLINK_RDMA; @type: message
 * type; @is_dump: the reply is a list; @head: the header of this message
 * family, may be empty; @attrs: the attributes after @head; @on_reply: called
 * for each message of the reply.
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

/* Send a request and wait for the reply. Return: 0; -ELIBACC libnl-3 is not
 * installed; -ENOMEM; the kernel's error; or the error of the socket. */
int ibsa__nl_query(const struct ibsa__nl_request *request) IBSA_MUST_USE;

/*
 * Return: the data of the attribute @type of a reply; NULL if it does not
 * exist or has less than @len bytes.
 */
const void *ibsa__nl_find(const struct ibsa__nl_reply *reply, uint16_t type,
			  size_t len);

/* Whether a text attribute equals @text. */
bool ibsa__nl_text_is(const struct ibsa__nl_reply *reply, uint16_t type,
		      const char *text);

#endif
