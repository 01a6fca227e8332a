/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the rows of ibsa path. */
#include <string.h>

#include "output/codes.h"
#include "session/opa.h"
#include "path/path.h"
#include "output/reason.h"

/*
 * Return: the Omni-Path LID that the GID of a path encodes, because it does
 * not fit the 16 bits of the InfiniBand layout; 0: the LID is in its own
 * field.
 */
static uint32_t lid_in_gid(const struct rows *rows, const char *name,
			   const union fields_host *host)
{
	const struct ibsa_path *path = &host->path;

	if (!rows->is_opa || rows->record != &ibsa_path_record)
		return 0;
	if (strcmp(name, "slid") == 0 && path->slid == 0)
		return opa_lid_of_gid(&path->sgid);
	if (strcmp(name, "dlid") == 0 && path->dlid == 0)
		return opa_lid_of_gid(&path->dgid);
	return 0;
}

/*
 * Write a field of a pair without a path: only the fields of its two ports
 * have values.
 */
static void missing_field(struct out *out, const struct rows *rows,
			  const char *name, const struct row *row)
{
	static const struct ibsa_gid zero;
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(rows->record, name,
							 &index);
	const void *value = (const char *)&row->host + field->host_offset;
	const bool is_gid = field->show == IBSA_SHOW_gid;
	const bool is_lid = !strcmp(name, "slid") || !strcmp(name, "dlid");

	if ((is_gid && memcmp(value, &zero, sizeof(zero)) != 0) ||
	    (is_lid && ibsa_field_get(field, index, &row->host)))
		fields_named(out, rows->record, name, &row->host);
	else if (codes_has_text(field))
		out_no_code(out, name);
	else
		out_none(out, name);
}

static void path_field(struct out *out, const struct rows *rows,
		       const char *name, const struct row *row)
{
	const uint32_t lid = lid_in_gid(rows, name, &row->host);

	if (lid)
		out_count(out, name, lid);
	else if (row->reason)
		missing_field(out, rows, name, row);
	else
		fields_named(out, rows->record, name, &row->host);
}

/*
 * Write the packet life time, which is 4.096 us times a power of two. Source:
 * IBA vol 1, 15.2.5.16.
 */
static void life_time_cell(struct out *out, const struct ibsa_record *record,
			   const struct row *row)
{
	unsigned int index;
	const struct ibsa_field *field =
		ibsa_field_find(record, "packet_life_time", &index);
	const uint64_t code = ibsa_field_get(field, index, &row->host);
	char text[CODE_TEXT];

	if (row->reason)
		out_none(out, "lifetime");
	else
		out_number(out, "lifetime", code,
			   codes_text(field, code, text));
}

static void device_cell(struct out *out, const char *name,
			const struct end *end)
{
	fields_text_or_none(out, name, end->device[0] ? end->device : NULL);
}

static void device_cells(struct out *out, const struct row *row)
{
	device_cell(out, "src_device", row->src);
	device_cell(out, "dst_device", row->dst);
}

static void reason_cells(struct out *out, const struct row *row)
{
	if (row->reason)
		reason_cell(out, "reason", row->reason->code,
			    row->reason->is_certain);
	else
		out_none(out, "reason");
	if (out_is_brief(out))
		return;
	out_text_or_none(out, "reason_code",
			 row->reason ? reason_code_name(row->reason->code)
				     : NULL);
	out_text_or_none(out, "detail",
			 row->reason && row->reason->detail[0]
				 ? row->reason->detail
				 : row->note);
}

static void brief_row(struct out *out, const struct rows *rows,
		      const struct row *row)
{
	static const char *const before[] = { "slid", "dlid", "mtu",
					      "rate", "sl",   "pkey" };

	if (rows->has_devices)
		device_cells(out, row);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		path_field(out, rows, before[i], row);
	life_time_cell(out, rows->record, row);
	path_field(out, rows, "sgid", row);
	path_field(out, rows, "dgid", row);
}

void path_row(struct out *out, size_t index, void *arg)
{
	const struct rows *rows = arg;
	const struct row *row = &rows->all[index];

	if (out_is_brief(out)) {
		brief_row(out, rows, row);
	} else {
		for (unsigned int i = 0; i < rows->record->field_count; i++)
			path_field(out, rows, rows->record->fields[i].name,
				   row);
		device_cells(out, row);
	}
	if (rows->missing || !out_is_brief(out))
		reason_cells(out, row);
}
