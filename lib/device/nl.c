/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends netlink requests with the library libnl-3, which is loaded at run
 * time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "device/nl.h"

/* clang-format off */
#define FUNCTIONS(F)                                                    \
	F(nl_connect) F(nl_recvmsgs_default) F(nl_send_auto)            \
	F(nl_socket_alloc) F(nl_socket_disable_auto_ack)                \
	F(nl_socket_free) F(nl_socket_modify_cb)                        \
	F(nl_socket_modify_err_cb) F(nla_data) F(nla_find) F(nla_len)   \
	F(nla_put) F(nlmsg_alloc_simple) F(nlmsg_append)                \
	F(nlmsg_attrdata) F(nlmsg_attrlen) F(nlmsg_free) F(nlmsg_hdr)   \
	F(nlmsg_valid_hdr)
/* clang-format on */

/*
 * Pointers to the functions of libnl-3; each member has the name of its
 * function.
 */
struct libnl {
	void *library;
#define POINTER(name) __typeof__(name) *name;
	FUNCTIONS(POINTER)
#undef POINTER
};

struct ibsa__nl_reply {
	const struct libnl *nl;
	struct nlattr *attrs;
	int len;
};

/* A request in flight. */
struct exchange {
	struct libnl nl;
	const struct ibsa__nl_request *request;
	int err; /* the kernel's error */
};

static int libnl_load(struct libnl *nl)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
#define ROW(name) { #name, offsetof(struct libnl, name) },
		FUNCTIONS(ROW)
#undef ROW
	};

	nl->library = dlopen("libnl-3.so.200", RTLD_NOW | RTLD_LOCAL);
	if (!nl->library)
		return -ELIBACC;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(nl->library, functions[i].name);

		if (!function) {
			dlclose(nl->library);
			return -ELIBACC;
		}
		memcpy((uint8_t *)nl + functions[i].at, &function,
		       sizeof(function));
	}
	return 0;
}

/*
 * Return: the negative errno for an error of libnl. libnl sets errno for all
 * errors except -NLE_NOMEM.
 */
static int system_error(int nl_err)
{
	if (nl_err == -NLE_NOMEM)
		return -ENOMEM;
	return errno ? -errno : -EIO;
}

static int exchange_on_message(struct nl_msg *message, void *arg)
{
	const struct exchange *exchange = arg;
	const struct libnl *nl = &exchange->nl;
	const int head_len = (int)exchange->request->head_len;
	struct nlmsghdr *header = nl->nlmsg_hdr(message);
	struct ibsa__nl_reply reply = { .nl = nl };

	if (!nl->nlmsg_valid_hdr(header, head_len))
		return NL_SKIP;
	reply.attrs = nl->nlmsg_attrdata(header, head_len);
	reply.len = nl->nlmsg_attrlen(header, head_len);
	exchange->request->on_reply(&reply, exchange->request->arg);
	return NL_OK;
}

static int exchange_on_error(struct sockaddr_nl *from, struct nlmsgerr *error,
			     void *arg)
{
	struct exchange *exchange = arg;

	(void)from;
	exchange->err = error->error;
	return NL_STOP;
}

static struct nl_msg *request_message_new(const struct exchange *exchange)
{
	const struct ibsa__nl_request *request = exchange->request;
	const struct libnl *nl = &exchange->nl;
	struct nl_msg *message;
	int err = 0;

	message = nl->nlmsg_alloc_simple(request->type,
					 request->is_dump ? NLM_F_DUMP : 0);
	if (!message)
		return NULL;
	if (request->head_len)
		err = nl->nlmsg_append(message, (void *)request->head,
				       request->head_len, NLMSG_ALIGNTO);
	for (size_t i = 0; !err && i < request->attr_count; i++)
		err = nl->nla_put(message, request->attrs[i].type,
				  request->attrs[i].len,
				  request->attrs[i].data);
	if (!err)
		return message;
	nl->nlmsg_free(message);
	return NULL;
}

static int exchange_run(struct exchange *exchange, struct nl_sock *sock)
{
	const struct libnl *nl = &exchange->nl;
	struct nl_msg *message = request_message_new(exchange);
	int err;

	if (!message)
		return -ENOMEM;
	nl->nl_socket_disable_auto_ack(sock);
	nl->nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM,
				exchange_on_message, exchange);
	nl->nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, exchange_on_error,
				    exchange);
	errno = 0;
	err = nl->nl_connect(sock, exchange->request->protocol);
	if (!err)
		err = nl->nl_send_auto(sock, message);
	if (err >= 0)
		err = nl->nl_recvmsgs_default(sock);
	nl->nlmsg_free(message);
	if (exchange->err)
		return exchange->err;
	return err < 0 ? system_error(err) : 0;
}

int ibsa__nl_query(const struct ibsa__nl_request *request)
{
	struct exchange exchange = { .request = request };
	struct nl_sock *sock;
	int err = libnl_load(&exchange.nl);

	if (err)
		return err;
	sock = exchange.nl.nl_socket_alloc();
	err = sock ? exchange_run(&exchange, sock) : -ENOMEM;
	exchange.nl.nl_socket_free(sock);
	dlclose(exchange.nl.library);
	return err;
}

const void *ibsa__nl_find(const struct ibsa__nl_reply *reply, uint16_t type,
			  size_t len)
{
	struct nlattr *attr;

	attr = reply->nl->nla_find(reply->attrs, reply->len, type);
	if (!attr || (size_t)reply->nl->nla_len(attr) < len)
		return NULL;
	return reply->nl->nla_data(attr);
}

bool ibsa__nl_text_is(const struct ibsa__nl_reply *reply, uint16_t type,
		      const char *text)
{
	const void *data = ibsa__nl_find(reply, type, strlen(text) + 1);

	return data && !memcmp(data, text, strlen(text) + 1);
}
