/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The PCI device of an adapter: the address and the NUMA node of its line in the
 * topology file, the device ID of the line devid=, or values that are derived
 * from the number of the adapter on its host and from its fastest link.
 *
 * Source: Linux Documentation/ABI/testing/sysfs-bus-pci; the uevent and modalias
 * are those of drivers/pci/pci-driver.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fabric/server/server_text.h"

/* The PCI domain of adapters without an address; no firmware assigns it. */
enum { OWN_DOMAIN = 0x1b5a };

/* A PCI address of which no part is above its limit. */
struct slot {
	unsigned int domain, bus, device, function;
};

/* PCI IDs, as in pci.ids. */
enum {
	VENDOR_MELLANOX = 0x15b3,
	VENDOR_INTEL = 0x8086,
	DEVICE_HFI1 = 0x24f0,
	CLASS_INFINIBAND = 0x020700,
	CLASS_FABRIC = 0x020800, /* of Omni-Path */
};

static const uint16_t device_of_speed[SPEEDS] = {
	[SPEED_EDR] = 0x1017, /* ConnectX-5 */
	[SPEED_HDR] = 0x101b, /* ConnectX-6 */
	[SPEED_NDR] = 0x1021, /* ConnectX-7 */
	[SPEED_XDR] = 0x1023, /* ConnectX-8 */
};
enum { DEVICE_OLD = 0x1011 /* Connect-IB */ };

static const struct topology *topology_of(const struct view *view)
{
	return &view->fabric->first.subnet.topo;
}

/* Return: which of the adapters of its host this is, from 0 on. */
static uint32_t number_on_host(const struct view *view)
{
	const uint32_t node = (uint32_t)(view->node - topology_of(view)->nodes);
	const struct fabric_seat host = { .node = node, .kind = SEAT_HOST };
	struct seat_walk walk = ibsa__seat_walk(view->fabric, &host);
	uint32_t number = 0;

	while (view->node->type == IBSA_NODE_CA && ibsa__seat_next(&walk)) {
		if (walk.node == node)
			return number;
		number++;
	}
	return 0;
}

static const struct net_node *line_of(const struct view *view)
{
	const struct topology *topo = topology_of(view);

	return &topo->net.nodes[view->node - topo->nodes];
}

static struct slot slot_of(const struct view *view)
{
	enum { BUSES = 255 };
	const uint32_t pci = line_of(view)->pci;
	uint32_t number;

	if (pci)
		return (struct slot){ pci >> 16, pci >> 8 & 0xff,
				      pci >> 3 & 0x1f, pci & 7 };
	number = number_on_host(view);
	return (struct slot){ (OWN_DOMAIN + number / BUSES) & 0xffff,
			      1 + number % BUSES, 0, 0 };
}

void ibsa__slot_path(const struct view *view, char out[SLOT_PATH_BYTES])
{
	const struct slot slot = slot_of(view);
	const unsigned int bridge = line_of(view)->pci && slot.bus
					    ? slot.bus - 1
					    : 0;

	snprintf(out, SLOT_PATH_BYTES, "devices/pci%04x:%02x/%04x:%02x:%02x.%x",
		 slot.domain, bridge, slot.domain, slot.bus, slot.device,
		 slot.function);
}

static unsigned int pci_vendor(const struct view *view)
{
	return view->fabric->first.subnet.is_opa ? VENDOR_INTEL
						 : VENDOR_MELLANOX;
}

static unsigned int pci_class(const struct view *view)
{
	return view->fabric->first.subnet.is_opa ? CLASS_FABRIC
						 : CLASS_INFINIBAND;
}

/* Return: the device ID of the file, or else one for the fastest link. */
static unsigned int pci_device(const struct view *view)
{
	const struct topology *topo = topology_of(view);
	uint16_t device = 0;

	if (view->node->device)
		return view->node->device;
	if (view->fabric->first.subnet.is_opa)
		return DEVICE_HFI1;
	for (unsigned int i = 1; i <= view->node->port_count; i++) {
		const uint8_t speed =
			topo->ports[view->node->first_port + i].most.speed;

		if (device_of_speed[speed] > device)
			device = device_of_speed[speed];
	}
	return device ? device : DEVICE_OLD;
}

int ibsa__put_pci_vendor(struct view *view)
{
	return ibsa__view_put(view, "0x%04x\n", pci_vendor(view));
}

int ibsa__put_pci_device(struct view *view)
{
	return ibsa__view_put(view, "0x%04x\n", pci_device(view));
}

/* Write the file hca_type, as Linux drivers/infiniband/hw/mlx5/main.c does. */
int ibsa__put_type(struct view *view)
{
	if (view->fabric->first.subnet.is_opa)
		return ibsa__view_put(view, "ibsa\n");
	return ibsa__view_put(view, "MT%u\n", pci_device(view));
}

int ibsa__put_pci_class(struct view *view)
{
	return ibsa__view_put(view, "0x%06x\n", pci_class(view));
}

int ibsa__put_numa_node(struct view *view)
{
	return ibsa__view_put(view, "%d\n", (int)line_of(view)->numa - 1);
}

int ibsa__put_modalias(struct view *view)
{
	const unsigned int vendor = pci_vendor(view);
	const unsigned int device = pci_device(view);
	const unsigned int class = pci_class(view);

	return ibsa__view_put(view,
			      "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X\n",
			      vendor, device, vendor, device, class >> 16,
			      class >> 8 & 0xff, class & 0xff);
}

/*
 * Write the file uevent. A client recognizes Omni-Path by the driver's name in
 * it.
 */
int ibsa__put_uevent(struct view *view)
{
	const struct slot slot = slot_of(view);
	const unsigned int vendor = pci_vendor(view);
	const unsigned int device = pci_device(view);

	ibsa__view_put(view, "DRIVER=%s\nPCI_CLASS=%X\n",
		       view->fabric->first.subnet.is_opa ? "hfi1" : "ibsa",
		       pci_class(view));
	ibsa__view_put(view, "PCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\n",
		       vendor, device, vendor, device);
	ibsa__view_put(view, "PCI_SLOT_NAME=%04x:%02x:%02x.%x\nMODALIAS=",
		       slot.domain, slot.bus, slot.device, slot.function);
	return ibsa__put_modalias(view);
}
