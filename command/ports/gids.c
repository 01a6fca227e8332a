/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa gids: lists GID tables, or selects the GID to use for an address. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/device.h>

#include "base/list.h"
#include "output/column_table.h"
#include "output/fields.h"
#include "ports/ports.h"
#include "options/command.h"
#include "options/shared.h"

/**
 * struct gids_options - options of ibsa gids
 * @all:     list all GIDs for the address
 * @address: the address of --for as text; NULL if not given
 * @gid:     this address as a GID
 */
struct gids_options {
	bool all;
	const char *address;
	struct ibsa_gid gid;
};

static const struct gids_options *gids_own(const struct cli *cli)
{
	return cli->own;
}

enum { IPV4_AT = 12, MAPPED_BITS = 96 };

/*
 * The rows of ibsa gids and, with --for, how well each row fits the address.
 * With --for but without --all, only the row with index @only is printed.
 */
struct view {
	const struct ibsa_gid_row *rows;
	size_t count;
	const struct ibsa_gid *address;
	const enum ibsa_gid_fit *fits;
	const size_t *only;
	bool noted;
};

static bool is_ipv4(const struct ibsa_gid *gid)
{
	static const uint8_t mapped[IPV4_AT] = { [10] = 0xff, 0xff };

	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

static const char *type_name(enum ibsa_gid_type type)
{
	switch (type) {
	case IBSA_GID_IB:
		return "IB";
	case IBSA_GID_ROCE_V1:
		return "RoCE v1";
	case IBSA_GID_ROCE_V2:
		return "RoCE v2";
	default:
		return "?";
	}
}

/*
 * Return: the word for how a GID fits. The words of this function are in the
 * JSON output, and programs compare them.
 */
static const char *fit_name(enum ibsa_gid_fit fit)
{
	static const char *const names[] = {
		[IBSA_GID_CHOSEN] = "chosen",
		[IBSA_GID_UNREADABLE] = "unreadable",
		[IBSA_GID_EMPTY] = "empty",
		[IBSA_GID_PORT_DOWN] = "port-down",
		[IBSA_GID_OTHER_FAMILY] = "other-family",
		[IBSA_GID_LINK_LOCAL] = "link-local",
		[IBSA_GID_ROCE_V1_ONLY] = "roce-v1",
		[IBSA_GID_FARTHER] = "farther",
		[IBSA_GID_LATER] = "later",
	};

	return names[fit];
}

static void ipv4_cell(struct out *out, const struct ibsa_gid *gid)
{
	const uint8_t *at = gid->raw + IPV4_AT;
	char text[16];

	if (!is_ipv4(gid)) {
		out_none(out, "ipv4");
		return;
	}
	snprintf(text, sizeof(text), "%u.%u.%u.%u", at[0], at[1], at[2], at[3]);
	out_text(out, "ipv4", text);
}

static void netdev_cell(struct out *out, uint32_t ifindex)
{
	char name[IF_NAMESIZE];

	out_text_or_none(out, "netdev",
			 ifindex ? if_indextoname(ifindex, name) : NULL);
}

static void entry_cells(struct out *out, const struct ibsa_gid_row *row)
{
	static const char *const names[] = { "gid", "ipv4", "type", "netdev" };

	out_count(out, "index", row->entry.index);
	if (row->err) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			out_none(out, names[i]);
		return;
	}
	fields_gid(out, "gid", &row->entry.gid);
	ipv4_cell(out, &row->entry.gid);
	out_text(out, "type", type_name(row->entry.type));
	netdev_cell(out, row->entry.ifindex);
}

/*
 * Return: the number of leading bits that a GID and the address have in
 * common; at most 32 for IPv4.
 */
static unsigned int shared_bits(const struct view *view,
				const struct ibsa_gid *gid)
{
	const uint8_t *a = gid->raw;
	const uint8_t *b = view->address->raw;
	unsigned int bits = 0;

	while (bits < 128 && !((a[bits / 8] ^ b[bits / 8]) & 0x80 >> bits % 8))
		bits++;
	return is_ipv4(gid) && is_ipv4(view->address) ? bits - MAPPED_BITS
						      : bits;
}

static void chosen_text(const struct view *view, const struct ibsa_gid_row *row,
			char *out, size_t size)
{
	const struct ibsa_gid *gid = &row->entry.gid;
	const char *family = is_ipv4(gid) ? ", IPv4" : ", IPv6";

	if (row->entry.type == IBSA_GID_IB)
		family = "";
	snprintf(out, size, "chosen: %s%s, %u leading bits the same",
		 type_name(row->entry.type), family, shared_bits(view, gid));
}

