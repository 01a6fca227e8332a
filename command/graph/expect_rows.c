/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the rows that ibsa topology -j wrote. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/text.h>

#include "base/complain.h"
#include "graph/cjson_load.h"
#include "graph/expect_rows.h"

enum { PORTS_MAX = 254 };

struct expect {
	const char *path;
	size_t line; /* line of the file in which the JSON object begins */
	struct libcjson cjson;
	struct expect_rows *rows;
};

/*
 * A buffer for the memory that libcjson allocates for one object. Without the
 * buffer, a quarter of the time of reading is spent in malloc() and free().
 */
static struct {
	_Alignas(max_align_t) char bytes[1 << 16];
	size_t len;
} pool;

static void *pool_get(size_t size)
{
	const size_t align = _Alignof(max_align_t);
	char *at = pool.bytes + pool.len;

	if (size > sizeof(pool.bytes) - pool.len - align)
		return malloc(size);
	pool.len += (size + align - 1) / align * align;
	return at;
}

static void pool_put(void *at)
{
	const uintptr_t first = (uintptr_t)pool.bytes;

	if ((uintptr_t)at < first ||
	    (uintptr_t)at >= first + sizeof(pool.bytes))
		free(at);
}

static int no_memory(void)
{
	complain("out of memory");
	return CLI_DEVICE;
}

