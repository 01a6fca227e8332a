/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What saquery prints for a field, against what our codec made of it. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/text.h>

#include "wire_text.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* clang-format off */

/* The words that saquery prints for a code. */
static const struct word {
	const char *word;
	unsigned int code;
} words[] = {
	{ "0", 0 }, { "undefined (0)", 0 }, { "?(0)", 0 },
	{ "undefined (0) (IBA extension)", 0 },
	{ "NoChange", 0 }, { "No change", 0 },
	{ "Extended speed", 0 }, { "No Extended Speed", 0 },
	{ "1X", 1 }, { "4X", 2 }, { "8X", 4 }, { "12X", 8 }, { "2X", 16 },
	{ "2.5 Gbps", 1 }, { "5.0 Gbps", 2 }, { "10.0 Gbps", 4 },
	{ "14.0625 Gbps", 1 }, { "25.78125 Gbps", 2 }, { "53.125 Gbps", 4 },
	{ "Down", 1 }, { "Active", 4 },
	{ "Polling", 2 }, { "LinkUp", 5 },
	{ "256", 1 }, { "1024", 3 }, { "2048", 4 },
	{ "VL0-7", 4 },
	{ "Channel Adapter", 1 }, { "Switch", 2 },
};

/*
 * What saquery calls a field. One value of saquery's may be several of
 * ours, from the first to the last.
 */
