/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes partitions, services, multicast groups, SMs and the SA's latency into
 * a page.
 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "output/fields.h"
#include "page/page.h"
#include "session/query_wait.h"

enum {
	/* Number of queries that measure the latency of the SA. */
	SAMPLES = 16,
	PKEY_MEMBER = 0x8000, /* the bit of full members */
	PKEYS = 0x8000,	      /* numbers of partitions */
	OWN_PARTITIONS = 16,  /* of this port that are queried */
};

struct member {
	uint32_t pkey;
	uint32_t port;
};

struct section {
	struct page *page;
	struct client_wait wait;
	void (*use)(struct section *section, const struct ibsa_reply *reply);
	/* The reason why the query has no records; or "". */
	struct ibsa_error why;
	bool out_of_memory;
	uint64_t rtt_ns;
};

static void section_done(const struct ibsa_reply *reply, void *arg)
{
	struct section *section = arg;
	const enum ibsa_outcome outcome = ibsa_reply_outcome(reply);

	section->wait.ended = true;
	section->rtt_ns = reply->rtt_ns;
	if (section->wait.broken)
		return;
	if (outcome == IBSA_OUTCOME_OK && section->use)
		section->use(section, reply);
	else if (outcome != IBSA_OUTCOME_OK && outcome != IBSA_OUTCOME_NONE)
		ibsa_reply_explain(reply, &section->why);
}

/*
 * Return: the exit status; CLI_DONE also if the SA does not return the records.
 */
static int section_query(struct section *section,
			 const struct ibsa_query *query)
{
	struct cli *cli = section->page->cli;
	int err = ibsa_query_start(cli->client, query, section_done, section,
				   NULL);

	section->wait.ended = false;
	if (err)
		return query_refused_explain(cli, err);
	client_wait(cli, &section->wait);
	if (section->out_of_memory)
		return no_memory();
	return section->wait.broken ? CLI_SILENT : CLI_DONE;
}

/* Return: what the user can do if the SA refuses @record; "": no advice. */
static const char *table_advice(const struct cli *cli,
				const struct ibsa_record *record)
{
	const char *fabric = secure_getenv("IBSA_FABRIC");

	if (record != &ibsa_pkey_table_record || cli->open.access.sm_key)
		return "";
	return fabric_file(cli) || (fabric && fabric_is_server(fabric))
		       ? "; use --sm-key 1, the SM_Key of an embedded fabric"
		       : "; set the SM_Key of the SM with --sm-key";
}

/* Query and write a table as an object with the array "list". */
static int
table_put(struct page *page, const char *name, const struct ibsa_record *record,
	  void (*use)(struct section *section, const struct ibsa_reply *reply))
{
	const struct ibsa_query query = { .record = record,
					  .method = IBSA_METHOD_GET_TABLE };
	struct section section = { .page = page, .use = use };
	int status;

	page_open(&page->json, name, '{');
	page_open(&page->json, "list", '[');
	status = section_query(&section, &query);
	page_close(&page->json, ']');
	if (*section.why.text) {
		complain("page: the SA did not return %s: %s%s", record->name,
			 section.why.text, table_advice(page->cli, record));
		page_text(&page->json, "why", section.why.text);
	}
	page_close(&page->json, '}');
	return status;
}

/* Write the index of a port in the page; null: the page lacks the port. */
static void port_index_put(struct page_json *json, const char *name,
			   size_t index)
{
	if (index == SIZE_MAX)
		page_null(json, name);
	else
		page_number(json, name, index);
}

static void gid_put(struct page_json *json, const char *name,
		    const struct ibsa_gid *gid)
{
	char text[IBSA_GID_TEXT] = "";

	(void)ibsa_gid_format(gid, text, sizeof(text));
	page_text(json, name, text);
}

static void field_put(struct page_json *json, const struct ibsa_record *record,
		      const char *name, const void *host)
{
	char text[IBSA_VALUE_TEXT];

	page_text(json, name, fields_text(record, name, host, text));
}