static int wrong(const struct expect *expect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int wrong(const struct expect *expect, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	complain("--expect: %s:%zu: %s; write the file with ibsa topology -j "
		 "or --net",
		 expect->path, expect->line, what);
	return CLI_USAGE;
}

/*
 * A JSON object that is being read. The members of the object are in the order
 * in which ibsa writes them, so the search for the next one begins at @next.
 */
struct object {
	const struct expect *expect;
	const cJSON *json;
	const cJSON *next;
};

static bool has_type(const cJSON *value, int type)
{
	return (value->type & 0xff) == type;
}

static const cJSON *member_find(struct object *object, const char *name)
{
	const cJSON *first = object->next;
	const cJSON *at = first;

	for (; at; at = at->next)
		if (strcmp(at->string, name) == 0)
			break;
	for (const cJSON *more = object->json->child; !at && more != first;
	     more = more->next)
		if (strcmp(more->string, name) == 0)
			at = more;
	object->next = at ? at->next : first;
	return at;
}

static int member_wrong(const struct object *object, const cJSON *member)
{
	char *value = object->expect->cjson.cJSON_PrintUnformatted(member);
	const int status = wrong(object->expect,
				 "the member '%.32s' has the invalid value "
				 "%.64s",
				 member->string, value ? value : "");

	pool_put(value);
	return status;
}

static int member_get(struct object *object, const char *name,
		      const cJSON **out)
{
	*out = member_find(object, name);
	return *out ? CLI_DONE
		    : wrong(object->expect, "the object lacks the member '%s'",
			    name);
}

/* Get the member @name of a JSON object, which must be a text or null. */
static int text_get(struct object *object, const char *name, const cJSON **out)
{
	const int status = member_get(object, name, out);

	if (status != CLI_DONE || has_type(*out, cJSON_String) ||
	    has_type(*out, cJSON_NULL))
		return status;
	return member_wrong(object, *out);
}

/*
 * Get the member @name of a JSON object, which must be a number from @min to
 * @max, or a text with such a number, as GUIDs are; null is read as 0.
 */
static int number_get(struct object *object, const char *name, uint64_t min,
		      uint64_t max, uint64_t *out)
{
	const cJSON *member;
	uint64_t number = 0;
	bool is_number = false;
	int status = member_get(object, name, &member);

	if (status != CLI_DONE)
		return status;
	if (has_type(member, cJSON_String)) {
		is_number = !ibsa_number_parse(member->valuestring, 64,
					       &number);
	} else if (has_type(member, cJSON_Number)) {
		is_number = member->valuedouble >= 0 &&
			    member->valuedouble <= UINT32_MAX;
		number = is_number ? (uint64_t)member->valuedouble : 0;
		is_number &= (double)number == member->valuedouble;
	} else {
		is_number = has_type(member, cJSON_NULL);
	}
	if (!is_number || number < min || number > max)
		return member_wrong(object, member);
	*out = number;
	return CLI_DONE;
}

/*
 * Names of the members of this end of a link and of its peer, in the order in
 * which ibsa writes them.
 */
static const char *const name_members[2][2] = { { "node", "port" },
						{ "peer", "peer_port" } };
static const char *const end_members[2][4] = {
	{ "node_type", "node_guid", "num_ports", "port_guid" },
	{ "peer_node_type", "peer_node_guid", "peer_num_ports",
	  "peer_port_guid" },
};

static int end_name_get(struct object *object, int index, struct end *out)
{
	const char *const *names = name_members[index];
	const cJSON *name;
	uint64_t port = 0;
	int status = text_get(object, names[0], &name);

	if (status == CLI_DONE)
		status = number_get(object, names[1], 0, PORTS_MAX, &port);
	if (status != CLI_DONE)
		return status;
	out->port = (uint8_t)port;
	snprintf(out->name, NAME_BYTES, "%s",
		 has_type(name, cJSON_String) ? name->valuestring : "");
	return CLI_DONE;
}

/*
 * Get one end of a link from a JSON object. @is_needed: the end must exist; a
 * node without a link has no peer.
 */
static int end_get(struct object *object, int index, bool is_needed,
		   struct end *out)
{
	const struct {
		uint64_t min, max;
	} limits[] = { { is_needed, IBSA_NODE_ROUTER },
		       { is_needed, UINT64_MAX },
		       { is_needed, PORTS_MAX },
		       { 0, UINT64_MAX } };
	uint64_t values[4] = { 0 };
	int status = CLI_DONE;

	for (size_t i = 0; i < 4 && status == CLI_DONE; i++)
		status = number_get(object, end_members[index][i],
				    limits[i].min, limits[i].max, &values[i]);
	out->node_type = (uint8_t)values[0];
	out->node_guid = values[1];
	out->num_ports = (uint8_t)values[2];
	out->port_guid = values[3];
	return status;
}

/* Bits of PortInfo. IBA vol 1, 14.2.5.6. */
static const struct {
	const char *text;
	uint8_t bit;
} widths[] = {
	{ "1x", 1 }, { "4x", 2 }, { "8x", 4 }, { "12x", 8 }, { "2x", 16 }
};

/* FDR10 has the bits of QDR. */
static const struct {
	const char *text;
	struct speed bits;
} speeds[] = {
	{ "SDR", { 1, 0, 0 } }, { "DDR", { 2, 0, 0 } },
	{ "QDR", { 4, 0, 0 } }, { "FDR10", { 4, 0, 0 } },
	{ "FDR", { 4, 1, 0 } }, { "EDR", { 4, 2, 0 } },
	{ "HDR", { 4, 4, 0 } }, { "NDR", { 4, 8, 0 } },
	{ "XDR", { 4, 0, 1 } },
};

static int width_get(struct object *object, uint8_t *out)
{
	const cJSON *text;
	int status = text_get(object, "width", &text);

	if (status != CLI_DONE || has_type(text, cJSON_NULL))
		return status;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		if (strcmp(text->valuestring, widths[i].text) != 0)
			continue;
		*out = widths[i].bit;
		return CLI_DONE;
	}
	return member_wrong(object, text);
}

static int speed_get(struct object *object, struct speed *out)
{
	const cJSON *text;
	int status = text_get(object, "speed", &text);

	if (status != CLI_DONE || has_type(text, cJSON_NULL))
		return status;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		if (strcmp(text->valuestring, speeds[i].text) != 0)
			continue;
		*out = speeds[i].bits;
		return CLI_DONE;
	}
	return member_wrong(object, text);
}

/*
 * Whether the values of a row are consistent: each end of a link has a node
 * GUID, and a port number from 1 to the number of the node's ports.
 */
static bool row_fits(const struct row *row)
{
	for (int i = 0; row->count && i < 2; i++)
		if (!row->ends[i].port || !row->ends[i].node_guid ||
		    row->ends[i].port > row->ends[i].num_ports)
			return false;
	return true;
}

static int row_get(const struct expect *expect, const cJSON *json,
		   struct row *out)
{
	struct object object = { expect, json, json->child };
	uint64_t count = 0;
	int status = end_name_get(&object, 0, &out->ends[0]);

