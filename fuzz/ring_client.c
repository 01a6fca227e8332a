/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client that exchanges packets with a fabric server through rings in shared
 * memory.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "ring_client.h"

enum { ROUNDS = 16 }; /* of the server's event loop, after each step */

void ring_serve(struct ibsa_fabric_server *server)
{
	for (int i = 0; i < ROUNDS; i++)
		must(!ibsa_fabric_server_wait(server, 0));
}

ssize_t ring_client_request(const struct ring_client *client, uint32_t type,
			    const void *body, size_t len, void *answer,
			    struct remote_fds *fds)
{
	const struct remote_head head = { .length = (uint32_t)len,
					  .type = type };
	uint8_t frame[512];
	struct remote_head got;
	ssize_t count;

	if (send(client->control, &head, sizeof(head), MSG_NOSIGNAL) < 0 ||
	    (len && send(client->control, body, len, MSG_NOSIGNAL) < 0))
		return -1;
	ring_serve(client->server);
	count = ibsa__remote_recv(client->control, frame, sizeof(frame), fds);
	if (count < (ssize_t)sizeof(got))
		return -1;
	memcpy(&got, frame, sizeof(got));
	must((size_t)count == sizeof(got) + got.length);
	if (got.err)
		return -1;
	if (got.length)
		memcpy(answer, frame + sizeof(got), got.length);
	return got.length;
}

bool ring_client_attach(struct ring_client *client)
{
	struct remote_fds fds = remote_fds_none();
	uint32_t ring_bytes = 0;

	if (ring_client_request(client, REMOTE_ATTACH, NULL, 0, &ring_bytes,
				&fds) != sizeof(ring_bytes))
		return false;
	must(ring_bytes == sizeof(struct ring_memory));
	client->memory_fd = dup(fds.fd[REMOTE_FD_MEMORY]);
	must(client->memory_fd >= 0);
	must(!ibsa__data_open(&client->data, &fds, ring_bytes, NULL));
	return true;
}

bool ring_client_register(struct ring_client *client, uint8_t class)
{
	struct umad_agent_request2 request = {
		.qpn = 1,
		.mgmt_class = class,
		.mgmt_class_version = 1,
	};
	struct remote_fds fds = remote_fds_none();

	if (class == IBSA_CLASS_SA) {
		request.mgmt_class_version = IBSA_CLASS_VERSION;
		request.rmpp_version = 1;
	} else {
		request.method_mask[0] = 1 << RING_METHOD_SEND;
	}
	if (ring_client_request(client, REMOTE_REGISTER, &request,
				sizeof(request), &request,
				&fds) != sizeof(request))
		return false;
	client->agent = request.id;
	return true;
}

void ring_client_open(struct ring_client *client,
		      struct ibsa_fabric_server *server, const char *path,
		      const char *node, uint8_t class)
{
	struct remote_hello hello = { .version = REMOTE_VERSION,
				      .features = REMOTE_HAS_RINGS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct remote_fds fds = remote_fds_none();

	client->server = server;
	remote_data_init(&client->data);
	strcpy(hello.node, node);
	strcpy(address.sun_path, path);
	client->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(!connect(client->control, (struct sockaddr *)&address,
		      sizeof(address)));
	must(ring_client_request(client, REMOTE_HELLO, &hello, sizeof(hello),
				 &hello, &fds) == sizeof(hello));
	must(ring_client_attach(client));
	must(ring_client_register(client, class));
}

void ring_client_unmap(struct ring_client *client)
{
	ibsa__data_close(&client->data);
	if (client->memory_fd >= 0)
		close(client->memory_fd);
	client->memory_fd = -1;
}

void ring_client_close(struct ring_client *client)
{
	ring_client_unmap(client);
	close(client->control);
}