static void services_use(struct section *section,
			 const struct ibsa_reply *reply)
{
	struct page_json *json = &section->page->json;
	struct ibsa_service service;

	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &service, sizeof(service)) != 0)
			continue;
		page_open(json, NULL, '{');
		page_hex(json, "id", service.service_id, 16);
		field_put(json, &ibsa_service_record, "service_name", &service);
		gid_put(json, "gid", &service.service_gid);
		port_index_put(json, "port",
			       page_port_find_guid(
				       section->page,
				       fields_gid_guid(&service.service_gid)));
		page_hex(json, "pkey", service.service_pkey, 4);
		field_put(json, &ibsa_service_record, "service_lease",
			  &service);
		page_close(json, '}');
	}
}

static int by_mgid(const void *a, const void *b)
{
	const struct ibsa_mcmember *x = a;
	const struct ibsa_mcmember *y = b;
	const int order = memcmp(&x->mgid, &y->mgid, sizeof(x->mgid));

	return order ? order
		     : memcmp(&x->port_gid, &y->port_gid, sizeof(x->port_gid));
}

/*
 * Write a multicast group: the first of the @left records are its members.
 * Return: the number of these records.
 */
static size_t group_put(struct page *page, const struct ibsa_mcmember *first,
			size_t left)
{
	static const struct ibsa_gid no_gid;
	struct page_json *json = &page->json;
	size_t count = 0;

	page_open(json, NULL, '{');
	gid_put(json, "mgid", &first->mgid);
	page_hex(json, "mlid", first->mlid, 4);
	page_hex(json, "pkey", first->pkey, 4);
	field_put(json, &ibsa_mcmember_record, "mtu", first);
	field_put(json, &ibsa_mcmember_record, "rate", first);
	page_open(json, "members", '[');
	for (; count < left && memcmp(&first[count].mgid, &first->mgid,
				      sizeof(first->mgid)) == 0;
	     count++) {
		const struct ibsa_gid *gid = &first[count].port_gid;

		if (memcmp(gid, &no_gid, sizeof(*gid)) != 0)
			port_index_put(json, NULL,
				       page_port_find_guid(
					       page, fields_gid_guid(gid)));
	}
	page_close(json, ']');
	page_close(json, '}');
	return count;
}

static void groups_use(struct section *section, const struct ibsa_reply *reply)
{
	struct ibsa_mcmember *all;
	size_t count;

	section->out_of_memory = !records_decode(reply, &all, &count);
	if (all)
		qsort(all, count, sizeof(*all), by_mgid);
	for (size_t i = 0; i < count;)
		i += group_put(section->page, &all[i], count - i);
	free(all);
}

static int by_pkey(const void *a, const void *b)
{
	const struct member *x = a;
	const struct member *y = b;

	if (x->pkey != y->pkey)
		return x->pkey < y->pkey ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/*
 * Return: a number by which by_pkey() sorts: by partition, and in a partition
 * full members before limited ones.
 */
static uint32_t pkey_order(uint16_t pkey)
{
	return (pkey & (PKEYS - 1U)) << 1 | !(pkey & PKEY_MEMBER);
}

/* External ports of switches are not ports of the page. */
static void members_add(struct section *section,
			const struct ibsa_pkey_table *table,
			struct member **all, size_t *count)
{
	const struct page *page = section->page;
	const size_t values = sizeof(table->pkey) / sizeof(table->pkey[0]);
	unsigned int number;
	size_t node;
	size_t port;

	if (ibsa_topology_lid_find(page->check.topology, table->lid, &node,
				   &number) != 0)
		return;
	port = page_port_find(page, node, number ? number : table->port_num);
	for (size_t i = 0; port != SIZE_MAX && i < values; i++) {
		struct member *added;

		if (!(table->pkey[i] & (PKEYS - 1)))
			continue;
		added = list_add(all, count, sizeof(*added));
		section->out_of_memory |= !added;
		if (added)
			*added = (struct member){ pkey_order(table->pkey[i]),
						  (uint32_t)port };
	}
}

static void members_put(struct page_json *json, const char *name,
			const struct member **at, const struct member *end,
			uint32_t pkey)
{
	page_open(json, name, '[');
	for (; *at < end && (*at)->pkey == pkey; (*at)++)
		page_number(json, NULL, (*at)->port);
	page_close(json, ']');
}

static void partitions_put(struct page_json *json, const struct member *all,
			   size_t count)
{
	const struct member *at = all;

	while (at < all + count) {
		const uint32_t pkey = at->pkey >> 1;

		page_open(json, NULL, '{');
		page_hex(json, "pkey", pkey, 4);
		members_put(json, "full", &at, all + count, pkey << 1);
		members_put(json, "limited", &at, all + count, pkey << 1 | 1);
		page_close(json, '}');
	}
}

static void partitions_use(struct section *section,
			   const struct ibsa_reply *reply)
{
	struct ibsa_pkey_table table;
	struct member *all = NULL;
	size_t count = 0;

	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &table, sizeof(table)) == 0)
			members_add(section, &table, &all, &count);
	if (count)
		qsort(all, count, sizeof(*all), by_pkey);
	partitions_put(&section->page->json, all, count);
	free(all);
}

