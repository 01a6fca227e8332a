/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the roles of a host's ports. A host with GPUs may have eight or more
 * adapters for applications, other adapters for storage, ports without a cable,
 * and ports by which NVIDIA's NVLink switches are managed.
 *
 * Source: NVIDIA, Fabric Manager User Guide: the VPD of an adapter that manages
 * NVLink switches has the text SW_MNG. Only root can read a VPD.
 */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_read.h"
#include "base/rate.h"
#include "names/roles.h"
#include "output/fields.h"

#define ROLES_FILE "/etc/ibsa/roles.conf"

enum { ROLES_WHY = 160 };

static const char *const names[] = {
	[ROLE_COMPUTE] = "compute",
	[ROLE_STORAGE] = "storage",
	[ROLE_MANAGEMENT] = "management",
	[ROLE_UNCABLED] = "uncabled",
};

/* The kinds of evidence for a role, and their texts. */
/* clang-format off */
#define EVIDENCES(E, role)						\
	E(BY_FILE,   role, "the file of roles has it")			\
	E(BY_CLASS,  role, "its PCI class is that of a bridge")		\
	E(BY_VPD,    role, "its VPD has the text SW_MNG")		\
	E(BY_RATE,   role, "ports of its rate have the highest rate in "	\
			   "total")					\
	E(BY_BOARD,  role, "it is slower than most ports, but of their "	\
			   "subnet and board")				\
	E(BY_OTHER,  role, "ports of another rate or link layer have "	\
			   "the highest rate in total")			\
	E(BY_SUBNET, role, "its subnet has fewer ports of its rate than "	\
			   "the other")					\
	E(BY_PAST,   role, "it was up, as its LID or its counters show")	\
	E(BY_NONE,   role, "it is down, and neither its LID nor its "	\
			   "counters show that it was up")		\
	E(BY_PEERS,  role, "the hosts like this one have this rail")	\
	E(BY_LEAF,   role, "at least half of the other ports at its leaf "	\
			   "switch are of hosts with few ports, unlike at "	\
			   "those of most ports of this host")
/* clang-format on */

#define EVIDENCE_NAME(by, role, text) by,
enum evidence { EVIDENCES(EVIDENCE_NAME, ) EVIDENCE_COUNT };

#define EVIDENCE_TEXT(by, role, text) "its role is " role ": " text,
#define ROLE_TEXTS(role)                       \
	{                                      \
		EVIDENCES(EVIDENCE_TEXT, role) \
	}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *role_name(enum port_role role)
{
	return (size_t)role < COUNT(names) ? names[role] : NULL;
}

static enum port_role role_parse(const char *text)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i] && strcmp(names[i], text) == 0)
			return (enum port_role)i;
	return ROLE_UNKNOWN;
}

static void role_set(struct machine_port *port, enum port_role role,
		     enum evidence by)
{
	static const char *const texts[][EVIDENCE_COUNT] = {
		[ROLE_COMPUTE] = ROLE_TEXTS("compute"),
		[ROLE_STORAGE] = ROLE_TEXTS("storage"),
		[ROLE_MANAGEMENT] = ROLE_TEXTS("management"),
		[ROLE_UNCABLED] = ROLE_TEXTS("uncabled"),
	};

	port->role = role;
	port->role_reason = texts[role][by];
}

void role_set_by_peers(struct machine_port *port)
{
	role_set(port, ROLE_COMPUTE, BY_PEERS);
}

void role_set_by_leaf(struct machine_port *port)
{
	role_set(port, ROLE_STORAGE, BY_LEAF);
}

/* Give a role to the ports of the devices whose names match; the first wins. */
static void role_give(struct machine_port *ports, size_t count,
		      enum port_role role, const char *pattern)
{
	for (size_t i = 0; i < count; i++) {
		if (ports[i].is_role_given ||
		    fnmatch(pattern, ports[i].device, 0))
			continue;
		role_set(&ports[i], role, BY_FILE);
		ports[i].is_role_given = true;
	}
}

/*
 * A line has a role and patterns of device names; # begins a comment. Return:
 * NULL; or what is wrong with the line.
 */