static const struct label {
	const struct ibsa_record *record;
	const char *label;
	const char *first;
	const char *last; /* NULL: the same */
} labels[] = {
	{ &ibsa_node_record, "sys_guid", "system_image_guid", NULL },
	{ &ibsa_node_record, "port_num", "local_port_num", NULL },
	{ &ibsa_node_record, "NodeDescription", "node_description", NULL },
	{ &ibsa_path_record, "hop_flow_raw", "raw_traffic", "hop_limit" },
	{ &ibsa_path_record, "num_path_revers", "reversible", "numb_path" },
	{ &ibsa_path_record, "mtu", "mtu_selector", "mtu" },
	{ &ibsa_path_record, "rate", "rate_selector", "rate" },
	{ &ibsa_path_record, "pkt_life", "packet_life_time_selector",
	  "packet_life_time" },
	{ &ibsa_port_info_record, "EndPortLid", "endport_lid", NULL },
	{ &ibsa_port_info_record, "PortNum", "port_num", NULL },
	{ &ibsa_port_info_record, "base_lid", "lid", NULL },
	{ &ibsa_port_info_record, "master_sm_base_lid", "master_sm_lid", NULL },
	{ &ibsa_port_info_record, "GidPrefix", "gid_prefix", NULL },
	{ &ibsa_port_info_record, "SMLid", "master_sm_lid", NULL },
	{ &ibsa_port_info_record, "CapMask", "capability_mask", NULL },
	{ &ibsa_port_info_record, "DiagCode", "diag_code", NULL },
	{ &ibsa_port_info_record, "MkeyLeasePeriod", "m_key_lease_period",
	  NULL },
	{ &ibsa_port_info_record, "LocalPort", "local_port_num", NULL },
	{ &ibsa_port_info_record, "LinkWidthEnabled", "link_width_enabled",
	  NULL },
	{ &ibsa_port_info_record, "LinkWidthSupported",
	  "link_width_supported", NULL },
	{ &ibsa_port_info_record, "LinkWidthActive", "link_width_active",
	  NULL },
	{ &ibsa_port_info_record, "LinkSpeedSupported",
	  "link_speed_supported", NULL },
	{ &ibsa_port_info_record, "LinkState", "port_state", NULL },
	{ &ibsa_port_info_record, "PhysLinkState", "port_physical_state",
	  NULL },
	{ &ibsa_port_info_record, "LinkDownDefState",
	  "link_down_default_state", NULL },
	{ &ibsa_port_info_record, "ProtectBits", "m_key_protect_bits", NULL },
	{ &ibsa_port_info_record, "LinkSpeedActive", "link_speed_active",
	  NULL },
	{ &ibsa_port_info_record, "LinkSpeedEnabled", "link_speed_enabled",
	  NULL },
	{ &ibsa_port_info_record, "NeighborMTU", "neighbor_mtu", NULL },
	{ &ibsa_port_info_record, "SMSL", "master_sm_sl", NULL },
	{ &ibsa_port_info_record, "VLCap", "vl_cap", NULL },
	{ &ibsa_port_info_record, "InitType", "init_type", NULL },
	{ &ibsa_port_info_record, "VLHighLimit", "vl_high_limit", NULL },
	{ &ibsa_port_info_record, "VLArbHighCap", "vl_arbitration_high_cap",
	  NULL },
	{ &ibsa_port_info_record, "VLArbLowCap", "vl_arbitration_low_cap",
	  NULL },
	{ &ibsa_port_info_record, "InitReply", "init_type_reply", NULL },
	{ &ibsa_port_info_record, "MtuCap", "mtu_cap", NULL },
	{ &ibsa_port_info_record, "VLStallCount", "vl_stall_count", NULL },
	{ &ibsa_port_info_record, "HoqLife", "hoq_life", NULL },
	{ &ibsa_port_info_record, "OperVLs", "operational_vls", NULL },
	{ &ibsa_port_info_record, "PartEnforceInb",
	  "partition_enforcement_inbound", NULL },
	{ &ibsa_port_info_record, "PartEnforceOutb",
	  "partition_enforcement_outbound", NULL },
	{ &ibsa_port_info_record, "FilterRawInb", "filter_raw_inbound", NULL },
	{ &ibsa_port_info_record, "FilterRawOutb", "filter_raw_outbound",
	  NULL },
	{ &ibsa_port_info_record, "MkeyViolations", "m_key_violations", NULL },
	{ &ibsa_port_info_record, "PkeyViolations", "p_key_violations", NULL },
	{ &ibsa_port_info_record, "QkeyViolations", "q_key_violations", NULL },
	{ &ibsa_port_info_record, "GuidCap", "guid_cap", NULL },
	{ &ibsa_port_info_record, "ClientReregister", "client_reregister",
	  NULL },
	{ &ibsa_port_info_record, "McastPkeyTrapSuppressionEnabled",
	  "multicast_pkey_trap_suppression", NULL },
	{ &ibsa_port_info_record, "SubnetTimeout", "subnet_timeout", NULL },
	{ &ibsa_port_info_record, "RespTimeVal", "resp_time_value", NULL },
	{ &ibsa_port_info_record, "LocalPhysErr", "local_phy_errors", NULL },
	{ &ibsa_port_info_record, "OverrunErr", "overrun_errors", NULL },
	{ &ibsa_port_info_record, "MaxCreditHint", "max_credit_hint", NULL },
	{ &ibsa_port_info_record, "RoundTrip", "link_round_trip_latency",
	  NULL },
	{ &ibsa_port_info_record, "CapabilityMask2", "capability_mask2", NULL },
	{ &ibsa_port_info_record, "LinkSpeedExtActive",
	  "link_speed_ext_active", NULL },
	{ &ibsa_port_info_record, "LinkSpeedExtSupported",
	  "link_speed_ext_supported", NULL },
	{ &ibsa_port_info_record, "LinkSpeedExtEnabled",
	  "link_speed_ext_enabled", NULL },
	{ &ibsa_class_port_info_record, "Base version", "base_version", NULL },
	{ &ibsa_class_port_info_record, "Class version", "class_version",
	  NULL },
	{ &ibsa_class_port_info_record, "Capability mask", "capability_mask",
	  NULL },
	{ &ibsa_class_port_info_record, "Capability mask 2",
	  "capability_mask2", NULL },
	{ &ibsa_class_port_info_record, "Response time value",
	  "resp_time_value", NULL },
	{ &ibsa_class_port_info_record, "Redirect GID", "redirect_gid", NULL },
	{ &ibsa_class_port_info_record, "Redirect TC/SL/FL",
	  "redirect_tclass", "redirect_flow_label" },
	{ &ibsa_class_port_info_record, "Redirect LID", "redirect_lid", NULL },
	{ &ibsa_class_port_info_record, "Redirect PKey", "redirect_pkey",
	  NULL },
	{ &ibsa_class_port_info_record, "Redirect QP", "redirect_qp", NULL },
	{ &ibsa_class_port_info_record, "Redirect QKey", "redirect_qkey",
	  NULL },
	{ &ibsa_class_port_info_record, "Trap GID", "trap_gid", NULL },
	{ &ibsa_class_port_info_record, "Trap TC/SL/FL", "trap_tclass",
	  "trap_flow_label" },
	{ &ibsa_class_port_info_record, "Trap LID", "trap_lid", NULL },
	{ &ibsa_class_port_info_record, "Trap PKey", "trap_pkey", NULL },
	{ &ibsa_class_port_info_record, "Trap HL/QP", "trap_hop_limit",
	  "trap_qp" },
	{ &ibsa_class_port_info_record, "Trap QKey", "trap_qkey", NULL },
	{ &ibsa_service_record, "ServiceID", "service_id", NULL },
	{ &ibsa_service_record, "ServiceGID", "service_gid", NULL },
	{ &ibsa_service_record, "ServiceP_Key", "service_pkey", NULL },
	{ &ibsa_service_record, "ServiceLease", "service_lease", NULL },
	{ &ibsa_service_record, "ServiceName", "service_name", NULL },
	{ &ibsa_mcmember_record, "PortGid", "port_gid", NULL },
	{ &ibsa_mcmember_record, "mtu", "mtu_selector", "mtu" },
	{ &ibsa_mcmember_record, "rate", "rate_selector", "rate" },
	{ &ibsa_mcmember_record, "pkt_life", "packet_life_time_selector",
	  "packet_life_time" },
	{ &ibsa_mcmember_record, "FlowLabel", "flow_label", NULL },
	{ &ibsa_mcmember_record, "HopLimit", "hop_limit", NULL },
	{ &ibsa_mcmember_record, "JoinState", "join_state", NULL },
	{ &ibsa_mcmember_record, "ProxyJoin", "proxy_join", NULL },
	{ &ibsa_guid_info_record, "Block", "block_num", NULL },
	{ &ibsa_guid_info_record, "GUID 0", "guid_1", NULL },
	{ &ibsa_guid_info_record, "GUID 1", "guid_2", NULL },
	{ &ibsa_guid_info_record, "GUID 2", "guid_3", NULL },
	{ &ibsa_guid_info_record, "GUID 3", "guid_4", NULL },
	{ &ibsa_guid_info_record, "GUID 4", "guid_5", NULL },
	{ &ibsa_guid_info_record, "GUID 5", "guid_6", NULL },
	{ &ibsa_guid_info_record, "GUID 6", "guid_7", NULL },
	{ &ibsa_guid_info_record, "GUID 7", "guid_8", NULL },
	{ &ibsa_pkey_table_record, "Port", "port_num", NULL },
	{ &ibsa_pkey_table_record, "Block", "block_num", NULL },
	{ &ibsa_inform_info_rec_record, "SubscriberGID", "subscriber_gid",
	  NULL },
	{ &ibsa_inform_info_rec_record, "SubscriberEnum", "subscriber_enum",
	  NULL },
	{ &ibsa_inform_info_rec_record, "trap_type", "type", NULL },
	{ &ibsa_inform_info_rec_record, "trap_num", "trap_number", NULL },
	{ &ibsa_inform_info_rec_record, "resp_time_val", "resp_time_value", NULL },
	{ &ibsa_inform_info_rec_record, "node_type", "producer_type", NULL },
};

