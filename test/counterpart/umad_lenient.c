/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: umad-lenient DEVICE
 *
 * Makes calls that libibumad's pages do not allow, but libibumad accepts. The
 * output is the same with rdma-core's libibumad and with ibsa's.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>

enum { VENDOR = 0x0a, VENDOR_OUI = 0x33, SA = 3 };

static void register2(int portid, uint8_t mgmt_class, uint32_t oui)
{
	struct umad_reg_attr attr = {
		.mgmt_class = mgmt_class,
		.mgmt_class_version = mgmt_class == SA ? 2 : 1,
		.oui = oui,
	};
	uint32_t agent = UINT32_MAX;
	const int result = umad_register2(portid, &attr, &agent);

	printf("register2 class 0x%02x oui 0x%08x: %d, agent %d\n", mgmt_class,
	       oui, result, (int)agent);
	if (!result)
		printf("unregister: %d\n", umad_unregister(portid, (int)agent));
}

/*
 * Register agents with a struct whose OUI was never set, for classes with and
 * without an OUI.
 */
static void ouis(const char *device)
{
	const int portid = umad_open_port(device, 1);

	printf("open: %d\n", portid < 0);
	register2(portid, VENDOR, 0xdeadbeef);
	register2(portid, SA, 0x01000000);
	register2(portid, VENDOR_OUI, 0xdeadbeef);
	register2(portid, VENDOR_OUI, 0x001405);
	umad_close_port(portid);
}

/*
 * Release a struct that was never set, after a failed call that should have
 * filled it.
 */
static void releases(const char *device, int number)
{
	umad_port_t port;
	umad_ca_t ca;
	int result;

	memset(&ca, 0xee, sizeof(ca));
	memset(&port, 0xee, sizeof(port));
	result = umad_get_ca("no_such_ca", &ca);
	printf("get_ca: %d, ", result);
	result = umad_release_ca(&ca);
	printf("release %d, numports %d\n", result, ca.numports);
	result = umad_get_port(device, number, &port);
	printf("get_port %d: %d, ", number, result);
	result = umad_release_port(&port);
	printf("release %d, pkeys %u\n", result, port.pkeys_size);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2 || umad_init())
		return 2;
	ouis(argv[1]);
	releases(argv[1], 1);
	releases(argv[1], 7);
	return 0;
}
