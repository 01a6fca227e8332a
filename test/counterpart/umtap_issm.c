/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of the preload that makes Reports arrive. ibsim delivers a request
 * to QP 1 only to a client that has set the IsSM bit. OpenSM then queries that
 * client's SMInfo, and waits for the answer forever; and ibsim's library
 * crashes on a class without an agent. So if UMTAP_ISSM is set, this preload
 * registers the classes, then sets the bit by opening the issm device, and
 * answers SMInfo without the program.
 *
 * Source: IBA vol 1, 14.2.5.13 (SMInfo), 14.2.1.2 (directed route).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "umad/header.h"
#include "test/counterpart/umtap.h"
#include "wire/mad.h"

enum {
	CLASS_LID_ROUTED = 0x01,
	CLASS_DIRECTED = 0x81,
	DATA_AT = 64,
	DATA_BYTES = 64,
	METHOD_GET_RESP = 0x81,
	DIRECTION = 0x80, /* of a directed route: return direction */
	SM_KEY_LAST = DATA_AT + 15,
	SM_KEY = 1, /* OpenSM's default */
};

static bool is_wanted(void)
{
	return getenv("UMTAP_ISSM") != NULL;
}

static void classes_register(int (*next)(int, unsigned long, ...), int fd)
{
	const uint8_t classes[] = { CLASS_LID_ROUTED, CLASS_DIRECTED };

	for (size_t i = 0; i < sizeof(classes); i++) {
		struct umad_agent_request request = {
			.mgmt_class = classes[i],
			.mgmt_class_version = 1,
		};

		if (next(fd, UMAD_REGISTER_AGENT, &request) < 0)
			abort();
	}
	/* Left open: close() would clear the bit. */
	if (open("/dev/infiniband/issm0", O_NONBLOCK) < 0)
		abort();
}

/*
 * Replaces the C library's function. When the program has registered the first
 * agent of a file, register the agents for the two classes of SMPs as well.
 */
int ioctl(int fd, unsigned long command, ...)
{
	int (*next)(int, unsigned long, ...);
	struct umad_agent_request *request;
	va_list args;
	int result;

	va_start(args, command);
	request = va_arg(args, struct umad_agent_request *);
	va_end(args);
	*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	result = next(fd, command, request);
	if (!result && command == UMAD_REGISTER_AGENT && !request->id &&
	    is_wanted())
		classes_register(next, fd);
	return result;
}

/* Return: the port GUID, the second half of GID 0 in ibsim's copy of sysfs. */
static uint64_t port_guid(void)
{
	int fd = open("/sys/class/infiniband/ibsim0/ports/1/gids/0", O_RDONLY);
	unsigned int words[8] = { 0 };
	char text[64] = "";
	uint64_t guid = 0;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%x:%x:%x:%x:%x:%x:%x:%x", &words[0], &words[1],
		   &words[2], &words[3], &words[4], &words[5], &words[6],
		   &words[7]) != 8)
		abort();
	close(fd);
	for (int i = 4; i < 8; i++)
		guid = guid << 16 | words[i];
	return guid;
}

/*
 * Turn an SMP, which is taken for a request for SMInfo, into a response of an
 * inactive SM with the lowest priority. Return: false: @packet is not an SMP,
 * or UMTAP_ISSM is not set.
 */
bool umtap_issm_answer(void *packet)
{
	struct umad_header *header = packet;
	uint8_t *mad = (uint8_t *)packet + UMAD_HEADER_BYTES;
	const bool is_directed = mad[MAD_CLASS] == CLASS_DIRECTED;

	if (!is_wanted() ||
	    (!is_directed && mad[MAD_CLASS] != CLASS_LID_ROUTED))
		return false;
	mad[MAD_METHOD] = METHOD_GET_RESP;
	memset(mad + DATA_AT, 0, DATA_BYTES);
	ibsa_put_be64(mad + DATA_AT, port_guid());
	mad[SM_KEY_LAST] = SM_KEY;
	if (is_directed) {
		mad[MAD_STATUS] |= DIRECTION;
		memset(&header->lid, 0xff, sizeof(header->lid));
	}
	header->qpn = 0;
	header->qkey = 0;
	header->timeout_ms = 0;
	return true;
}