static const char *line_use(char *line, struct machine_port *ports,
			    size_t count, char why[ROLES_WHY])
{
	static const char blanks[] = " \t\r\n";
	char *rest = NULL;
	const char *word;
	enum port_role role;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, blanks, &rest);
	if (!word)
		return NULL;
	role = role_parse(word);
	if (!role) {
		char text[IBSA_VALUE_TEXT];

		snprintf(why, ROLES_WHY,
			 "'%.40s' is not a role: use compute, storage, "
			 "management or uncabled",
			 fields_clean(word, text));
		return why;
	}
	word = strtok_r(NULL, blanks, &rest);
	if (!word)
		return "after the role, there is no name of a device";
	for (; word; word = strtok_r(NULL, blanks, &rest))
		role_give(ports, count, role, word);
	return NULL;
}

static int lines_use(struct lines *lines, const char *path,
		     struct machine_port *ports, size_t count)
{
	char room[ROLES_WHY];
	const char *why;
	char *line;

	while ((line = lines_next(lines, &why))) {
		if (!why)
			why = line_use(line, ports, count, room);
		if (why)
			return fail_usage("%s, line %lu: %s", path,
					  lines->number, why);
	}
	return CLI_DONE;
}

static int file_use(struct machine_port *ports, size_t count)
{
	const char *own = secure_getenv("IBSA_ROLES");
	const char *path = own && *own ? own : ROLES_FILE;
	struct lines lines;
	int status;

	if (path != own && access(path, F_OK) != 0 &&
	    (errno == ENOENT || errno == ENOTDIR))
		return CLI_DONE;
	status = lines_open(&lines, "the roles of ports", path, 0);
	if (status != CLI_DONE)
		return status;
	status = lines_use(&lines, path, ports, count);
	lines_close(&lines);
	return status;
}

/*
 * Read a file of a device in sysfs. Return: the number of bytes; 0: it cannot
 * be read.
 */
static size_t device_read(const struct machine_port *port, const char *name,
			  char *out, size_t size)
{
	const char *root = secure_getenv("SYSFS_PATH");
	char path[PATH_MAX];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/%s",
		 root && *root ? root : "/sys", port->device, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(out, 1, size - 1, file);
	fclose(file);
	out[len] = '\0';
	return len;
}

/*
 * Set the role of a device that manages NVLink switches: its PCI class is that of
 * a bridge, or its VPD has a text that only such devices have.
 */
static void management_set(struct machine_port *port)
{
	static const char mark[] = "SW_MNG";
	char text[4096];
	size_t len = device_read(port, "device/class", text, sizeof(text));

	if (len && strncmp(text, "0x06", 4) == 0) {
		role_set(port, ROLE_MANAGEMENT, BY_CLASS);
		return;
	}
	len = device_read(port, "device/vpd", text, sizeof(text));
	if (len && memmem(text, len, mark, strlen(mark)))
		role_set(port, ROLE_MANAGEMENT, BY_VPD);
}

static bool has_counted(const struct machine_port *port, const char *counter)
{
	char name[128];
	char text[32];

	snprintf(name, sizeof(name), "ports/%u/counters/%s", port->number,
		 counter);
	return device_read(port, name, text, sizeof(text)) &&
	       strtoull(text, NULL, 10) > 0;
}

static bool is_up(const struct machine_port *port)
{
	return !port->err && port->state.port_state != IBSA_PORT_DOWN &&
	       port->state.port_state != 0;
}

/*
 * Whether the port is down and has a LID: the SM assigned it while the port was
 * up.
 */
static bool has_lid(const struct machine_port *port)
{
	return !port->err && !is_up(port) && port->state.lid &&
	       port->state.lid <= IBSA_LID_UNICAST_MAX;
}

static void local_facts(struct machine_port *ports, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct machine_port *port = &ports[i];

		if (!port->role)
			management_set(port);
		port->was_up |= !is_up(port) &&
				(has_counted(port, "link_downed") ||
				 has_counted(port, "port_rcv_data") ||
				 has_counted(port, "port_xmit_data"));
	}
}

static unsigned int tenths_of(const struct machine_port *port)
{
	unsigned int tenths = 0;

	if (port->rate)
		(void)rate_of_port(port->rate, &tenths);
	return tenths;
}

static bool is_same_kind(const struct machine_port *a,
			 const struct machine_port *b)
{
	return a->state.link == b->state.link && tenths_of(a) == tenths_of(b);
}

/*
 * Two subnets may both have the default GID prefix, so the LIDs of their SMs
 * are compared, too.
 */
