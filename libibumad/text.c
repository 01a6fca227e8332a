/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Texts for the class, method, attribute and status of a MAD's header, as
 * libibumad returns them.
 *
 * Source: what libibumad of rdma-core 44 returns for every value;
 * umad_class_str(3); IBA vol 1, 13.4.4 to 13.4.7.
 */
#include <infiniband/umad_cm.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_str.h>

#include <ibsa/types.h>

static const char unknown[] = "<unknown>";
static const char unknown_method[] = "<unknown"; /* sic */

struct name {
	uint16_t value;
	const char *text;
};

/* The last entry of a list of names. */
#define NO_MORE         \
	{               \
		0, NULL \
	}

static const char *name_find(const struct name *names, unsigned int value)
{
	while (names->text && names->value != value)
		names++;
	return names->text;
}

/* clang-format off */
static const struct {
	uint8_t first, last;
	const char *text;
} classes[] = {
	{ 0x01, 0x01, "Subn" },
	{ 0x03, 0x03, "SubnAdm" },
	{ 0x04, 0x04, "Perf" },
	{ 0x05, 0x05, "BM" },
	{ 0x06, 0x06, "DevMgt" },
	{ 0x07, 0x07, "ComMgt" },
	{ 0x08, 0x08, "SNMP" },
	{ 0x09, 0x0f, "Vendor" },
	{ 0x10, 0x10, "DevAdm" },
	{ 0x11, 0x11, "BootMgt" },
	{ 0x12, 0x12, "BIS" },
	{ 0x21, 0x21, "CongestionManagment" }, /* sic */
	{ 0x13, 0x2f, "Application" },
	{ 0x30, 0x4f, "Vendor" },
	{ 0x81, 0x81, "Subn" },
};

static const struct name methods[] = {
	{ 0x01, "Get" },
	{ 0x02, "Set" },
	{ 0x03, "Send" },
	{ 0x05, "Trap" },
	{ 0x06, "Report" },
	{ 0x07, "TrapRepress" },
	{ 0x81, "GetResp" },
	{ 0x86, "ReportResp" },
	NO_MORE
};

static const struct name sa_methods[] = {
	{ 0x12, "GetTable" },
	{ 0x13, "GetTraceTable" },
	{ 0x14, "GetMulti" },
	{ 0x15, "Delete" },
	{ 0x92, "GetTableResp" },
	{ 0x94, "GetMultiResp" },
	{ 0x95, "DeleteResp" },
	NO_MORE
};

static const struct name attributes[] = {
	{ 0x0001, "Class Port Info" },
	{ 0x0002, "Notice" },
	{ 0x0003, "Inform Info" },
	NO_MORE
};

static const struct name sm_attributes[] = {
	{ 0x0010, "NodeDescription" },
	{ 0x0011, "NodeInfo" },
	{ 0x0012, "SwitchInfo" },
	{ 0x0014, "GUIDInfo" },
	{ 0x0015, "PortInfo" },
	{ 0x0016, "P_KeyTable" },
	{ 0x0017, "SLtoVLMappingTable" },
	{ 0x0018, "VLArbitrationTable" },
	{ 0x0019, "LinearForwardingTable" },
	{ 0x001a, "RandomForwardingTable" },
	{ 0x001b, "MulticastForwardingTable" },
	{ 0x001c, "LinkSpeedWidthPairsTable" },
	{ 0x001d, "VendorSpecificMadsTable" },
	{ 0x001e, "HierarchyInfo" },
	{ 0x0020, "SMInfo" },
	{ 0x0030, "VendorDiag" },
	{ 0x0031, "LedInfo" },
	{ 0x0032, "CableInfo" },
	{ 0x0033, "PortInfoExtended" },
	NO_MORE
};

