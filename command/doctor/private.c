/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Removes keys from a report, and replaces names by others. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "doctor/private.h"

/*
 * The first GUID that replaces one: EUI-64 with the bit of local assignment.
 * Each further GUID is greater by 1.
 */
#define GUID_FIRST UINT64_C(0x0200000000000001)
/*
 * The first prefix that replaces one, of site-local GIDs; each further one is
 * greater by 1.
 */
#define PREFIX_FIRST UINT64_C(0xfec0000000000001)

/* An entry of a map. */
struct number {
	uint64_t from, to;
};

struct word {
	char *from, *to;
};

static int number_compare(const void *a, const void *b)
{
	const struct number *one = a, *other = b;

	return (one->from > other->from) - (one->from < other->from);
}

static int word_compare(const void *a, const void *b)
{
	const struct word *one = a, *other = b;

	return strcmp(one->from, other->from);
}

static void word_free(void *entry)
{
	struct word *word = entry;

	free(word->from);
	free(word->to);
	free(word);
}

void private_free(struct private *private)
{
	tdestroy(private->guids, free);
	tdestroy(private->prefixes, free);
	tdestroy(private->names, word_free);
}

/*
 * Return: the number that replaces @from in @map. Each value that is not yet in
 * the map gets the next number, beginning with @first.
 */
static uint64_t number_of(struct private *private, void **map,
			  unsigned int *count, uint64_t first, uint64_t from)
{
	struct number *one = malloc(sizeof(*one));
	struct number **found = NULL;

	if (one) {
		*one = (struct number){ from, first + *count };
		found = tsearch(one, map, number_compare);
	}
	if (!found) {
		free(one);
		private->out_of_memory = true;
		return 0;
	}
	if (*found == one)
		++*count;
	else
		free(one);
	return (*found)->to;
}

uint64_t private_guid(struct private *private, uint64_t guid)
{
	if (!private->is_anonymous || !guid)
		return guid;
	return number_of(private, &private->guids, &private->guid_count,
			 GUID_FIRST, guid);
}

static uint64_t private_prefix(struct private *private, uint64_t prefix)
{
	if (!private->is_anonymous || !prefix ||
	    prefix == IBSA_DEFAULT_GID_PREFIX)
		return prefix;
	return number_of(private, &private->prefixes, &private->prefix_count,
			 PREFIX_FIRST, prefix);
}

/*
 * Edit the GID of a multicast group. A GID of IPoIB contains no GUID, except
 * that the GID of an IPv6 solicited-node address ends with three bytes of a
 * GUID. The GIDs of other programs may contain any bytes. Source: RFC 4391, 4;
 * RFC 4291, 2.7.1.
 */
static void group_edit(struct private *private, struct ibsa_gid *gid)
{
	enum { IPV4 = 0x401b, IPV6 = 0x601b, SOLICITED = 0xff };
	const uint16_t kind = ibsa_be16(gid->raw + 2);
	const uint32_t low = ibsa_be32(gid->raw + 12);

	if (kind == IPV6 && low >> 24 == SOLICITED)
		ibsa_put_be32(gid->raw + 12,
			      0xff000000 |
				      (private_guid(private, low) & 0xffffff));
	else if (kind != IPV4 && kind != IPV6)
		ibsa_put_be64(gid->raw + 8,
			      private_guid(private, ibsa_be64(gid->raw + 8)));
}

void private_gid(struct private *private, struct ibsa_gid *gid)
{
	if (!private->is_anonymous)
		return;
	if (gid->raw[0] == 0xff) {
		group_edit(private, gid);
		return;
	}
	ibsa_put_be64(gid->raw, private_prefix(private, ibsa_be64(gid->raw)));
	ibsa_put_be64(gid->raw + 8,
		      private_guid(private, ibsa_be64(gid->raw + 8)));
}

/* Return: the name that replaces @from; "": out of memory. */
static const char *word_of(struct private *private, const char *kind,
			   const char *from)
{
	struct word *word = calloc(1, sizeof(*word));
	struct word **found = NULL;

	if (word && (word->from = strdup(from)) &&
	    asprintf(&word->to, "%s%u", kind, private->name_count + 1) >= 0)
		found = tsearch(word, &private->names, word_compare);
	if (found && *found == word) {
		private->name_count++;
		return word->to;
	}
	if (word)
		word_free(word);
	private->out_of_memory |= !found;
	return found ? (*found)->to : "";
}

/* Whether a word is the name that a driver gives a device. */
static bool is_device(const char *word)
{
	static const char *const drivers[] = { "mlx4_", "mlx5_", "hfi1_", "qib",
					       "mthca", "HCA-",	 "ibp" };

	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		const size_t len = strlen(drivers[i]);

		if (strncmp(word, drivers[i], len) == 0 &&
		    !word[len + strspn(word + len, "0123456789_dfns")])
			return true;
	}
	return false;
}

