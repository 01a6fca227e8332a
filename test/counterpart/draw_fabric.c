/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates a random fabric, always the same one for a seed, as a topology file
 * on its standard output: a few connected switches, with more cables than a
 * tree needs, and adapters with one or two ports. usage: draw-fabric SEED
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"

enum {
	SWITCHES_MAX = 6,
	SWITCH_PORTS_MAX = 36,
	HOSTS_MAX = 16,
	HOST_PORTS = 2,
	CABLES_MAX = 128,
};

struct node {
	unsigned int ports;
	bool is_taken[SWITCH_PORTS_MAX + 1];
};

/* A cable from a port of a switch to a port of another switch or of a host. */
struct cable {
	unsigned int from;
	unsigned int from_port;
	unsigned int to;
	unsigned int to_port;
	bool is_to_host;
	const char *rate;
};

struct fabric {
	struct random dice;
	struct node switches[SWITCHES_MAX];
	struct node hosts[HOSTS_MAX];
	struct cable cables[CABLES_MAX];
	unsigned int switch_count;
	unsigned int host_count;
	unsigned int cable_count;
	const char *trunk; /* the rate between switches */
};

static unsigned int roll(struct fabric *fabric, unsigned int ends)
{
	return (unsigned int)random_below(&fabric->dice, ends);
}

static const char *any_rate(struct fabric *fabric)
{
	static const char *const rates[] = {
		"1xSDR", "4xSDR", "4xDDR", "12xDDR", "4xQDR", "8xQDR",
		"1xFDR", "4xFDR", "4xEDR", "1xEDR",  "4xHDR", "1xQDR",
	};

	return rates[roll(fabric, sizeof(rates) / sizeof(rates[0]))];
}

/* Return: a random free port of the node; 0: it has none. */
static unsigned int take_port(struct fabric *fabric, struct node *node)
{
	unsigned int port = 1 + roll(fabric, node->ports);

	for (unsigned int i = 0; i < node->ports; i++) {
		if (!node->is_taken[port]) {
			node->is_taken[port] = true;
			return port;
		}
		port = port % node->ports + 1;
	}
	return 0;
}

static void add_cable(struct fabric *fabric, const struct cable *cable)
{
	if (fabric->cable_count == CABLES_MAX || !cable->from_port ||
	    !cable->to_port)
		return;
	fabric->cables[fabric->cable_count] = *cable;
	fabric->cables[fabric->cable_count++].rate = cable->is_to_host
							     ? any_rate(fabric)
							     : fabric->trunk;
}

static void join_switches(struct fabric *fabric, unsigned int a, unsigned int b)
{
	if (a == b)
		return;
	add_cable(fabric,
		  &(struct cable){
			  .from = a,
			  .from_port = take_port(fabric, &fabric->switches[a]),
			  .to = b,
			  .to_port = take_port(fabric, &fabric->switches[b]),
		  });
}

static void join_host(struct fabric *fabric, unsigned int host,
		      unsigned int port)
{
	const unsigned int at = roll(fabric, fabric->switch_count);

	add_cable(fabric,
		  &(struct cable){
			  .from = at,
			  .from_port = take_port(fabric, &fabric->switches[at]),
			  .to = host,
			  .to_port = port,
			  .is_to_host = true,
		  });
}

static void draw_switches(struct fabric *fabric)
{
	static const unsigned int sizes[] = { 12, 18, 24, 36 };

	/*
	 * All cables between switches have one rate, so that paths do not
	 * depend on the routes that an SM has chosen.
	 */
	fabric->trunk = any_rate(fabric);
	fabric->switch_count = 1 + roll(fabric, SWITCHES_MAX);
	for (unsigned int i = 0; i < fabric->switch_count; i++)
		fabric->switches[i].ports = sizes[roll(fabric, 4)];
	/* First a tree, then cables that make loops and parallel links. */
	for (unsigned int i = 1; i < fabric->switch_count; i++)
		join_switches(fabric, i, roll(fabric, i));
	for (unsigned int i = roll(fabric, 2 * SWITCHES_MAX); i; i--)
		join_switches(fabric, roll(fabric, fabric->switch_count),
			      roll(fabric, fabric->switch_count));
}

/*
 * Draw the hosts. The first two are connected by their first port, because the
 * test's programs run there.
 */
static void draw_hosts(struct fabric *fabric)
{
	fabric->host_count = 2 + roll(fabric, HOSTS_MAX - 1);
	for (unsigned int i = 0; i < fabric->host_count; i++) {
		const unsigned int which = 1 + roll(fabric, 3);

		fabric->hosts[i].ports = 1 + roll(fabric, HOST_PORTS);
		if (i < 2 || which & 1 || fabric->hosts[i].ports == 1)
			join_host(fabric, i, 1);
		if (which & 2 && fabric->hosts[i].ports == 2)
			join_host(fabric, i, 2);
	}
}

static void print_cables(const struct fabric *fabric, unsigned int from)
{
	for (unsigned int i = 0; i < fabric->cable_count; i++) {
		const struct cable *cable = &fabric->cables[i];

		if (cable->from == from)
			printf("[%u]\t\"%s%u\"[%u]\t# %s\n", cable->from_port,
			       cable->is_to_host ? "host" : "switch",
			       cable->to + 1, cable->to_port, cable->rate);
	}
}

int main(int argc, char **argv)
{
	static struct fabric fabric;

	if (argc != 2) {
		fprintf(stderr, "usage: draw-fabric SEED\n");
		return EXIT_FAILURE;
	}
	fabric.dice.state = strtoull(argv[1], NULL, 0);
	draw_switches(&fabric);
	draw_hosts(&fabric);
	printf("# seed %s\n", argv[1]);
	for (unsigned int i = 0; i < fabric.switch_count; i++) {
		printf("\nSwitch\t%u \"switch%u\"\n", fabric.switches[i].ports,
		       i + 1);
		print_cables(&fabric, i);
	}
	putchar('\n');
	for (unsigned int i = 0; i < fabric.host_count; i++)
		printf("Ca\t%u \"host%u\"\n", fabric.hosts[i].ports, i + 1);
	return EXIT_SUCCESS;
}