static const char *err_text(int err)
{
	return err == -EPROTO ? "its GID or type is not understood"
			      : strerror(-err);
}

static void why_text(const struct view *view, size_t index, char *out,
		     size_t size)
{
	const struct ibsa_gid_row *row = &view->rows[index];
	const char *text = "";

	switch (view->fits[index]) {
	case IBSA_GID_CHOSEN:
		chosen_text(view, row, out, size);
		return;
	case IBSA_GID_UNREADABLE:
		snprintf(out, size, "cannot be read: %s", err_text(row->err));
		return;
	case IBSA_GID_FARTHER:
		snprintf(out, size, "only %u leading bits the same",
			 shared_bits(view, &row->entry.gid));
		return;
	case IBSA_GID_EMPTY:
		text = "empty";
		break;
	case IBSA_GID_PORT_DOWN:
		text = "its port is not active";
		break;
	case IBSA_GID_OTHER_FAMILY:
		text = is_ipv4(view->address) ? "not IPv4, as the address is"
					      : "IPv4, the address is not";
		break;
	case IBSA_GID_LINK_LOCAL:
		text = "link-local, the address is not";
		break;
	case IBSA_GID_ROCE_V1_ONLY:
		text = "RoCE v1, the chosen one is not";
		break;
	case IBSA_GID_LATER:
		text = "as good, but later";
		break;
	}
	snprintf(out, size, "%s", text);
}

static void row_write(struct out *out, size_t index, void *arg)
{
	const struct view *view = arg;
	const size_t at = view->only ? *view->only : index;
	const struct ibsa_gid_row *row = &view->rows[at];
	char text[IBSA_VALUE_TEXT];

	out_text(out, "device", fields_clean(row->device, text));
	out_count(out, "port", row->port);
	entry_cells(out, row);
	if (view->fits) {
		if (!out_is_brief(out))
			out_text(out, "fit", fit_name(view->fits[at]));
		why_text(view, at, text, sizeof(text));
		out_text(out, "why", text);
	} else if (row->err) {
		out_text(out, "note", err_text(row->err));
	} else if (view->noted || !out_is_brief(out)) {
		out_none(out, "note");
	}
}

/*
 * Print one line that tells why no GID can be used: for each reason, the
 * number of GIDs that it excludes.
 */
static int no_gid_fits_explain(const struct cli *cli, const struct view *view)
{
	const struct {
		enum ibsa_gid_fit fit;
		const char *text;
	} reasons[] = {
		{ IBSA_GID_OTHER_FAMILY,
		  strchr(gids_own(cli)->address, ':')
			  ? "of IPv4, but the address is of IPv6"
			  : "of IPv6, but the address is of IPv4" },
		{ IBSA_GID_LINK_LOCAL, "link-local" },
		{ IBSA_GID_PORT_DOWN, "of ports that are not active" },
		{ IBSA_GID_UNREADABLE, "unreadable" },
	};
	char text[160] = "";

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		size_t used = strlen(text);
		size_t count = 0;

		for (size_t j = 0; j < view->count; j++)
			count += view->fits[j] == reasons[i].fit;
		if (count)
			snprintf(text + used, sizeof(text) - used, "%s%zu %s",
				 used ? ", " : "", count, reasons[i].text);
	}
	return fail_no("no GID can be used for %s: %s", gids_own(cli)->address,
		       text);
}

static int show_choice(struct cli *cli, struct view *view)
{
	enum ibsa_gid_fit *fits = calloc(view->count, sizeof(*fits));
	size_t at;
	int err;

	if (!fits)
		return no_memory();
	view->address = &gids_own(cli)->gid;
	view->fits = fits;
	err = ibsa_gid_choose(view->rows, view->count, view->address, fits,
			      &at);
	if (!err && !gids_own(cli)->all)
		view->only = &at;
	if (gids_own(cli)->all)
		out_rows(&cli->out, view->count, row_write, view);
	else
		out_rows(&cli->out, err ? 0 : 1, row_write, view);
	if (err)
		no_gid_fits_explain(cli, view);
	free(fits);
	return err ? CLI_NO : CLI_DONE;
}

