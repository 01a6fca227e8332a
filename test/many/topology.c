/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric that the processes share: leaves, two spines, hosts. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ibsa/fabric.h>

#include "many.h"

uint64_t many_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void leaf_write(FILE *file, int leaf)
{
	fprintf(file, "Switch 24 \"L%d\" # \"L%d\"\n", leaf, leaf);
	for (int i = 0; i < HOSTS_PER_LEAF; i++)
		fprintf(file, "[%d] \"h%02d\"[1]\n", i + 1,
			leaf * HOSTS_PER_LEAF + i);
	for (int i = 0; i < SPINES; i++)
		fprintf(file, "[%d] \"P%d\"[%d]\n", HOSTS_PER_LEAF + 1 + i, i,
			leaf + 1);
}

bool many_topology_write(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	for (int i = 0; i < SPINES; i++) {
		fprintf(file, "Switch 24 \"P%d\" # \"P%d\"\n", i, i);
		for (int leaf = 0; leaf < LEAVES; leaf++)
			fprintf(file, "[%d] \"L%d\"[%d]\n", leaf + 1, leaf,
				HOSTS_PER_LEAF + 1 + i);
	}
	for (int leaf = 0; leaf < LEAVES; leaf++)
		leaf_write(file, leaf);
	for (int host = 0; host < HOSTS; host++)
		fprintf(file,
			"caguid=0x%x\nCa 1 \"h%02d\" # \"h%02d\"\n"
			"[1](%x) \"L%d\"[%d]\n",
			0xabc000 + host * 16, host, host, 0xabc001 + host * 16,
			host / HOSTS_PER_LEAF, host % HOSTS_PER_LEAF + 1);
	return fclose(file) == 0;
}

/* The file is loaded in this process, too, where the numbers are the same. */
bool many_hosts_read(const char *path, struct many_host hosts[HOSTS])
{
	const struct ibsa_fabric_options options = { .sa_node = MANY_SM };
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric_port port;
	struct ibsa_fabric *fabric;
	int found = 0;

	if (ibsa_fabric_load(path, &options, &error, &fabric)) {
		fprintf(stderr, "%s\n", error.text);
		return false;
	}
	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		int host;

		if (sscanf(port.node, "h%d", &host) != 1 || host < 0 ||
		    host >= HOSTS)
			continue;
		snprintf(hosts[host].name, NAME_BYTES, "h%02d", host);
		hosts[host].guid = port.guid;
		hosts[host].lid = (uint16_t)port.state.lid;
		found++;
	}
	ibsa_fabric_put(fabric);
	return found == HOSTS;
}