	if (status == CLI_DONE)
		status = end_name_get(&object, 1, &out->ends[1]);
	if (status == CLI_DONE)
		status = width_get(&object, &out->width);
	if (status == CLI_DONE)
		status = speed_get(&object, &out->speed);
	if (status == CLI_DONE)
		status = end_get(&object, 0, true, &out->ends[0]);
	if (status == CLI_DONE)
		status = end_get(&object, 1, out->ends[1].port > 0,
				 &out->ends[1]);
	if (status == CLI_DONE)
		status = number_get(&object, "ends", 0, 2, &count);
	out->count = (uint8_t)count;
	if (status != CLI_DONE || row_fits(out))
		return status;
	return wrong(expect, "the object has a link, but not two ports");
}

static int row_add(struct expect *expect, const cJSON *json)
{
	struct expect_rows *rows = expect->rows;

	if (rows->count == rows->room) {
		const size_t room = 2 * rows->room + 64;
		struct row *all = reallocarray(rows->all, room, sizeof(*all));

		if (!all)
			return no_memory();
		rows->all = all;
		rows->room = room;
	}
	rows->all[rows->count] = (struct row){ .count = 0 };
	return row_get(expect, json, &rows->all[rows->count++]);
}

/* The position in the text. */
struct cursor {
	const char *at;
	const char *end;
};

/*
 * Skip blanks in the text. Return: the next character, or '\0' at the end of
 * the text.
 */
static char blanks_skip(struct expect *expect, struct cursor *text)
{
	for (; text->at < text->end; text->at++) {
		if (!strchr(" \t\r\n", *text->at) || !*text->at)
			return *text->at;
		expect->line += *text->at == '\n';
	}
	return '\0';
}

static int malformed(const struct expect *expect, const struct cursor *text)
{
	const bool has_end = memchr(text->at, '}',
				    (size_t)(text->end - text->at));

	return wrong(expect, "the JSON is malformed%s",
		     has_end ? "" : ": the file ends too early");
}

/*
 * Read one JSON object. Objects are parsed one at a time, because all together
 * would need ten times the memory of the text.
 */
static int object_read(struct expect *expect, struct cursor *text)
{
	const char *begin;
	cJSON *json;
	int status;

	if (blanks_skip(expect, text) != '{')
		return malformed(expect, text);
	begin = text->at;
	json = expect->cjson.cJSON_ParseWithLengthOpts(
		begin, (size_t)(text->end - begin), &text->at, false);
	for (; begin < text->at; begin++)
		expect->line += *begin == '\n';
	if (!json)
		return malformed(expect, text);
	status = row_add(expect, json);
	expect->cjson.cJSON_Delete(json);
	pool.len = 0;
	return status;
}

/*
 * Read the objects of a JSON array, or one in each line as --ndjson writes
 * them.
 */
static int objects_read(struct expect *expect, struct cursor *text)
{
	const bool is_array = blanks_skip(expect, text) == '[';
	int status = CLI_DONE;
	char next;

	text->at += is_array;
	if (is_array && blanks_skip(expect, text) == ']')
		return wrong(expect, "there is no node");
	do {
		status = object_read(expect, text);
		if (status != CLI_DONE)
			return status;
		next = blanks_skip(expect, text);
		text->at += is_array && next == ',';
	} while (next == (is_array ? ',' : '{'));
	if (is_array && next != ']')
		return malformed(expect, text);
	text->at += is_array;
	if (blanks_skip(expect, text) || text->at < text->end)
		return wrong(expect, "text follows the end of the JSON");
	return CLI_DONE;
}

int expect_rows_read(const char *path, const struct file_text *file,
		     struct expect_rows *out)
{
	struct expect expect = { .path = path, .line = 1, .rows = out };
	struct cursor text = { file->text, file->text + file->len };
	int status;

	*out = (struct expect_rows){ .all = NULL };
	if (libcjson_load(&expect.cjson) < 0) {
		complain("--expect: cannot load libcjson: %s; install the "
			 "package libcjson1 (Debian) or cjson (Enterprise "
			 "Linux)",
			 dlerror());
		return CLI_DEVICE;
	}
	expect.cjson.cJSON_InitHooks(&(cJSON_Hooks){ pool_get, pool_put });
	status = objects_read(&expect, &text);
	dlclose(expect.cjson.library);
	return status;
}