static const struct name sa_attributes[] = {
	{ 0x0011, "NodeRecord" },
	{ 0x0012, "PortInfoRecord" },
	{ 0x0013, "SLtoVLMappingTableRecord" },
	{ 0x0014, "SwitchInfoRecord" },
	{ 0x0015, "LinearForwardingTableRecord" },
	{ 0x0016, "RandomForwardingTableRecord" },
	{ 0x0017, "MulticastForwardingTableRecord" },
	{ 0x0018, "SMInfoRecord" },
	{ 0x0019, "LinkSpeedWidthPairsTableRecord" },
	{ 0x0020, "LinkRecord" },
	{ 0x0030, "GuidInfoRecord" },
	{ 0x0031, "ServiceRecord" },
	{ 0x0033, "P_KeyTableRecord" },
	{ 0x0035, "PathRecord" },
	{ 0x0036, "VLArbitrationTableRecord" },
	{ 0x0038, "MCMemberRecord" },
	{ 0x0039, "TraceRecord" },
	{ 0x003a, "MultiPathRecord" },
	{ 0x003b, "ServiceAssociationRecord" },
	{ 0x003c, "HierarchyInfoRecord" },
	{ 0x003d, "CableInfoRecord" },
	{ 0x003e, "PortInfoExtendedRecord" },
	{ 0x00f3, "InformInfoRecord" },
	NO_MORE
};

static const struct name cm_attributes[] = {
	{ 0x0010, "ConnectRequest" },
	{ 0x0011, "MsgRcptAck" },
	{ 0x0012, "ConnectReject" },
	{ 0x0013, "ConnectReply" },
	{ 0x0014, "ReadyToUse" },
	{ 0x0015, "DisconnectRequest" },
	{ 0x0016, "DisconnectReply" },
	{ 0x0017, "ServiceIDResReq" },
	{ 0x0018, "ServiceIDResReqResp" },
	{ 0x0019, "LoadAlternatePath" },
	{ 0x001a, "AlternatePathResponse" },
	{ 0x001b, "SuggestAlternatePath" },
	{ 0x001c, "SuggestPathResponse" },
	NO_MORE
};

static const struct name sa_statuses[] = {
	{ 0x00, "Success" },
	{ 0x01, "No Resources" },
	{ 0x02, "Request Invalid" },
	{ 0x03, "No Records" },
	{ 0x04, "Too Many Records" },
	{ 0x05, "Invalid GID" },
	{ 0x06, "Insufficient Components" },
	{ 0x07, "Request Denied" },
	{ 0x08, "Priority Suggested" },
	NO_MORE
};

/* Texts for the values of bits 2 to 4 of a MAD's status. */
static const struct name field_statuses[] = {
	{ 1, "Bad Version" },
	{ 2, "Method not supported" },
	{ 3, "Method/Attribute combo not supported" },
	{ 7, "Invalid attribute/modifier field" },
	NO_MORE
};
/* clang-format on */

const char *umad_class_str(uint8_t mgmt_class)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (mgmt_class >= classes[i].first &&
		    mgmt_class <= classes[i].last)
			return classes[i].text;
	}
	return unknown;
}

const char *umad_method_str(uint8_t mgmt_class, uint8_t method)
{
	const char *text = name_find(methods, method);

	if (!text && mgmt_class == UMAD_CLASS_SUBN_ADM)
		text = name_find(sa_methods, method);
	return text ? text : unknown_method;
}

static const char *class_attribute_find(uint8_t mgmt_class, unsigned int id)
{
	switch (mgmt_class) {
	case UMAD_CLASS_SUBN_LID_ROUTED:
	case UMAD_CLASS_SUBN_DIRECTED_ROUTE:
		return name_find(sm_attributes, id);
	case UMAD_CLASS_SUBN_ADM:
		return name_find(sa_attributes, id);
	case UMAD_CLASS_CM:
		return name_find(cm_attributes, id);
	default:
		return NULL;
	}
}

const char *umad_attribute_str(uint8_t mgmt_class, __be16 attr_id)
{
	const char *text = name_find(attributes, be16toh(attr_id));

	if (!text)
		text = class_attribute_find(mgmt_class, be16toh(attr_id));
	return text ? text : unknown;
}

const char *umad_common_mad_status_str(__be16 status)
{
	const unsigned int bits = be16toh(status);
	const char *text;

	if (bits & UMAD_STATUS_BUSY)
		return "Busy";
	if (bits & UMAD_STATUS_REDIRECT)
		return "Redirection required";
	text = name_find(field_statuses, bits >> 2 & 7);
	return text ? text : "Success";
}

const char *umad_sa_mad_status_str(__be16 status)
{
	const char *text = name_find(sa_statuses, be16toh(status) >> 8);

	return text ? text : "Undefined Error";
}