static bool is_same_subnet(const struct machine_port *a,
			   const struct machine_port *b)
{
	return memcmp(&a->state.gid, &b->state.gid,
		      sizeof(a->state.gid.raw) / 2) == 0 &&
	       (a->state.sm_lid == b->state.sm_lid || !a->state.sm_lid ||
		!b->state.sm_lid);
}

/* The sum of the rates of the ports of the kind of @model. */
static uint64_t kind_rate(const struct machine_port *ports, size_t count,
			  const struct machine_port *model)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (!ports[i].role && is_up(&ports[i]) &&
		    is_same_kind(&ports[i], model))
			sum += 1 + tenths_of(model);
	return sum;
}

/*
 * Return: a port of that kind of ports which have the highest sum of rates;
 * NULL: no port without a role is up.
 */
static const struct machine_port *compute_find(const struct machine_port *ports,
					       size_t count)
{
	const struct machine_port *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t rate;

		if (ports[i].role || !is_up(&ports[i]))
			continue;
		rate = kind_rate(ports, count, &ports[i]);
		if (rate > most)
			best = &ports[i];
		most = rate > most ? rate : most;
	}
	return best;
}

/*
 * Whether the ports of the kind of @model are in two subnets, and that of
 * @model has fewer of them. The ports of this subnet are then for storage,
 * although they have the rate of those for applications. Ports in more than two
 * subnets are rails that have a subnet each.
 */
static bool is_in_smaller_subnet(const struct machine_port *ports, size_t count,
				 const struct machine_port *model)
{
	const struct machine_port *other = NULL;
	size_t own = 0;
	size_t others = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_up(&ports[i]) || !is_same_kind(&ports[i], model))
			continue;
		if (is_same_subnet(&ports[i], model)) {
			own++;
			continue;
		}
		if (other && !is_same_subnet(&ports[i], other))
			return false;
		other = &ports[i];
		others++;
	}
	return own < others;
}

/*
 * Set the role of a port that is up: it is of the kind of @model, or should be:
 * its link runs slower, but it is in the same subnet, and its board is not
 * another; or it is for storage.
 */
static void up_role_set(const struct machine_port *ports, size_t count,
			struct machine_port *port,
			const struct machine_port *model)
{
	if (is_same_kind(port, model)) {
		if (is_in_smaller_subnet(ports, count, port))
			role_set(port, ROLE_STORAGE, BY_SUBNET);
		else
			role_set(port, ROLE_COMPUTE, BY_RATE);
		return;
	}
	if (port->state.link == model->state.link &&
	    is_same_subnet(port, model) &&
	    (!port->board || !model->board ||
	     strcmp(port->board, model->board) == 0))
		role_set(port, ROLE_COMPUTE, BY_BOARD);
	else
		role_set(port, ROLE_STORAGE, BY_OTHER);
}

/*
 * Return: the role of a port that is down: that of a port that is up on the
 * same kind of board, otherwise ROLE_COMPUTE.
 */
static enum port_role down_role(const struct machine_port *ports, size_t count,
				const struct machine_port *port)
{
	for (size_t i = 0; i < count && port->board && *port->board; i++)
		if (ports[i].board && is_up(&ports[i]) &&
		    strcmp(ports[i].board, port->board) == 0)
			return ports[i].role;
	return ROLE_COMPUTE;
}

int roles_find(struct machine_port *ports, size_t count, bool is_local)
{
	const struct machine_port *compute;
	int status = file_use(ports, count);
	struct machine_port model;

	if (status != CLI_DONE)
		return status;
	for (size_t i = 0; i < count; i++)
		ports[i].was_up = has_lid(&ports[i]);
	if (is_local)
		local_facts(ports, count);
	compute = compute_find(ports, count);
	if (compute)
		model = *compute;
	for (size_t i = 0; i < count && compute; i++)
		if (!ports[i].role && is_up(&ports[i]))
			up_role_set(ports, count, &ports[i], &model);
	/* If no port is up, there is no evidence for which of them should be. */
	for (size_t i = 0; i < count && compute; i++) {
		struct machine_port *port = &ports[i];

		if (port->role || port->err)
			continue;
		if (port->was_up)
			role_set(port, down_role(ports, count, port), BY_PAST);
		else
			role_set(port, ROLE_UNCABLED, BY_NONE);
	}
	return CLI_DONE;
}