static int rows_print(struct cli *cli, struct view *view)
{
	if (!view->count) {
		out_rows(&cli->out, 0, row_write, view);
		return fail_no("the GID tables are empty; check the ports with "
			       "ibsa devices");
	}
	if (gids_own(cli)->address)
		return show_choice(cli, view);
	for (size_t i = 0; i < view->count; i++)
		view->noted |= view->rows[i].err != 0;
	out_rows(&cli->out, view->count, row_write, view);
	return CLI_DONE;
}

/* Whether @scope names an existing device of this machine. */
static bool has_device(const struct scope *scope)
{
	struct ibsa_device_list *devices;
	bool has = false;

	if (ibsa_devices_read(&devices))
		return false;
	for (size_t i = 0; i < devices->count; i++)
		has |= scope_has_device(scope,
					ibsa_device_at(devices, i)->name);
	ibsa_devices_free(devices);
	return has;
}

/* Return: those rows that are in the scope, for the caller to free; or NULL. */
static struct ibsa_gid_row *rows_in_scope(const struct ibsa_gid_list *list,
					  const struct scope *scope,
					  size_t *out_count)
{
	struct ibsa_gid_row *rows = calloc(list->count + 1, sizeof(*rows));

	*out_count = 0;
	for (size_t i = 0; rows && i < list->count; i++)
		if (scope_has_device_port(scope, list->rows[i].device,
					  list->rows[i].port))
			rows[(*out_count)++] = list->rows[i];
	if (!rows)
		complain("out of memory");
	return rows;
}

static int machine_gids(struct cli *cli, const struct scope *scope, void *arg)
{
	const bool is_set = scope_is_set(scope->device);
	struct ibsa_gid_list *list;
	struct ibsa_gid_row *rows;
	struct view view = { .rows = NULL };
	int status;
	int err;

	(void)arg;
	err = ibsa_gids_read(is_set ? NULL : scope->device, scope->port, &list);
	if (scope->device && (err == -ENODEV || err == -ENXIO))
		return ports_none(cli, scope, err == -ENXIO);
	if (err)
		return ports_no_device(cli, err);
	rows = rows_in_scope(list, scope, &view.count);
	view.rows = rows;
	if (!rows)
		status = CLI_DEVICE;
	else if (is_set && !has_device(scope))
		status = ports_none(cli, scope, false);
	else if (!list->count && !has_device(scope))
		status = ports_no_device(cli, 0);
	else
		status = rows_print(cli, &view);
	free(rows);
	ibsa_gids_free(list);
	return status;
}

struct gid_table {
	struct ibsa_gid_row *rows;
	size_t count;
};

