/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See umad_port.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <infiniband/umad_types.h>

#include "umad_port.h"

enum {
	QKEY = (int)0x80010000,
	HOP_LIMIT = 64,
	OTHER_CLASS = 0x0b,
	KILLED = -1000,
};

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

/*
 * Open a socket that is bound to a name that the kernel chooses, and connected
 * to itself.
 */
static int socket_to_itself(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(address);

	if (fd < 0 || bind(fd, (void *)&address, sizeof(sa_family_t)) ||
	    getsockname(fd, (void *)&address, &len) ||
	    connect(fd, (void *)&address, len))
		fail("socket");
	return fd;
}

void port_open(struct port *port, const char *device, const char *to)
{
	*port = (struct port){ .to.hop_limit = HOP_LIMIT };
	if (!strcmp(device, "socket")) {
		port->portid = socket_to_itself();
		return;
	}
	port->device = device;
	port->has_gid = inet_pton(AF_INET6, to, port->to.gid) == 1;
	port->lid = port->has_gid ? 0 : atoi(to);
	if (umad_init())
		fail("umad_init");
	port->portid = umad_open_port(device, 1);
	if (port->portid < 0)
		fail("umad_open_port");
	port->agent = umad_register(port->portid, PORT_CLASS, 1, 0, NULL);
	if (port->agent < 0)
		fail("umad_register");
}

/*
 * Return a TransactionID that no other request in flight has, whichever process
 * sent it.
 */
static uint64_t new_tid(void)
{
	static atomic_uint number;
	enum { NUMBER_BITS = 20 };

	return ((uint64_t)getpid() << NUMBER_BITS & UINT32_MAX) |
	       atomic_fetch_add(&number, 1) % (1U << NUMBER_BITS);
}

int port_send(const struct port *port)
{
	union port_packet packet = { .head.agent_id = 0 };
	struct umad_hdr *mad = umad_get_mad(&packet);
	ib_mad_addr_t to = port->to;

	*mad = (struct umad_hdr){
		.base_version = UMAD_BASE_VERSION,
		.mgmt_class = PORT_CLASS,
		.class_version = 1,
		.method = UMAD_METHOD_GET,
		.tid = htobe64(new_tid()),
		.attr_id = htobe16(UMAD_ATTR_CLASS_PORT_INFO),
	};
	umad_set_addr(&packet, port->lid, 1, 0, QKEY);
	umad_set_grh(&packet, port->has_gid ? &to : NULL);
	return umad_send(port->portid, port->agent, &packet, PORT_MAD_BYTES, 1,
			 0);
}

int port_recv(const struct port *port, int timeout_ms)
{
	int length = PORT_MAD_BYTES;
	union port_packet packet;

	return umad_recv(port->portid, &packet, &length, timeout_ms);
}

void port_drain(const struct port *port)
{
	while (port_recv(port, 0) >= 0)
		;
}

bool port_agent(const struct port *port)
{
	const int agent = umad_register(port->portid, OTHER_CLASS, 1, 0, NULL);

	if (agent < 0)
		return !port->device;
	return !umad_unregister(port->portid, agent);
}

int child_wait(int pid, int limit_s)
{
	struct pollfd ended = {
		.fd = (int)syscall(SYS_pidfd_open, pid, 0),
		.events = POLLIN,
	};
	bool is_late;
	int status;

	if (ended.fd < 0)
		fail("pidfd_open");
	is_late = poll(&ended, 1, limit_s * 1000) != 1;
	if (is_late)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(ended.fd);
	if (is_late)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : KILLED - WTERMSIG(status);
}

int run_limited(int (*body)(void *arg), void *arg, int limit_s)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		const int status = body(arg);

		fflush(stdout);
		_exit(status);
	}
	return child_wait(pid, limit_s);
}
