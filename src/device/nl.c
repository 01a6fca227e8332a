/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Netlink by libnl-3, found at run time. */
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

/* The library's functions under their own names. */
struct libnl {
	void *library;
#define POINTER(name) __typeof__(name) *name;
	FUNCTIONS(POINTER)
#undef POINTER
};

struct ibsa__nl_answer {
	const struct libnl *nl;
	struct nlattr *attrs;
	int len;
};

/* A question on its way. */
struct asking {
	struct libnl nl;
	const struct ibsa__nl_request *question;
	int err; /* the kernel's */
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

/* Of libnl's own errors only this one is not in errno as well. */
static int system_error(int nl_err)
{
	if (nl_err == -NLE_NOMEM)
		return -ENOMEM;
	return errno ? -errno : -EIO;
}

static int message_came(struct nl_msg *message, void *arg)
{
	const struct asking *asking = arg;
	const struct libnl *nl = &asking->nl;
	const int head_len = (int)asking->question->head_len;
	struct nlmsghdr *header = nl->nlmsg_hdr(message);
	struct ibsa__nl_answer answer = { .nl = nl };

	if (!nl->nlmsg_valid_hdr(header, head_len))
		return NL_SKIP;
	answer.attrs = nl->nlmsg_attrdata(header, head_len);
	answer.len = nl->nlmsg_attrlen(header, head_len);
	asking->question->answer(&answer, asking->question->arg);
	return NL_OK;
}

static int refusal_came(struct sockaddr_nl *from, struct nlmsgerr *error,
			void *arg)
{
	struct asking *asking = arg;

	(void)from;
	asking->err = error->error;
	return NL_STOP;
}

static struct nl_msg *message_new(const struct asking *asking)
{
	const struct ibsa__nl_request *question = asking->question;
	const struct libnl *nl = &asking->nl;
	struct nl_msg *message;
	int err = 0;

	message = nl->nlmsg_alloc_simple(question->type,
					 question->is_dump ? NLM_F_DUMP : 0);
	if (!message)
		return NULL;
	if (question->head_len)
		err = nl->nlmsg_append(message, (void *)question->head,
				       question->head_len, NLMSG_ALIGNTO);
	for (size_t i = 0; !err && i < question->attr_count; i++)
		err = nl->nla_put(message, question->attrs[i].type,
				  question->attrs[i].len,
				  question->attrs[i].data);
	if (!err)
		return message;
	nl->nlmsg_free(message);
	return NULL;
}

static int exchange(struct asking *asking, struct nl_sock *sock)
{
	const struct libnl *nl = &asking->nl;
	struct nl_msg *message = message_new(asking);
	int err;

	if (!message)
		return -ENOMEM;
	nl->nl_socket_disable_auto_ack(sock);
	nl->nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, message_came,
				asking);
	nl->nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, refusal_came, asking);
	errno = 0;
	err = nl->nl_connect(sock, asking->question->protocol);
	if (!err)
		err = nl->nl_send_auto(sock, message);
	if (err >= 0)
		err = nl->nl_recvmsgs_default(sock);
	nl->nlmsg_free(message);
	if (asking->err)
		return asking->err;
	return err < 0 ? system_error(err) : 0;
}

int ibsa__nl_query(const struct ibsa__nl_request *question)
{
	struct asking asking = { .question = question };
	struct nl_sock *sock;
	int err = libnl_load(&asking.nl);

	if (err)
		return err;
	sock = asking.nl.nl_socket_alloc();
	err = sock ? exchange(&asking, sock) : -ENOMEM;
	asking.nl.nl_socket_free(sock);
	dlclose(asking.nl.library);
	return err;
}

const void *ibsa__nl_find(const struct ibsa__nl_answer *answer, uint16_t type,
			  size_t len)
{
	struct nlattr *attr;

	attr = answer->nl->nla_find(answer->attrs, answer->len, type);
	if (!attr || (size_t)answer->nl->nla_len(attr) < len)
		return NULL;
	return answer->nl->nla_data(attr);
}

bool ibsa__nl_has_reply(const struct ibsa__nl_answer *answer, uint16_t type,
			const char *text)
{
	const void *data = ibsa__nl_find(answer, type, strlen(text) + 1);

	return data && !memcmp(data, text, strlen(text) + 1);
}