/*
 * Whether to measure the SA by a path query to this port: if there is a path to
 * it, and no other port at the same leaf switch was chosen before.
 */
static bool is_sample(const struct page *page, size_t index, bool *is_seen)
{
	const struct ibsa_topology_port *port = &page->ports[index].port;
	const size_t leaf = port->has_link ? port->far_node
					   : page->ports[index].node;

	if (index == page->here || page->ports[index].number == 0 ||
	    is_seen[leaf] || !fabric_check_path(&page->check, port->guid))
		return false;
	is_seen[leaf] = true;
	return true;
}

/*
 * Choose ports at different leaf switches, evenly. Return: their number;
 * SIZE_MAX: out of memory.
 */
static size_t sample_find(const struct page *page, size_t out[SAMPLES])
{
	size_t *all = calloc(page->port_count + 1, sizeof(*all));
	bool *is_seen = calloc(page->view.info.nodes + 1, sizeof(*is_seen));
	size_t count = 0;
	size_t chosen = all && is_seen ? 0 : SIZE_MAX;

	for (size_t i = 0; !chosen && i < page->port_count; i++)
		if (is_sample(page, i, is_seen))
			all[count++] = i;
	for (; chosen < SAMPLES && chosen < count; chosen++)
		out[chosen] = all[count <= SAMPLES ? chosen
						   : chosen * count / SAMPLES];
	free(all);
	free(is_seen);
	return chosen;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void latency_put(struct page_json *json, uint64_t times[SAMPLES],
			size_t count, size_t asked)
{
	qsort(times, count, sizeof(*times), by_time);
	page_open(json, "latency", '{');
	page_number(json, "queries", asked);
	page_number(json, "answers", count);
	if (count) {
		page_number(json, "min_ns", times[0]);
		page_number(json, "median_ns", times[count / 2]);
		page_number(json, "max_ns", times[count - 1]);
	}
	page_close(json, '}');
}

/*
 * Measure the latency of the SA by path queries: each is sent after the answer
 * to the one before.
 */
static int latency_measure(struct page *page)
{
	struct ibsa_path match = { .reversible = 1, .numb_path = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
	};
	uint64_t times[SAMPLES];
	size_t sample[SAMPLES];
	const size_t asked = sample_find(page, sample);
	size_t count = 0;
	int status = own_gid_get(page->cli, &match.sgid);

	if (asked == SIZE_MAX)
		return no_memory();
	for (size_t i = 0; i < asked && status == CLI_DONE; i++) {
		struct section section = { .page = page };

		match.dgid = fields_guid_gid(&match.sgid,
					     page->ports[sample[i]].port.guid);
		status = section_query(&section, &query);
		if (status == CLI_DONE && !*section.why.text)
			times[count++] = section.rtt_ns;
	}
	latency_put(&page->json, times, count, asked);
	return status;
}

/* Write the SM of this port, and all SMs that the SA returns. */
static int sms_put(struct page *page)
{
	struct page_json *json = &page->json;
	struct ibsa_port_state own;
	unsigned int number;
	size_t node;
	const int status = own_port_get(page->cli, &own);

	if (status != CLI_DONE)
		return status;
	page_open(json, "sm", '{');
	page_number(json, "lid", own.sm_lid);
	if (ibsa_topology_lid_find(page->check.topology, own.sm_lid, &node,
				   &number) == 0)
		page_number(json, "node", node);
	else
		page_null(json, "node");
	page_open(json, "list", '[');
	for (size_t i = 0; i < page->check.sm_count; i++) {
		const struct ibsa_sm_info *sm = &page->check.sms[i];

		page_open(json, NULL, '{');
		page_hex(json, "guid", sm->guid, 16);
		port_index_put(json, "port",
			       page_port_find_guid(page, sm->guid));
		field_put(json, &ibsa_sm_info_record, "sm_state", sm);
		page_number(json, "priority", sm->priority);
		page_number(json, "act_count", sm->act_count);
		page_close(json, '}');
	}
	page_close(json, ']');
	if (*page->check.no_sms.text)
		page_text(json, "why", page->check.no_sms.text);
	page_close(json, '}');
	return CLI_DONE;
}

static void paths_use(struct section *section, const struct ibsa_reply *reply)
{
	struct page *page = section->page;
	struct ibsa_path path;
	size_t index;

	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) != 0)
			continue;
		index = page_port_find_guid(page, fields_gid_guid(&path.dgid));
		if (index != SIZE_MAX)
			page_number(&page->json, NULL, index);
	}
}

