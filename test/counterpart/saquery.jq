# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records as "ibsa -j" writes them, in saquery's words: a line a field, "name
# value". Called with --arg record NodeRecord, PortInfoRecord or PathRecord.

def digits: if . < 16 then "0123456789abcdef"[.:. + 1]
	else (. / 16 | floor | digits) + (. % 16 | digits) end;
def hex: "0x" + digits;
# The hex digits of text without leading zeros.
def short: "0x" + (ltrimstr("0x") | sub("^0+(?=.)"; ""));
# saquery shows what it has no word for as a number.
def named($names): $names[.] // "?(\(.))";
def bytes: ["?(0)", 256, 512, 1024, 2048, 4096][.];
def width: { "1": "1x", "2": "4x", "4": "8x", "8": "12x",
	"16": "2x" }[tostring] // "undefined (\(.))";
def speed: { "0": "extended speed", "1": "2.5 gbps", "2": "5.0 gbps",
	"4": "10.0 gbps" }[tostring];

def node: [
	"lid \(.lid)",
	"base_version \(.base_version | hex)",
	"class_version \(.class_version | hex)",
	"node_type \(.node_type |
		named([null, "channel adapter", "switch", "router"]))",
	"num_ports \(.num_ports)",
	"sys_guid \(.system_image_guid)",
	"node_guid \(.node_guid)",
	"port_guid \(.port_guid)",
	"partition_cap \(.partition_cap | hex)",
	"device_id \(.device_id | hex)",
	"revision \(.revision | hex)",
	"port_num \(.local_port_num)",
	"vendor_id \(.vendor_id | hex)",
	"nodedescription \(.node_description | ascii_downcase)"
];

def port_info: [
	"endportlid \(.endport_lid)",
	"portnum \(.port_num)",
	"options \(.options | hex)",
	"gidprefix \(.gid_prefix)",
	"lid \(.lid)",
	"smlid \(.master_sm_lid)",
	"capmask \(.capability_mask | hex)",
	"diagcode \(.diag_code | hex)",
	"mkeyleaseperiod \(.m_key_lease_period)",
	"localport \(.local_port_num)",
	"linkwidthactive \(.link_width_active | width)",
	"linkstate \(.port_state | named(
		[null, "down", "initialize", "armed", "active"]))",
	"physlinkstate \(.port_physical_state | named(
		[null, "sleep", "polling", "disabled",
		"portconfigurationtraining", "linkup"]))",
	"linkdowndefstate \(.link_down_default_state | named(
		["nochange", "sleep", "polling"]))",
	"protectbits \(.m_key_protect_bits)",
	"lmc \(.lmc)",
	"linkspeedactive \(.link_speed_active | speed)",
	"neighbormtu \(.neighbor_mtu | bytes)",
	"smsl \(.master_sm_sl)",
	"vlcap \(.vl_cap | named(
		[null, "vl0", "vl0-1", "vl0-3", "vl0-7", "vl0-14"]))",
	"inittype \(.init_type | hex)",
	"vlhighlimit \(.vl_high_limit)",
	"vlarbhighcap \(.vl_arbitration_high_cap)",
	"vlarblowcap \(.vl_arbitration_low_cap)",
	"initreply \(.init_type_reply | hex)",
	"mtucap \(.mtu_cap | bytes)",
	"vlstallcount \(.vl_stall_count)",
	"hoqlife \(.hoq_life)",
	"partenforceinb \(.partition_enforcement_inbound)",
	"partenforceoutb \(.partition_enforcement_outbound)",
	"filterrawinb \(.filter_raw_inbound)",
	"filterrawoutb \(.filter_raw_outbound)",
	"mkeyviolations \(.m_key_violations)",
	"pkeyviolations \(.p_key_violations)",
	"qkeyviolations \(.q_key_violations)",
	"guidcap \(.guid_cap)",
	"clientreregister \(.client_reregister)",
	"mcastpkeytrapsuppressionenabled \(.multicast_pkey_trap_suppression)",
	"subnettimeout \(.subnet_timeout)",
	"resptimeval \(.resp_time_value)",
	"localphyserr \(.local_phy_errors)",
	"overrunerr \(.overrun_errors)",
	"maxcredithint \(.max_credit_hint)",
	"roundtrip \(.link_round_trip_latency)",
	"capabilitymask2 \(.capability_mask2 | hex)"
];

def path: [
	"service_id \(.service_id)",
	"dgid \(.dgid)",
	"sgid \(.sgid)",
	"dlid \(.dlid)",
	"slid \(.slid)",
	"hop_flow_raw \(.raw_traffic * 2147483648 + .flow_label * 256 +
		.hop_limit | hex)",
	"tclass \(.tclass | hex)",
	"num_path_revers \(.reversible * 128 + .numb_path | hex)",
	"pkey \(.pkey | short)",
	"qos_class \(.qos_class | hex)",
	"sl \(.sl | hex)",
	"mtu \(.mtu_selector * 64 + .mtu | hex)",
	"rate \(.rate_selector * 64 + .rate | hex)",
	"pkt_life \(.packet_life_time_selector * 64 + .packet_life_time |
		hex)",
	"preference \(.preference | hex)"
];

.[] | if $record == "NodeRecord" then node
	elif $record == "PortInfoRecord" then port_info
	else path end | .[]
