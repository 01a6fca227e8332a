/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A first program: the path from this port to a GID.
 *
 *	cc path.c $(pkg-config --cflags --libs ibsa) -o path
 *	IBSA_FABRIC=/usr/share/ibsa/fabrics/fat-tree-16.net ./path fe80::...
 *
 * The program waits in a poll() loop, like a program that has other
 * descriptors, too. Without such a loop, ibsa_query_wait() replaces
 * poll_until_ended().
 */
#include <ibsa/ibsa.h>
#include <ibsa/text.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Result of the query. */
struct answer {
	bool has_ended;
	int status; /* exit status */
};

static void path_print(const struct ibsa_path *path)
{
	printf("LID %u -> LID %u, SL %u, P_Key 0x%04x, MTU %u, %u Mb/s\n",
	       path->slid, path->dlid, path->sl, path->pkey,
	       ibsa_mtu_bytes(path->mtu), ibsa_rate_mbps(path->rate));
}

/* Called once, inside ibsa_dispatch(), when the query has ended. */
static void path_arrived(const struct ibsa_reply *reply, void *arg)
{
	struct answer *answer = arg;
	struct ibsa_path path;

	answer->has_ended = true;
	answer->status = 1;
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		if (IBSA_DECODE(path, reply, 0, &path) == 0) {
			path_print(&path);
			answer->status = 0;
		}
		break;
	case IBSA_OUTCOME_NONE:
		fprintf(stderr, "there is no path\n");
		break;
	case IBSA_OUTCOME_UNREACHABLE:
		fprintf(stderr, "no reply: %s\n", strerror(-reply->err));
		break;
	default:
		fprintf(stderr, "the SA refused the query: %s\n",
			ibsa_status_text(reply->status));
	}
}

static int path_query(struct ibsa_client *client, const char *gid,
		      struct answer *answer)
{
	struct ibsa_path want = { .reversible = 1, .numb_path = 1 };
	struct ibsa_query query = IBSA_QUERY(
		path, &want,
		IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path));
	struct ibsa_port_state port;
	int err;

	err = ibsa_gid_parse(gid, &want.dgid);
	if (err == 0)
		err = ibsa_port_get(client, false, &port);
	if (err != 0)
		return err;
	want.sgid = port.gid;
	query.deadline_ms = 5000;
	return ibsa_query_start(client, &query, path_arrived, answer, NULL);
}

/* Another event loop needs the same three functions. */
static int poll_until_ended(struct ibsa_client *client,
			    const struct answer *answer)
{
	while (!answer->has_ended) {
		struct pollfd fd = { .fd = ibsa_fd(client), .events = POLLIN };
		int err;

		if (poll(&fd, 1, ibsa_timeout_ms(client)) < 0 && errno != EINTR)
			return -errno;
		err = ibsa_dispatch(client);
		if (err != 0)
			return err;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct answer answer = { .status = 1 };
	struct ibsa_client *client;
	struct ibsa_error error;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s GID\n", argv[0]);
		return 2;
	}
	err = ibsa_open(NULL, &error, &client);
	if (err != 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	err = path_query(client, argv[1], &answer);
	if (err == 0)
		err = poll_until_ended(client, &answer);
	if (err != 0)
		fprintf(stderr, "cannot send the query: %s\n", strerror(-err));
	ibsa_close(client);
	return err ? 1 : answer.status;
}