static int row_add(struct gid_table *table, const struct ibsa_fabric_port *port,
		   const struct ibsa_gid_entry *entry)
{
	struct ibsa_gid_row *row = list_add(&table->rows, &table->count,
					    sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = (struct ibsa_gid_row){
		.device = port->node,
		.port = port->number,
		.port_state = port->state.port_state,
		.entry = *entry,
	};
	return 0;
}

/*
 * Read the rows of a port. A port without a cable is skipped: no client can
 * use it.
 */
static int port_read(struct ibsa_fabric *fabric,
		     const struct ibsa_fabric_port *port,
		     struct gid_table *table)
{
	struct ibsa_transport *transport;
	struct ibsa_gid_entry entry;
	int err = ibsa_fabric_attach(fabric, port->id, port->number,
				     &transport);

	if (err)
		return err == -ENETDOWN ? 0 : err;
	for (uint32_t i = 0; !err || err == -ENODATA; i++) {
		err = transport->ops->gid(transport, i, &entry);
		if (!err)
			err = row_add(table, port, &entry);
	}
	transport->ops->close(transport);
	return err == -EINVAL ? 0 : err;
}

/*
 * Read the rows of an embedded fabric. Return: 0; -ENODEV the device of @scope
 * does not exist; -ENXIO its port does not exist.
 */
static int fabric_read(struct ibsa_fabric *fabric, const struct scope *scope,
		       struct gid_table *table)
{
	struct ibsa_fabric_port port;
	int missing = -ENODEV;
	int err = 0;

	for (size_t i = 0; !err && !ibsa_fabric_port_at(fabric, i, &port);
	     i++) {
		if (!scope_has_node(scope, &port))
			continue;
		if (scope_has_port(scope, port.number)) {
			missing = 0;
			err = port_read(fabric, &port, table);
		} else if (missing) {
			missing = -ENXIO;
		}
	}
	return err ? err : missing;
}

static int fabric_gids(struct cli *cli, const struct scope *scope,
		       struct ibsa_fabric *fabric, void *arg)
{
	struct gid_table table = { .rows = NULL };
	const int err = fabric_read(fabric, scope, &table);
	struct view view = { .rows = table.rows, .count = table.count };
	int status;

	(void)arg;
	if (!err)
		status = rows_print(cli, &view);
	else if (scope->device && (err == -ENODEV || err == -ENXIO))
		status = ports_none(cli, scope, err == -ENXIO);
	else if (err == -ENODEV)
		status = ports_no_adapter(cli, "GIDs");
	else
		status = fail_device("cannot read the GIDs of %s: %s",
				     fabric_file(cli), strerror(-err));
	free(table.rows);
	return status;
}

/* clang-format off */
#define GID_COLUMNS			\
	ALWAYS("device", TEXT),		\
	ALWAYS("port", NUMBER),		\
	ALWAYS("index", NUMBER),	\
	MAYBE("gid", GID),		\
	MAYBE("ipv4", IPV4),		\
	MAYBE_WORDS("type", "IB|RoCE v1|RoCE v2|?"), \
	MAYBE("netdev", TEXT)

static const struct column gids_list[] = {
	GID_COLUMNS,
	MAYBE("note", TEXT),
};

static const struct column gids_for_list[] = {
	GID_COLUMNS,
	WORDS("fit", "chosen|unreadable|empty|port-down|other-family|"
		     "link-local|roce-v1|farther|later"),
	ALWAYS("why", TEXT),
};
/* clang-format on */

static const struct columns columns_gids = COLUMN_TABLE("gids", gids_list);
static const struct columns columns_gids_for = COLUMN_TABLE("gids-for",
							    gids_for_list);

static int cmd_gids(struct cli *cli)
{
	static const struct ports_lister lister = { machine_gids, fabric_gids };
	const bool has_address = gids_own(cli)->address;

	if (gids_own(cli)->all && !has_address)
		return fail_usage("gids: --all needs --for; without --for, "
				  "gids lists all GIDs anyway");
	return ports_list(cli, has_address ? &columns_gids_for : &columns_gids,
			  &lister, NULL);
}

/*
 * Parse an address into a GID: as in RoCE, an IPv4 address a.b.c.d becomes the
 * GID ::ffff:a.b.c.d.
 */
static int address_parse(const char *text, struct ibsa_gid *out)
{
	char mapped[IBSA_GID_TEXT];

	if (strchr(text, ':'))
		return ibsa_gid_parse(text, out);
	/*
	 * Text without a dot is not accepted: it would be parsed as the end of
	 * an IPv6 address.
	 */
	if (!strchr(text, '.'))
		return -EINVAL;
	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return ibsa_gid_parse(mapped, out);
}

/* Whether the GID stands for the unspecified address of IPv4 or IPv6. */
static bool is_unspecified(const struct ibsa_gid *gid)
{
	static const struct ibsa_gid zero;
	static const struct ibsa_gid ipv4 = { { [10] = 0xff, 0xff } };

	return memcmp(gid, &zero, sizeof(zero)) == 0 ||
	       memcmp(gid, &ipv4, sizeof(ipv4)) == 0;
}

static int for_option(void *to, const char *value)
{
	struct gids_options *options = to;

	if (address_parse(value, &options->gid))
		return fail_usage("--for: '%s' is neither an IPv4 nor an IPv6 "
				  "address, nor a GID",
				  value);
	if (is_unspecified(&options->gid))
		return fail_usage("--for: '%s' is the unspecified address; "
				  "give the address of a destination",
				  value);
	options->address = value;
	return CLI_DONE;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_ALL("with --for: all GIDs, not the first only",
		   struct gids_options, all),
	{ 0, "for", "ADDRESS", "select the GID for this address",
	  for_option },
};

static const struct option_table table =
	OPTION_TABLE(rows, struct gids_options);

const struct command command_gids = {
	.name = "gids",
	.arguments = "[DEVICE[/PORT]]",
	.help = "list GID tables, or select a GID for an address",
	.options = &table,
	.groups = GROUP_ALL,
	.columns = (const struct columns *const[]){ &columns_gids, &columns_gids_for, NULL },
	.run = cmd_gids,
	.text =
	"Lists all entries that are not empty. With --for, shows the entry to\n"
	"use as the source for ADDRESS, and the reason; --all the others, too.\n",
};
/* clang-format on */
