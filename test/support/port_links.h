/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences between PortInfoRecords of ibsim and of the embedded SA. ibsim's
 * ports support every width and the speeds up to QDR, whatever its file says;
 * ours support what the file says. OpenSM has no widths and speeds of a port
 * that was never up. ibsim does not store the error thresholds, the timeouts
 * and the enforcement of partitions that OpenSM sets; test/counterpart/sm_same.sh
 * compares these. Its ports have the same capabilities at any width and speed,
 * vendor classes, which they do not answer, and neither client reregistration
 * nor a system image GUID, although their NodeInfo has one.
 */
#ifndef TEST_PORT_LINKS_H
#define TEST_PORT_LINKS_H

#include <ibsa/records.h>
#include <ibsa/types.h>

/* Bits of the component mask that select by what may differ. */
static inline uint64_t port_links_mask(void)
{
	return IBSA_PORT_INFO_CM(link_width_enabled) |
	       IBSA_PORT_INFO_CM(link_width_supported) |
	       IBSA_PORT_INFO_CM(link_width_active) |
	       IBSA_PORT_INFO_CM(link_speed_supported) |
	       IBSA_PORT_INFO_CM(link_speed_active) |
	       IBSA_PORT_INFO_CM(link_speed_enabled) |
	       IBSA_PORT_INFO_CM(link_speed_ext_supported) |
	       IBSA_PORT_INFO_CM(link_speed_ext_enabled) |
	       IBSA_PORT_INFO_CM(capability_mask) |
	       IBSA_PORT_INFO_CM(capability_mask2) |
	       IBSA_PORT_INFO_CM(m_key_lease_period) |
	       IBSA_PORT_INFO_CM(subnet_timeout) |
	       IBSA_PORT_INFO_CM(partition_enforcement_inbound) |
	       IBSA_PORT_INFO_CM(partition_enforcement_outbound) |
	       IBSA_PORT_INFO_CM(local_phy_errors) |
	       IBSA_PORT_INFO_CM(overrun_errors);
}

/* Clear what may differ in a record. Return: whether any of it was set. */
static inline bool port_links_clear(uint8_t *record)
{
	enum {
		SYSTEM_IMAGE_GUID = 1 << 11,
		VENDOR_CLASS = 1 << 20,
		CLIENT_REREGISTRATION = 1 << 25,
		OTHERS = SYSTEM_IMAGE_GUID | VENDOR_CLASS |
			 CLIENT_REREGISTRATION,
	};
	struct ibsa_port_info info;
	struct ibsa_port_info before;
	uint64_t over;

	ibsa_port_info_record.decode(record, &info);
	before = info;
	info.link_width_enabled = 0;
	info.link_width_supported = 0;
	info.link_speed_supported = 0;
	info.link_speed_enabled = 0;
	info.link_speed_ext_supported = 0;
	info.link_speed_ext_enabled = 0;
	info.capability_mask &= ~(uint32_t)OTHERS;
	info.capability_mask2 = 0;
	info.m_key_lease_period = 0;
	info.subnet_timeout = 0;
	info.partition_enforcement_inbound = 0;
	info.partition_enforcement_outbound = 0;
	info.local_phy_errors = 0;
	info.overrun_errors = 0;
	if (info.port_state == IBSA_PORT_DOWN) {
		info.link_width_active = 0;
		info.link_speed_active = 0;
	}
	ibsa_port_info_record.encode(&info, record, &over);
	return memcmp(&info, &before, sizeof(info)) != 0;
}

#endif
