/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of methods, statuses, MTUs, rates, node types and states. */
#include <ibsa/types.h>

#include "base/letter.h"
#include "text/code.h"
#include "common/text.h"

/* clang-format off */

/*
 * The MTU codes: code and number of bytes. IBA vol 1, 14.2.5.6; codes 6 and 7
 * are Omni-Path's.
 */
#define MTUS(M)		\
	M(1, 256)	\
	M(2, 512)	\
	M(3, 1024)	\
	M(4, 2048)	\
	M(5, 4096)	\
	M(6, 8192)	\
	M(7, 10240)

/*
 * The rate codes: code, nominal Gb/s, exact Mb/s. The codes are not in the
 * order of the rates. Source: IBA vol 1, 15.2.5.16; Linux
 * include/rdma/ib_verbs.h for code 25.
 */
#define RATES(R)		\
	R(2,  "2.5",    2500)	\
	R(3,  "10",    10000)	\
	R(4,  "30",    30000)	\
	R(5,  "5",      5000)	\
	R(6,  "20",    20000)	\
	R(7,  "40",    40000)	\
	R(8,  "60",    60000)	\
	R(9,  "80",    80000)	\
	R(10, "120",  120000)	\
	R(11, "14",    14062)	\
	R(12, "56",    56250)	\
	R(13, "112",  112500)	\
	R(14, "168",  168750)	\
	R(15, "25",    25781)	\
	R(16, "100",  103125)	\
	R(17, "200",  206250)	\
	R(18, "300",  309375)	\
	R(19, "28",    28125)	\
	R(20, "50",    53125)	\
	R(21, "400",  425000)	\
	R(22, "600",  637500)	\
	R(23, "800",  850000)	\
	R(24, "1200", 1275000)	\
	R(25, "1600", 1700000)

#define NODE_TYPES(N)				\
	N(IBSA_NODE_CA,     "CA")		\
	N(IBSA_NODE_SWITCH, "switch")		\
	N(IBSA_NODE_ROUTER, "router")

#define PORT_STATES(N)				\
	N(IBSA_PORT_DOWN,   "Down")		\
	N(IBSA_PORT_INIT,   "Init")		\
	N(IBSA_PORT_ARMED,  "Armed")		\
	N(IBSA_PORT_ACTIVE, "Active")

/* IBA vol 1, 14.2.5.6. */
#define PHYS_STATES(N)				\
	N(1, "Sleep")				\
	N(2, "Polling")				\
	N(3, "Disabled")			\
	N(4, "Training")			\
	N(5, "LinkUp")				\
	N(6, "LinkErrorRecovery")		\
	N(7, "PhyTest")

/* IBA vol 1, 14.2.5.13. */
#define SM_STATES(N)				\
	N(0, "NotActive")			\
	N(1, "Discovering")			\
	N(2, "Standby")				\
	N(3, "Master")

/* clang-format on */

/* With the second NUL, a name that is too long for its array does not compile. */
#define MTU_TEXT(code, bytes) [code] = #bytes "\0",
#define MTU_BYTES(code, bytes) [code] = bytes,
#define RATE_TEXT(code, gbps, mbps) [code] = gbps "Gb/s\0",
#define RATE_MBPS(code, gbps, mbps) [code] = mbps,
#define NAME(code, text) [code] = text "\0",

/*
 * Arrays of characters instead of pointers, which would have to be relocated in
 * each process. A code without a name has an empty name.
 */
static const char mtu_texts[][sizeof("10240")] = { MTUS(MTU_TEXT) };
static const uint16_t mtu_bytes[] = { MTUS(MTU_BYTES) };
static const char rate_texts[][sizeof("1200Gb/s")] = { RATES(RATE_TEXT) };
static const uint32_t rate_mbps[] = { RATES(RATE_MBPS) };
static const char node_types[][sizeof("switch")] = { NODE_TYPES(NAME) };
static const char port_states[][sizeof("Active")] = { PORT_STATES(NAME) };
static const char phys_states[][sizeof("LinkErrorRecovery")] = { PHYS_STATES(
	NAME) };
static const char sm_states[][sizeof("Discovering")] = { SM_STATES(NAME) };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define LIST(kind, list)                                 \
	[IBSA_SHOW_##kind] = { .names = *(list),         \
			       .bytes = sizeof(*(list)), \
			       .count = COUNT(list) },

/* clang-format off */

/* The list of names for each kind of code; the index is the kind. */
static const struct list {
	const char *names;
	uint8_t bytes; /* from one name to the next */
	uint8_t count;
} lists[] = {
	LIST(mtu, mtu_texts)
	LIST(rate, rate_texts)
	LIST(node_type, node_types)
	LIST(port_state, port_states)
	LIST(phys_state, phys_states)
	LIST(sm_state, sm_states)
};

/* clang-format on */

/* Name of the lease value of a service that does not expire. */
static const char endless[] = "infinite";

/* Return: the name of @code, which is below the count of @list; or NULL. */
static const char *list_name(const struct list *list, uint64_t code)
{
	const char *name = list->names + code * list->bytes;

	return *name ? name : NULL;
}

bool ibsa_show_is_code(enum ibsa_show show)
{
	return show < COUNT(lists) && lists[show].names;
}

const char *ibsa_code_name(enum ibsa_show show, uint64_t code)
{
	if (show == IBSA_SHOW_lease)
		return code == IBSA_LEASE_INFINITE ? endless : NULL;
	if (show >= COUNT(lists) || code >= lists[show].count)
		return NULL;
	return list_name(&lists[show], code);
}

/*
 * Whether @text is the code's name, or, for a rate, the name without its end
 * "/s".
 */
static bool is_name(enum ibsa_show show, const char *name, const char *text)
{
	const size_t len = strlen(text);

	if (letters_are_same(name, text))
		return true;
	while (show == IBSA_SHOW_rate && *text &&
	       letter_lower(*name) == letter_lower(*text)) {
		name++;
		text++;
	}
	return len > 0 && !*text && strcmp(name, "/s") == 0;
}

bool ibsa__code_find(uint8_t show, const char *text, uint64_t *out)
{
	const struct list *list;

	if (show == IBSA_SHOW_lease && letters_are_same(endless, text)) {
		*out = IBSA_LEASE_INFINITE;
		return true;
	}
	if (show >= COUNT(lists))
		return false;
	list = &lists[show];
	for (size_t code = 0; code < list->count; code++) {
		const char *name = list_name(list, code);

		if (!name || !is_name(show, name, text))
			continue;
		*out = code;
		return true;
	}
	return false;
}

unsigned int ibsa_mtu_bytes(uint8_t code)
{
	return code < COUNT(mtu_bytes) ? mtu_bytes[code] : 0;
}

unsigned int ibsa_rate_mbps(uint8_t code)
{
	return code < COUNT(rate_mbps) ? rate_mbps[code] : 0;
}

#define CASE(name, value, text) \
	case value:             \
		return text;

const char *ibsa_status_text(uint16_t status)
{
	switch (status) {
		IBSA_STATUSES(CASE)
	default:
		return "unknown status";
	}
}

const char *ibsa_method_name(enum ibsa_method method)
{
	switch (method) {
		IBSA_METHODS(CASE)
	default:
		return NULL;
	}
}
