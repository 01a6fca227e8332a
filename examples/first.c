/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shortest program: the path from this port to a GID.
 *
 *	cc first.c $(pkg-config --cflags --libs ibsa) -o first
 *	IBSA_FABRIC=/usr/share/ibsa/fabrics/fat-tree-16.net ./first fe80::...
 */
#include <ibsa/ibsa.h>
#include <ibsa/text.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	struct ibsa_error error = { "usage: first GID" };
	struct ibsa_client *client;
	struct ibsa_path path;
	struct ibsa_gid gid;

	if (argc != 2 || ibsa_gid_parse(argv[1], &gid) ||
	    ibsa_open(NULL, &error, &client) ||
	    ibsa_path_wait(client, NULL, &gid, &error, &path)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("LID %u, %u Mb/s\n", path.dlid, ibsa_rate_mbps(path.rate));
	return ibsa_close(client);
}
