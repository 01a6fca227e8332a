/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of nodes by GUID, from a file in the format of ibnetdiscover's
 * --node-name-map.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "cli.h"
#include "node_map.h"

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

static int line_refuse(const char *path, unsigned int number)
{
	complain("--node-name-map: %s:%u: a line is a GUID and a name in "
		 "quotes, such as 0x0008f10400411f56 \"leaf1\"",
		 path, number);
	return CLI_USAGE;
}

/* Parse a line. The last quote ends the name, which may contain quotes. */
static int line_parse(struct node_map *map, char *line, const char *path,
		      unsigned int number)
{
	char *at = line + strspn(line, " \t\r\n");
	char *guid_end = at + strcspn(at, " \t\"");
	char *name = strchr(guid_end, '"');
	char *end = name ? strrchr(name + 1, '"') : NULL;
	uint64_t guid;

	if (*at == '#' || !*at)
		return CLI_DONE;
	if (!end || guid_end + strspn(guid_end, " \t") != name)
		return line_refuse(path, number);
	*end = '\0';
	*guid_end = '\0';
	if (ibsa_number_parse(at, 64, &guid) != 0)
		return line_refuse(path, number);
	return name_add(map, guid, name + 1);
}

static int file_parse(struct node_map *map, FILE *file, const char *path)
{
	unsigned int number = 0;
	int status = CLI_DONE;
	char *line = NULL;
	size_t size = 0;

	while (status == CLI_DONE && getline(&line, &size, file) >= 0)
		status = line_parse(map, line, path, ++number);
	if (status == CLI_DONE && ferror(file)) {
		complain("--node-name-map: cannot read '%s': %s", path,
			 strerror(errno));
		status = CLI_USAGE;
	}
	free(line);
	return status;
}

int node_map_read(const char *path, struct node_map **out)
{
	struct node_map *map;
	FILE *file = fopen(path, "re");
	int status;

	if (!file) {
		complain("--node-name-map: cannot read '%s': %s", path,
			 strerror(errno));
		return CLI_USAGE;
	}
	map = calloc(1, sizeof(*map));
	status = map ? file_parse(map, file, path) : no_memory();
	fclose(file);
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
