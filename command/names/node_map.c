/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of nodes by GUID, from a file in the format of ibnetdiscover's
 * --node-name-map.
 */
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "base/list.h"
#include "base/file_read.h"
#include "names/node_map.h"

static const char option[] = "--node-name-map";

struct node_name {
	uint64_t guid;
	char *name;
	unsigned long line;
};

struct node_map {
	struct node_name *all; /* sorted by GUID */
	size_t count;
};

static int by_guid(const void *a, const void *b)
{
	const struct node_name *x = a;
	const struct node_name *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

/*
 * Compare by GUID, then by line: of several lines with one GUID, the first is
 * used.
 */
static int by_line(const void *a, const void *b)
{
	const struct node_name *x = a;
	const struct node_name *y = b;
	const int order = by_guid(a, b);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int name_add(struct node_map *map, uint64_t guid, const char *name,
		    unsigned long line)
{
	struct node_name *added = list_add(&map->all, &map->count,
					   sizeof(*added));

	if (!added)
		return no_memory();
	*added = (struct node_name){ guid, strdup(name), line };
	return added->name ? CLI_DONE : no_memory();
}

static int line_refuse(const char *path, unsigned long number)
{
	return fail_usage("%s: %s:%lu: a line is a GUID and a name in quotes, "
			  "such as 0x0008f10400411f56 \"leaf1\"",
			  option, path, number);
}

/*
 * Parse a line as ibnetdiscover does: the name ends at the first quote or #,
 * also without an opening quote; a GUID without a name has no effect.
 *
 * Source: rdma-core, util/node_name_map.c, parse_node_map_wrap() and
 * map_name().
 */
static int line_parse(struct node_map *map, char *line, const char *path,
		      unsigned long number)
{
	char *name = line + strcspn(line, " \t#");
	const bool has_quote = name[strspn(name, " \t")] == '"';
	uint64_t guid;
	size_t len;

	if (*name)
		*name++ = '\0';
	if (ibsa_number_parse(line, 64, &guid) != 0)
		return line_refuse(path, number);
	name += strspn(name, " \t");
	name += strspn(name, "\"#");
	len = strcspn(name, "\"#");
	while (!has_quote && len > 0 && strchr(" \t", name[len - 1]))
		len--;
	name[len] = '\0';
	return len ? name_add(map, guid, name, number) : CLI_DONE;
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

static void names_sort(struct node_map *map)
{
	size_t count = 0;

	if (map->count)
		qsort(map->all, map->count, sizeof(*map->all), by_line);
	for (size_t i = 0; i < map->count; i++) {
		if (count && map->all[count - 1].guid == map->all[i].guid)
			free(map->all[i].name);
		else
			map->all[count++] = map->all[i];
	}
	map->count = count;
}

int node_map_read(struct cli *cli)
{
	const char *path = cli->names.file;
	struct lines lines;
	struct node_map *map;
	int status;

	if (!path)
		return CLI_DONE;
	status = lines_open(&lines, option, path, cli->open.deadline_ms);
	if (status != CLI_DONE)
		return status;
	map = calloc(1, sizeof(*map));
	status = map ? lines_parse(map, &lines, path) : no_memory();
	lines_close(&lines);
	if (status != CLI_DONE) {
		node_map_free(map);
		return status;
	}
	names_sort(map);
	cli->names.map = map;
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
