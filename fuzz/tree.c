/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the device files of hosts: whatever the names in a topology file are,
 * each line is a directory, a line of a file or a link, no name or link leads out
 * of the directory, and no two devices have one name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/fabric.h>

#include "fabric/server/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HOSTS_MAX = 8, DEVICES_MAX = 64, TEXT_BYTES = 65536 };

/* @depth: of the directory that the lines are in; 0: none yet */
struct reader {
	int depth;
	bool is_of_devices;
	const char *devices[DEVICES_MAX];
	size_t count;
};

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* Return: the length of the name, which a device file could have. */
static size_t name_check(const char *name, const char *ends)
{
	const size_t len = strcspn(name, ends);

	must(len && len <= 64 && name[0] != '.' && name[0] != '-');
	for (size_t i = 0; i < len; i++)
		must(name[i] > ' ' && name[i] < 0x7f && name[i] != '/');
	return len;
}

/* Return: how many names the path has. */
static int path_check(const char *path)
{
	int depth = 0;

	for (;;) {
		path += name_check(path, "/");
		depth++;
		if (!*path)
			return depth;
		path++;
	}
}

static void link_check(struct reader *reader, char *name, const char *target)
{
	int up = 0;

	for (; !strncmp(target, "../", 3); target += 3)
		up++;
	must(up <= reader->depth);
	path_check(target);
	if (!reader->is_of_devices || reader->count == DEVICES_MAX)
		return;
	for (size_t i = 0; i < reader->count; i++)
		must(strcmp(reader->devices[i], name) != 0);
	reader->devices[reader->count++] = name;
}

static void line_check(struct reader *reader, char *line)
{
	size_t len;

	if (*line == '/') {
		reader->depth = path_check(line + 1);
		reader->is_of_devices = !strcmp(line, "/class/infiniband");
		return;
	}
	must(reader->depth > 0);
	len = name_check(line, " >");
	must(line[len]);
	if (line[len] == ' ')
		return;
	line[len] = '\0';
	link_check(reader, line, line + len + 1);
}

/* Return: the adapter with which the next text begins; 0: this is all. */
static unsigned long text_check(char *text)
{
	struct reader reader = { .depth = 0 };
	char *line;

	must(*text && text[strlen(text) - 1] == '\n');
	while ((line = strsep(&text, "\n")) && text) {
		if (*line == '+') {
			must(!*text);
			return strtoul(line + 1, NULL, 10);
		}
		line_check(&reader, line);
	}
	return 0;
}

static void host_check(struct ibsa_fabric *fabric, const char *host)
{
	static char text[TEXT_BYTES];
	struct ibsa_error error;
	unsigned long first = 0;
	unsigned long next = 0;
	char args[512];

	do {
		first = next;
		snprintf(args, sizeof(args), "%lu %s", first, host);
		*text = '\0';
		if (ibsa__fabric_tree(fabric, args, text, sizeof(text), &error))
			return;
		next = text_check(text);
	} while (next > first);
	must(!next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibsa_fabric_node node;
	struct ibsa_fabric *fabric;
	struct ibsa_error error;

	if (ibsa_fabric_parse((const char *)data, size, NULL, &error, &fabric))
		return 0;
	for (size_t i = 0;
	     i < HOSTS_MAX && !ibsa_fabric_node_at(fabric, i, &node); i++) {
		char host[256];

		host_check(fabric, node.name);
		snprintf(host, sizeof(host), "%.*s",
			 (int)strcspn(node.name, " "), node.name);
		host_check(fabric, host);
	}
	ibsa_fabric_put(fabric);
	return 0;
}
