/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of nodes by GUID, from a file in the format of ibnetdiscover's
 * --node-name-map.
 */
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "cli.h"
#include "lines.h"
#include "node_map.h"

static const char option[] = "--node-name-map";

struct node_name {
	uint64_t guid;
	char *name;
};

struct node_map {
	struct node_name *all; /* sorted by GUID */
	size_t count;
	size_t room;
};

static int by_guid(const void *a, const void *b)
{
	const struct node_name *x = a;
	const struct node_name *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

static int no_memory(void)
{
	complain("out of memory");
	return CLI_DEVICE;
}

static int name_add(struct node_map *map, uint64_t guid, const char *name)
{
	char *copy = strdup(name);

	if (copy && map->count == map->room) {
		const size_t room = 2 * map->room + 64;
		struct node_name *all = reallocarray(map->all, room,
						     sizeof(*all));

		if (!all) {
			free(copy);
			return no_memory();
		}
		map->all = all;
		map->room = room;
	}
	if (!copy)
		return no_memory();
	map->all[map->count++] = (struct node_name){ guid, copy };
	return CLI_DONE;
}

static int line_refuse(const char *path, unsigned long number)
{
	complain("%s: %s:%lu: a line is a GUID and a name in "
		 "quotes, such as 0x0008f10400411f56 \"leaf1\"",
		 option, path, number);
	return CLI_USAGE;
}

/* Parse a line. The last quote ends the name, which may contain quotes. */
static int line_parse(struct node_map *map, char *line, const char *path,
		      unsigned long number)
{
	char *guid_end = line + strcspn(line, " \t\"");
	char *name = strchr(guid_end, '"');
	char *end = name ? strrchr(name + 1, '"') : NULL;
	uint64_t guid;

	if (!end || guid_end + strspn(guid_end, " \t") != name)
		return line_refuse(path, number);
	*end = '\0';
	*guid_end = '\0';
	if (ibsa_number_parse(line, 64, &guid) != 0)
		return line_refuse(path, number);
	return name_add(map, guid, name + 1);
}

static int lines_parse(struct node_map *map, struct lines *lines,
		       const char *path)
{
	int status = CLI_DONE;
	const char *why;
	char *line;

	while (status == CLI_DONE && (line = lines_next(lines, &why))) {
		if (why)
			status = line_refuse(path, lines->number);
		else if (*line)
			status = line_parse(map, line, path, lines->number);
	}
	return status;
}

int node_map_read(const struct cli *cli, const char *path,
		  struct node_map **out)
{
	struct lines lines;
	struct node_map *map;
	int status = lines_open(&lines, cli, option, path);

	if (status != CLI_DONE)
		return status;
	map = calloc(1, sizeof(*map));
	status = map ? lines_parse(map, &lines, path) : no_memory();
	lines_close(&lines);
	if (status != CLI_DONE) {
		node_map_free(map);
		return status;
	}
	if (map->count)
		qsort(map->all, map->count, sizeof(*map->all), by_guid);
	*out = map;
	return CLI_DONE;
}

void node_map_free(struct node_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->count; i++)
		free(map->all[i].name);
	free(map->all);
	free(map);
}

const char *node_map_find(const struct node_map *map, uint64_t guid)
{
	const struct node_name key = { .guid = guid };
	const struct node_name *found = NULL;

	if (map && map->count)
		found = bsearch(&key, map->all, map->count, sizeof(key),
				by_guid);
	return found ? found->name : NULL;
}