/* Write the ports to which this port has a path in a partition. */
static int partition_ports_put(struct page *page, const struct ibsa_gid *own,
			       uint16_t pkey, struct ibsa_error *why)
{
	const struct ibsa_path match = {
		.sgid = *own,
		.pkey = pkey,
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(pkey) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct section section = { .page = page, .use = paths_use };
	const int status = section_query(&section, &query);

	*why = section.why;
	return status;
}

/* Write the ports to which this port has a path. */
static void all_ports_put(struct page *page)
{
	for (size_t i = 0; i < page->check.path_count; i++) {
		const size_t index =
			page_port_find_guid(page, page->check.paths[i].guid);

		if (index != SIZE_MAX)
			page_number(&page->json, NULL, index);
	}
}

/*
 * Write a partition of this port, with the ports to which it has a path in it.
 * @is_only: there is no other, so that all paths are in it.
 */
static int own_partition_put(struct page *page, const struct ibsa_gid *own,
			     uint16_t pkey, bool is_only)
{
	struct ibsa_error why = { .text = "" };
	int status = CLI_DONE;

	page_open(&page->json, NULL, '{');
	page_hex(&page->json, "pkey", pkey & (PKEYS - 1U), 4);
	page_text(&page->json, "member",
		  pkey & PKEY_MEMBER ? "full" : "limited");
	page_open(&page->json, "ports", '[');
	if (is_only && page->check.path_count)
		all_ports_put(page);
	else
		status = partition_ports_put(page, own, pkey, &why);
	page_close(&page->json, ']');
	if (*why.text) {
		complain("page: the SA did not return the paths with the P_Key "
			 "0x%04x: %s",
			 pkey, why.text);
		page_text(&page->json, "why", why.text);
	}
	page_close(&page->json, '}');
	return status;
}

/*
 * Write the partitions of this port: all that the page has about partitions if
 * the SA does not return the P_Key tables of other ports.
 */
static int own_partitions_put(struct page *page)
{
	uint16_t pkeys[OWN_PARTITIONS];
	struct ibsa_gid own;
	uint16_t pkey;
	size_t count = 0;
	int status = own_gid_get(page->cli, &own);

	page_open(&page->json, "own_partitions", '[');
	for (uint32_t i = 0; count < OWN_PARTITIONS &&
			     ibsa_pkey_get(page->cli->client, i, &pkey) == 0;
	     i++)
		if (pkey & (PKEYS - 1))
			pkeys[count++] = pkey;
	for (size_t i = 0; i < count && status == CLI_DONE; i++)
		status = own_partition_put(page, &own, pkeys[i], count == 1);
	page_close(&page->json, ']');
	return status;
}

int page_records(struct page *page)
{
	int status = sms_put(page);

	if (status == CLI_DONE)
		status = latency_measure(page);
	if (status == CLI_DONE)
		status = table_put(page, "partitions", &ibsa_pkey_table_record,
				   partitions_use);
	if (status == CLI_DONE)
		status = own_partitions_put(page);
	if (status == CLI_DONE)
		status = table_put(page, "services", &ibsa_service_record,
				   services_use);
	if (status == CLI_DONE)
		status = table_put(page, "groups", &ibsa_mcmember_record,
				   groups_use);
	return status;
}
