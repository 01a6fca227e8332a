/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences between PortInfoRecords of ibsim and of the embedded SA. ibsim's
 * ports support every width and the speeds up to QDR, whatever its file says;
 * ours support what the file says. OpenSM has no widths and speeds of a port
 * that was never up.
 */
#ifndef TEST_PORT_LINKS_H
#define TEST_PORT_LINKS_H

#include <ibsa/records.h>
#include <ibsa/sa.h>

/* Bits of the component mask that select widths and speeds. */
static inline uint64_t port_links_mask(void)
{
	return IBSA_PORT_INFO_CM(link_width_enabled) |
	       IBSA_PORT_INFO_CM(link_width_supported) |
	       IBSA_PORT_INFO_CM(link_width_active) |
	       IBSA_PORT_INFO_CM(link_speed_supported) |
	       IBSA_PORT_INFO_CM(link_speed_active) |
	       IBSA_PORT_INFO_CM(link_speed_enabled) |
	       IBSA_PORT_INFO_CM(link_speed_ext_supported) |
	       IBSA_PORT_INFO_CM(link_speed_ext_enabled);
}

/*
 * Clear the widths and speeds of a record. Return: whether any of them was set.
 */
static inline bool port_links_clear(uint8_t *record)
{
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
	if (info.port_state == IBSA_PORT_DOWN) {
		info.link_width_active = 0;
		info.link_speed_active = 0;
	}
	ibsa_port_info_record.encode(&info, record, &over);
	return memcmp(&info, &before, sizeof(info)) != 0;
}

#endif