/* What saquery prints and no field of ours has: reserved, or of the RID. */
static const char *const strangers[] = {
	"reserved", "resv2", "SubscriberGID", "SubscriberEnum",
};

/* clang-format on */

/* "1X or 4X" as the sum of its codes; false if a word is not known. */
static bool words_code(const char *value, uint64_t *out)
{
	*out = 0;
	while (*value) {
		const char *end = strstr(value, " or ");
		const size_t len = end ? (size_t)(end - value) : strlen(value);
		size_t i = 0;

		while (i < COUNT(words) && (strlen(words[i].word) != len ||
					    strncmp(words[i].word, value, len)))
			i++;
		if (i == COUNT(words))
			return false;
		*out |= words[i].code;
		value += len + (end ? strlen(" or ") : 0);
	}
	return true;
}

static const struct label *label_find(const struct ibsa_record *record,
				      const char *name)
{
	for (size_t i = 0; i < COUNT(labels); i++) {
		if (labels[i].record == record &&
		    !strcasecmp(labels[i].label, name))
			return &labels[i];
	}
	return NULL;
}

static bool is_stranger(const char *label)
{
	for (size_t i = 0; i < COUNT(strangers); i++) {
		if (!strcmp(strangers[i], label))
			return true;
	}
	return false;
}

