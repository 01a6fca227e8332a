/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comparison of saquery's output with the decoded fields. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/text.h>

#include "text.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* clang-format off */

/* saquery's words for codes. */
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

/* saquery's names of fields. One of its values may be several fields, from the
 * first to the last. */
static const struct label {
	const struct ibsa_record *record;
	const char *label;
	const char *first;
	const char *last; /* NULL: the same as the first */
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
	{ &ibsa_switch_info_record, "LinearFDBCap", "linear_fdb_cap", NULL },
	{ &ibsa_switch_info_record, "RandomFDBCap", "random_fdb_cap", NULL },
	{ &ibsa_switch_info_record, "MulticastFDBCap", "multicast_fdb_cap",
	  NULL },
	{ &ibsa_switch_info_record, "LinearFDBTop", "linear_fdb_top", NULL },
	{ &ibsa_switch_info_record, "DefaultPort", "default_port", NULL },
	{ &ibsa_switch_info_record, "DefaultMulticastPrimaryPort",
	  "default_multicast_primary_port", NULL },
	{ &ibsa_switch_info_record, "DefaultMulticastNotPrimaryPort",
	  "default_multicast_not_primary_port", NULL },
	{ &ibsa_switch_info_record, "LifeTimeValue/PortStateChange/OpSL2VL",
	  "life_time_value", "optimized_sl_to_vl" },
	{ &ibsa_switch_info_record, "LIDsPerPort", "lids_per_port", NULL },
	{ &ibsa_switch_info_record, "PartitionEnforcementCap",
	  "partition_enforcement_cap", NULL },
	{ &ibsa_switch_info_record, "MulticastFDBTop", "multicast_fdb_top",
	  NULL },
	{ &ibsa_lft_record, "Block", "block_num", NULL },
	{ &ibsa_mft_record, "Block", "block_num", NULL },
	{ &ibsa_sm_info_record, "ActCount", "act_count", NULL },
	{ &ibsa_sm_info_record, "SMState", "sm_state", NULL },
	{ &ibsa_link_record, "FromLID", "from_lid", NULL },
	{ &ibsa_link_record, "FromPort", "from_port", NULL },
	{ &ibsa_link_record, "ToPort", "to_port", NULL },
	{ &ibsa_link_record, "ToLID", "to_lid", NULL },
	{ &ibsa_sl_to_vl_record, "InPort", "input_port_num", NULL },
	{ &ibsa_sl_to_vl_record, "OutPort", "output_port_num", NULL },
	{ &ibsa_vl_arbitration_record, "Port", "output_port_num", NULL },
	{ &ibsa_vl_arbitration_record, "Block", "block_num", NULL },
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

/* Lines of saquery without a field: reserved bits, parts of the RID, or several
 * bits that check_reencodes() compares. */
static const char *const lines_without_field[] = {
	"reserved", "resv2", "SubscriberGID", "SubscriberEnum", "flags",
};

/*
 * saquery's format of arrays: the number of values in a line, and its heading.
 */
static const struct numbers {
	const struct ibsa_record *record;
	/* heading before the values of a line; NULL: no heading */
	const char *heading;
	const char *field;
	unsigned int shift; /* bits of the value in the field */
	uint64_t mask;
	unsigned int each; /* values in a line */
	bool has_index;	   /* each value follows its index */
} numbers_of[] = {
	{ &ibsa_pkey_table_record, NULL, "pkey", 0, 0xffff, 8, false },
	{ &ibsa_lft_record, NULL, "port", 0, 0xff, 1, true },
	{ &ibsa_mft_record, NULL, "port_mask", 0, 0xffff, 1, true },
	{ &ibsa_sl_to_vl_record, "VL:", "vl", 0, 0xf, 16, false },
	{ &ibsa_vl_arbitration_record, "VL    :", "vl_weight", 8, 0xf, 16,
	  false },
	{ &ibsa_vl_arbitration_record, "Weight:", "vl_weight", 0, 0xff, 16,
	  false },
};

/* clang-format on */

_Static_assert(COUNT(numbers_of) == WIRE_NUMBERS, "test/wire/text.h");

/*
 * Parse "1X or 4X" as the sum of its codes. Return: false for an unknown word.
 */
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
	for (size_t i = 0; i < COUNT(lines_without_field); i++) {
		if (!strcmp(lines_without_field[i], label))
			return true;
	}
	return false;
}

/*
 * Return: the field with this name, or with a name that differs only in a dot.
 */
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

/*
 * Return: the bits from field @first to field @last of a record, as one
 * number.
 */
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

	/* An MTU in bytes; a single byte is a code with its selector. */
	if (field->show == IBSA_SHOW_mtu && theirs > 0xff)
		end = (char *)(uintptr_t)value;
	if ((*end || end == value) && !words_code(value, &theirs))
		fail_msg("%s: unknown words '%s'", field->name, value);
	if (ours != theirs)
		fail_msg("%s: 0x%llx, saquery has %s", field->name,
			 (unsigned long long)ours, value);
}

/* Read the number at *@at, after blanks and bars, and step past it. */
static bool number_next(const char **at, uint64_t *out)
{
	char *end;

	*at += strspn(*at, " \t|");
	*out = strtoull(*at, &end, 0);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

static void numbers_compare(const struct numbers *of, const void *host,
			    const char *at, unsigned int first)
{
	char name[32];
	unsigned int unused;
	const struct ibsa_field *field;
	uint64_t theirs;

	snprintf(name, sizeof(name), "%s_1", of->field);
	field = ibsa_field_find(of->record, name, &unused);
	assert_non_null(field);
	for (unsigned int i = 0; i < of->each; i++) {
		const uint64_t ours = ibsa_field_get(field, first + i, host);

		if (of->has_index) {
			assert_true(number_next(&at, &theirs));
			assert_int_equal(theirs % field->count, first + i);
		}
		assert_true(number_next(&at, &theirs));
		assert_true(first + i < field->count);
		assert_int_equal(ours >> of->shift & of->mask, theirs);
	}
	assert_false(number_next(&at, &theirs));
}

unsigned int wire_numbers_check(const struct ibsa_record *record,
				const void *host, const char *numbers,
				unsigned int *done)
{
	for (size_t i = 0; i < COUNT(numbers_of); i++) {
		const struct numbers *of = &numbers_of[i];
		const char *heading = of->heading ? of->heading : "";
		const char *at = numbers + strlen(heading);
		uint64_t first;

		if (of->record != record ||
		    strncmp(numbers, heading, strlen(heading)))
			continue;
		if (!number_next(&(const char *){ at }, &first))
			continue;
		numbers_compare(of, host, at, done[i] * of->each);
		done[i]++;
		return 1;
	}
	return 0;
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
