/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Findings about rails, the ports of adapters of hosts with several adapters:
 * each host is compared with the hosts like it. The description of an adapter
 * is "HOST ADAPTER".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean.h"
#include "common/host.h"
#include "base/alloc.h"
#include "topology/rails.h"

static int names_order(const void *a, const void *b)
{
	const struct rail *x = a;
	const struct rail *y = b;
	const int order = strcmp(x->adapter, y->adapter);

	return order ? order : x->number - y->number;
}

int ibsa__rails_host_order(const struct rail *a, const struct rail *b)
{
	const size_t a_len = strcspn(a->host, " ");
	const size_t b_len = strcspn(b->host, " ");
	const int order = memcmp(a->host, b->host,
				 a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int rails_order(const void *a, const void *b)
{
	const struct rail *x = a;
	const struct rail *y = b;
	const int order = ibsa__rails_host_order(x, y);

	if (order)
		return order;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/* Return: whether the rails are of one host and have the same name. */
static bool rails_are_same(const struct rail *a, const struct rail *b)
{
	return a->name == b->name && !ibsa__rails_host_order(a, b);
}

/* Add the ports of a node, if its description is "HOST ADAPTER". */
static void node_collect(struct audit *audit, uint32_t index)
{
	const struct ibsa_topology *now = audit->check->now;
	const struct graph_node *node = &now->nodes[index];
	const char *host = now->names + node->name;
	const char *adapter = ibsa__host_device(host);

	if (node->type != IBSA_NODE_CA || *host == ' ' || !*adapter ||
	    strchr(adapter, ' '))
		return;
	for (uint32_t i = node->first_port; i < node_ports_end(now, index); i++)
		audit->rails[audit->rail_count++] = (struct rail){
			.host = host,
			.adapter = adapter,
			.port = i,
			.number = now->ports[i].number,
		};
}

/* Number the names of the rails, and sort the rails by host and name. */
static void rails_sort(struct audit *audit)
{
	struct rail *rails = audit->rails;
	uint32_t count = 0;

	qsort(rails, audit->rail_count, sizeof(*rails), names_order);
	for (uint32_t i = 0; i < audit->rail_count; i++) {
		if (i && names_order(&rails[i - 1], &rails[i]))
			audit->name_count++;
		rails[i].name = audit->name_count;
	}
	audit->name_count++;
	qsort(rails, audit->rail_count, sizeof(*rails), rails_order);
	for (uint32_t i = 0; i < audit->rail_count; i++) {
		if (!count || !rails_are_same(&rails[count - 1], &rails[i]))
			rails[count++] = rails[i];
	}
	audit->rail_count = count;
}

/*
 * Whether the SA has returned the PortInfo of some ports of a switch, but not of
 * all.
 */
static bool switch_is_partial(const struct ibsa_topology *now, uint32_t index)
{
	const uint32_t first = now->nodes[index].first_port;
	unsigned int shown = 0;

	if (!node_is_switch(now, index))
		return false;
	for (uint32_t i = first; i < node_ports_end(now, index); i++)
		shown += port_is_returned(&now->ports[i]);
	return shown && shown < now->nodes[index].port_count;
}

/* Whether the SA hides ports, as those of other partitions. */
static bool topology_is_partial(const struct ibsa_topology *now)
{
	bool is_partial = now->info.hidden || now->info.unmatched;

	for (uint32_t i = 0; i < now->node_count && !is_partial; i++)
		is_partial = switch_is_partial(now, i);
	return is_partial;
}

static int audit_open(struct audit *audit)
{
	const struct ibsa_topology *now = audit->check->now;

	audit->is_partial = topology_is_partial(now);
	audit->rails = ibsa__calloc(now->port_count + 1u,
				    sizeof(*audit->rails));
	if (!audit->rails)
		return -ENOMEM;
	for (uint32_t i = 0; i < now->node_count; i++)
		node_collect(audit, i);
	rails_sort(audit);
	audit->traits = ibsa__calloc(audit->rail_count + 1u,
				     sizeof(*audit->traits));
	audit->hosts = ibsa__calloc(audit->rail_count + 1u,
				    sizeof(*audit->hosts));
	return audit->traits && audit->hosts ? 0 : -ENOMEM;
}

static void audit_close(struct audit *audit)
{
	ibsa__free(audit->rails);
	ibsa__free(audit->traits);
	ibsa__free(audit->hosts);
	ibsa__free(audit->told);
}

/*
 * What of the rails is compared. trait() sets the mark and the lower half of
 * the id, whose upper half is the rail's name, and returns false if the rail
 * is not compared.
 */
struct comparison {
	uint32_t (*marks)(const struct audit *audit);
	bool (*trait)(const struct audit *audit, uint32_t rail,
		      struct trait *out);
	peer_lack_fn report;
};

static uint32_t name_of(const struct trait *trait)
{
	return (uint32_t)(trait->id >> 32);
}

/*
 * Set the traits of the rails from @first on that are of one host. Return: the
 * rail after them.
 */
static uint32_t host_add(struct audit *audit, const struct comparison *what,
			 uint32_t first, struct peer *out)
{
	struct trait *traits = &audit->traits[first];
	const struct rail *rails = audit->rails;
	uint32_t i = first;

	*out = (struct peer){ .traits = traits };
	for (; i < audit->rail_count &&
	       !ibsa__rails_host_order(&rails[first], &rails[i]);
	     i++) {
		struct trait *trait = &traits[out->count];

		*trait = (struct trait){ .owner = i };
		if (!what->trait(audit, i, trait))
			continue;
		trait->id |= (uint64_t)rails[i].name << 32;
		out->count++;
	}
	return i;
}

/* Compare the hosts that have between two and PEER_TRAITS rails. */
static int rails_compare(struct audit *audit, const struct comparison *what)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < audit->rail_count;) {
		struct peer *host = &audit->hosts[count];

		i = host_add(audit, what, i, host);
		if (host->count >= 2 && host->count <= PEER_TRAITS)
			count++;
	}
	return ibsa__peers_compare(audit->hosts, count, what->marks(audit),
				   what->report, audit);
}

static uint32_t name_marks(const struct audit *audit)
{
	return audit->name_count;
}

static bool name_trait(const struct audit *audit, uint32_t rail,
		       struct trait *out)
{
	out->mark = audit->rails[rail].name;
	return true;
}

const char *ibsa__rails_host_text(const struct audit *audit, uint32_t rail,
				  char out[NAME_TEXT])
{
	const struct ibsa_topology *now = audit->check->now;

	ibsa__check_node_text(now, node_of(now, port_at(audit, rail)), out);
	out[strcspn(out, " ")] = '\0';
	return out;
}

const char *ibsa__rails_text(const struct audit *audit, uint32_t rail,
			     char out[PORT_TEXT])
{
	const struct rail *at = &audit->rails[rail];
	const char *text = at->adapter;
	char adapter[NAME_TEXT];

	ibsa__text_clean(&text, adapter, sizeof(adapter));
	if (at->number == 1)
		snprintf(out, PORT_TEXT, "%s", adapter);
	else
		snprintf(out, PORT_TEXT, "%s port %u", adapter, at->number);
	return out;
}

void ibsa__rails_missing_set(const struct audit *audit, uint32_t rail)
{
	struct ibsa_topology *now = audit->check->now;
	struct ibsa_finding *finding = &now->findings[now->finding_count - 1];

	/* Otherwise, there was no room for this finding. */
	if (finding->kind == IBSA_FINDING_RAIL_MISSING &&
	    !finding->missing_device) {
		finding->missing_device = audit->rails[rail].adapter;
		finding->missing_port = audit->rails[rail].number;
	}
}

static int told_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Whether the missing leaf switch of a rail was reported. */
static bool is_told(const struct audit *audit, const struct peer_lack *lack)
{
	const uint64_t key = (uint64_t)lack->peer->traits[0].owner << 32 |
			     name_of(lack->trait);

	return audit->told_count &&
	       bsearch(&key, audit->told, audit->told_count, sizeof(key),
		       told_order);
}

static int missing_report(const struct peer_lack *lack, void *arg)
{
	const struct audit *audit = arg;
	const struct ibsa_topology *now = audit->check->now;
	const uint32_t own = lack->peer->traits[0].owner;
	char host[NAME_TEXT];
	char rail[PORT_TEXT];
	int err;

	if (is_told(audit, lack))
		return 0;
	err = ibsa__check_finding_add(
		audit->check, IBSA_FINDING_RAIL_MISSING,
		node_of(now, port_at(audit, own))->guid, 0,
		"%s has no %s%s, but %u of %u hosts like it have",
		ibsa__rails_host_text(audit, own, host),
		ibsa__rails_text(audit, lack->trait->owner, rail),
		audit->is_partial ? ", or the SA does not show it" : "",
		lack->have, lack->peers);
	if (!err)
		ibsa__rails_missing_set(audit, lack->trait->owner);
	return err;
}

/* Return: the host's trait of the rail that @lack is about, or NULL. */
static const struct trait *own_trait(const struct peer_lack *lack)
{
	for (uint32_t i = 0; i < lack->peer->count; i++) {
		if (name_of(&lack->peer->traits[i]) == name_of(lack->trait))
			return &lack->peer->traits[i];
	}
	return NULL;
}

static uint32_t leaf_marks(const struct audit *audit)
{
	return audit->check->now->node_count;
}

static bool leaf_trait(const struct audit *audit, uint32_t rail,
		       struct trait *out)
{
	const struct ibsa_topology *now = audit->check->now;
	const uint32_t far = port_at(audit, rail)->far;

	if (far == TOPOLOGY_NONE || !node_is_switch(now, now->ports[far].node))
		return false;
	out->mark = now->ports[far].node;
	out->id = out->mark;
	return true;
}

static bool has_mark(const struct peer *host, uint32_t mark)
{
	for (uint32_t i = 0; i < host->count; i++) {
		if (host->traits[i].mark == mark)
			return true;
	}
	return false;
}

static int leaf_report(const struct peer_lack *lack, void *arg)
{
	const struct audit *audit = arg;
	const struct ibsa_topology *now = audit->check->now;
	const struct trait *own = own_trait(lack);
	const struct graph_port *port;
	char from[PORT_TEXT];
	char leaf[NAME_TEXT];
	char expected[NAME_TEXT];

	if (!own)
		return 0;
	port = port_at(audit, own->owner);
	return ibsa__check_finding_add(
		audit->check,
		has_mark(lack->other, own->mark) ? IBSA_FINDING_RAIL_CROSSED
						 : IBSA_FINDING_RAIL_APART,
		node_of(now, port)->guid, port->number,
		"%s is connected to %s, but %u of %u hosts like it to %s",
		ibsa__check_port_text(now, port, from),
		ibsa__check_node_text(now, &now->nodes[own->mark], leaf),
		lack->have, lack->peers,
		ibsa__check_node_text(now, &now->nodes[lack->trait->mark],
				      expected));
}

/* Numbers for the pairs of width and speed. */
enum { RATES = WIDTHS * SPEEDS };

static uint32_t rate_marks(const struct audit *audit)
{
	return audit->name_count * RATES;
}

static bool rate_trait(const struct audit *audit, uint32_t rail,
		       struct trait *out)
{
	const struct graph_port *port = port_at(audit, rail);
	const struct link_rate rate = port->is.rate;

	if (port->far == TOPOLOGY_NONE || !rate.width || !rate.speed)
		return false;
	out->id = rate.width * (unsigned int)SPEEDS + rate.speed;
	out->mark = audit->rails[rail].name * RATES + (uint32_t)out->id;
	return true;
}

static int rate_report(const struct peer_lack *lack, void *arg)
{
	const struct audit *audit = arg;
	const struct trait *own = own_trait(lack);
	const struct graph_port *port;
	struct link_rate most;
	char words[64];

	if (!own)
		return 0;
	port = port_at(audit, own->owner);
	most = port_at(audit, lack->trait->owner)->is.rate;
	if (!ibsa__check_is_slower(port->is.rate, most) ||
	    ibsa__check_is_degraded(audit->check, port))
		return 0;
	snprintf(words, sizeof(words), "but at %u of %u hosts like it at",
		 lack->have, lack->peers);
	return ibsa__check_rate_add(audit->check, IBSA_FINDING_RAIL_SLOW, port,
				    most, words);
}

int ibsa__check_rails(struct check *check)
{
	static const struct comparison comparisons[] = {
		{ name_marks, name_trait, missing_report },
		{ leaf_marks, leaf_trait, leaf_report },
		{ rate_marks, rate_trait, rate_report },
	};
	struct audit audit = { .check = check };
	int err = audit_open(&audit);

	if (!err)
		err = ibsa__rails_leaves(&audit);
	if (audit.told_count)
		qsort(audit.told, audit.told_count, sizeof(*audit.told),
		      told_order);
	for (size_t i = 0;
	     i < sizeof(comparisons) / sizeof(comparisons[0]) && !err; i++)
		err = rails_compare(&audit, &comparisons[i]);
	audit_close(&audit);
	return err;
}