void private_name(struct private *private, const char *kind, bool has_device,
		  char *name, size_t size)
{
	const char *device = ibsa__host_device(name);
	char *from;

	if (!private->is_anonymous || !*name)
		return;
	if (!has_device || !is_device(device))
		device = "";
	from = strndup(name, *device ? strcspn(name, " ") : strlen(name));
	device = strdupa(device);
	/* Also the bytes after the end of a shorter name. */
	memset(name, 0, size);
	if (from)
		snprintf(name, size, "%s%s%s", word_of(private, kind, from),
			 *device ? " " : "", device);
	private->out_of_memory |= !from;
	free(from);
}

/* Fields that grant a right, and fields of bytes that ibsa cannot interpret. */
static const char *const secrets[] = {
	"m_key",	  "sm_key",	    "service_key",    "service_data8",
	"service_data16", "service_data32", "service_data64", "data_details",
};

static bool is_secret(const struct ibsa_field *field)
{
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (strcmp(field->name, secrets[i]) == 0)
			return true;
	return false;
}

/* Whether a record is that of a switch or router. */
static bool is_of_switch(const struct ibsa_record *record, const void *host)
{
	const struct ibsa_field *type = NULL;

	for (unsigned int i = 0; i < record->field_count; i++)
		if (record->fields[i].show == IBSA_SHOW_node_type)
			type = &record->fields[i];
	return type && ibsa_field_get(type, 0, host) != IBSA_NODE_CA;
}

/*
 * Replace the values of a field in the struct @host, if they are names, GUIDs,
 * GIDs or GID prefixes.
 */
static void values_edit(struct private *private,
			const struct ibsa_record *record,
			const struct ibsa_field *field, void *host)
{
	char *at = (char *)host + field->host_offset;

	if (field->show == IBSA_SHOW_text) {
		/* An array of characters with one byte more, for a NUL. */
		private_name(private,
			     record == &ibsa_service_record ? "service"
			     : is_of_switch(record, host)   ? "switch"
							    : "host",
			     record != &ibsa_service_record, at,
			     field->count + 1);
		return;
	}
	for (unsigned int i = 0; i < ibsa_field_values(field); i++) {
		if (field->show == IBSA_SHOW_gid)
			private_gid(private, (struct ibsa_gid *)at + i);
		else if (field->show == IBSA_SHOW_guid)
			(void)!ibsa_field_set(
				field, i,
				private_guid(private,
					     ibsa_field_get(field, i, host)),
				host);
		else if (strcmp(field->name, "gid_prefix") == 0)
			(void)!ibsa_field_set(
				field, i,
				private_prefix(private,
					       ibsa_field_get(field, i, host)),
				host);
	}
}

/* A struct of any record. */
union any {
#define ANY_RECORD(name, ...) struct ibsa_##name name;
	IBSA_RECORDS(ANY_RECORD)
#undef ANY_RECORD
	struct ibsa_sa_header header;
};

/* Edit the bytes of a record. */
static void record_edit(struct private *private,
			const struct ibsa_record *record, uint8_t *wire)
{
	union any any;

	if (ibsa_record_decode(record, wire, record->size, &any,
			       record->host_size) != 0)
		return;
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		if (is_secret(field))
			memset((char *)&any + field->host_offset, 0,
			       (size_t)field->host_size * field->count);
		else if (private->is_anonymous)
			values_edit(private, record, field, &any);
	}
	(void)!ibsa_record_encode(record, &any, record->host_size, wire,
				  record->size);
}

/* Return: the type of the records in a MAD, or NULL. */
static const struct ibsa_record *mad_record(const struct ibsa_sa_header *header)
{
	enum { RESPONSE = IBSA_METHOD_GET_RESP & ~IBSA_METHOD_GET };
	const struct ibsa_record *record;

	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++)
		if (record->attribute == header->attribute_id &&
		    record->class_version == header->class_version)
			return header->method & RESPONSE ? record->reply
							 : record;
	return NULL;
}

/* Edit all records of a MAD, and clear the bytes between and after them. */
static void records_edit(struct private *private,
			 const struct ibsa_sa_header *header, uint8_t *data,
			 size_t len)
{
	const struct ibsa_record *record = mad_record(header);
	const size_t size = record ? record->size : len;
	size_t stride = 8U * header->attribute_offset;
	size_t at = 0;

	if (!record || stride < size)
		stride = len;
	for (; record && len - at >= size; at += stride) {
		record_edit(private, record, data + at);
		if (len - at < stride)
			stride = len - at;
		memset(data + at + size, 0, stride - size);
	}
	memset(data + at, 0, len - at);
}

bool private_mad(struct private *private, uint8_t *mad, size_t len)
{
	struct ibsa_sa_header header;

	if (ibsa_record_decode(&ibsa_sa_header_record, mad, len, &header,
			       sizeof(header)) != 0 ||
	    header.mgmt_class != IBSA_CLASS_SA)
		return false;
	record_edit(private, &ibsa_sa_header_record, mad);
	records_edit(private, &header, mad + IBSA_SA_HEADER_BYTES,
		     len - IBSA_SA_HEADER_BYTES);
	return true;
}