/* The field of a name of ours, or of one that differs only in a dot. */
static const struct ibsa_field *field_named(const struct ibsa_record *record,
					    const char *name,
					    unsigned int *out_index)
{
	const char *data = strstr(name, "ServiceData");
	char ours[64];

	if (!data)
		return ibsa_field_find(record, name, out_index);
	snprintf(ours, sizeof(ours), "service_data%s", data + 11);
	*strchr(ours, '.') = '_';
	return ibsa_field_find(record, ours, out_index);
}

/* The bits from field @first to field @last as one number. */
static uint64_t bits_between(const struct ibsa_record *record,
			     const struct ibsa_field *first,
			     const struct ibsa_field *last, const void *host)
{
	const unsigned int end = last->bit_offset + last->nbits;
	uint64_t value = 0;

	assert_true(last < record->fields + record->field_count);
	for (const struct ibsa_field *field = first; field <= last; field++)
		value |= ibsa_field_get(field, 0, host)
			 << (end - field->bit_offset - field->nbits);
	return value;
}

static void check_gid(const struct ibsa_field *field, const void *host,
		      const char *value)
{
	uint8_t raw[16];

	assert_int_equal(inet_pton(AF_INET6, value, raw), 1);
	assert_memory_equal((const char *)host + field->host_offset, raw, 16);
}

static void check_number(const struct ibsa_field *field, uint64_t ours,
			 const char *value)
{
	char *end;
	uint64_t theirs = strtoull(value, &end, 0);

	/* An MTU in bytes; one byte is a code with its selector. */
	if (field->show == IBSA_SHOW_mtu && theirs > 0xff)
		end = (char *)(uintptr_t)value;
	if ((*end || end == value) && !words_code(value, &theirs))
		fail_msg("%s: unknown words '%s'", field->name, value);
	if (ours != theirs)
		fail_msg("%s: 0x%llx, saquery has %s", field->name,
			 (unsigned long long)ours, value);
}

void wire_line_check(const struct ibsa_record *record, const void *host,
		     const struct wire_line *line)
{
	const struct label *label = label_find(record, line->label);
	const struct ibsa_field *field;
	const struct ibsa_field *last;
	unsigned int index = 0;

	if (is_stranger(line->label) || !strcmp(line->value, "<not displayed>"))
		return;
	field = field_named(record, label ? label->first : line->label, &index);
	if (!field)
		fail_msg("%s: unknown label '%s'", record->name, line->label);
	last = field;
	if (label && label->last)
		last = ibsa_field_find(record, label->last, &index);
	if (field->show == IBSA_SHOW_gid)
		check_gid(field, host, line->value);
	else if (field->show == IBSA_SHOW_text)
		assert_string_equal((const char *)host + field->host_offset,
				    line->value);
	else if (last == field)
		check_number(field, ibsa_field_get(field, index, host),
			     line->value);
	else
		check_number(last, bits_between(record, field, last, host),
			     line->value);
}
