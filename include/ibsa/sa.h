/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers of subnet administration: methods, statuses, well-known values. Each
 * list defines the constants here and their names in text.h.
 *
 * Source: IBA vol 1, 13.4.5 (methods), 13.4.7 and 15.2.3 (status).
 */
#ifndef IBSA_SA_H
#define IBSA_SA_H

#include <ibsa/types.h>

/* clang-format off */
#define IBSA_METHODS(M)						\
	M(GET,             0x01, "Get")				\
	M(SET,             0x02, "Set")				\
	M(REPORT,          0x06, "Report")			\
	M(GET_TABLE,       0x12, "GetTable")			\
	M(GET_MULTI,       0x14, "GetMulti")			\
	M(DELETE,          0x15, "Delete")			\
	M(GET_RESP,        0x81, "GetResp")			\
	M(REPORT_RESP,     0x86, "ReportResp")			\
	M(GET_TABLE_RESP,  0x92, "GetTableResp")		\
	M(GET_MULTI_RESP,  0x94, "GetMultiResp")		\
	M(DELETE_RESP,     0x95, "DeleteResp")

#define IBSA_STATUSES(S)						\
	S(OK,                     0x0000, "success")			\
	S(BUSY,                   0x0001, "busy")			\
	S(REDIRECT,               0x0002, "redirected")			\
	S(BAD_VERSION,            0x0004, "bad base or class version")	\
	S(BAD_METHOD,             0x0008, "method not supported")	\
	S(BAD_METHOD_ATTRIBUTE,   0x000c,				\
	  "method not supported for this attribute")			\
	S(BAD_VALUE,              0x001c,				\
	  "invalid attribute or modifier value")			\
	S(NO_RESOURCES,           0x0100, "no resources")		\
	S(REQ_INVALID,            0x0200, "request invalid")		\
	S(NO_RECORDS,             0x0300, "no records")			\
	S(TOO_MANY_RECORDS,       0x0400, "too many records")		\
	S(REQ_INVALID_GID,        0x0500, "invalid GID")		\
	S(REQ_INSUFFICIENT,       0x0600, "insufficient components")	\
	S(REQ_DENIED,             0x0700, "request denied")		\
	S(PRIORITY_SUGGESTED,     0x0800, "priority suggested")
/* clang-format on */

#define IBSA__METHOD_ENUM(name, value, text) IBSA_METHOD_##name = value,
enum ibsa_method { IBSA_METHODS(IBSA__METHOD_ENUM) };

#define IBSA__STATUS_ENUM(name, value, text) IBSA_STATUS_##name = value,
enum ibsa_status { IBSA_STATUSES(IBSA__STATUS_ENUM) };

enum {
	IBSA_CLASS_SA = 0x03,
	IBSA_CLASS_VERSION = 2,
	IBSA_CLASS_VERSION_OPA = 0x80,
	IBSA_MAD_BYTES = 256,	   /* one MAD on the wire */
	IBSA_SA_HEADER_BYTES = 56, /* MAD, RMPP and SA header */
	IBSA_SA_DATA_BYTES = 200,  /* data of one MAD after this header */
	IBSA_QPN_GSI = 1,
	IBSA_LID_UNICAST_MAX = 0xbfff,
	IBSA_LID_MULTICAST_MIN = 0xc000,
	IBSA_LID_PERMISSIVE = 0xffff,
	IBSA_LMC_MAX = 7,
	IBSA_PKEY_DEFAULT = 0xffff, /* default partition, full member */
	IBSA_PKEY_FULL = 0x8000,    /* the membership bit */
};

#define IBSA_QKEY_GSI UINT32_C(0x80010000)
#define IBSA_LEASE_INFINITE UINT32_C(0xffffffff)

/* Selectors in a query: how the SA compares MTU, rate and packet life time. */
enum ibsa_selector {
	IBSA_SELECT_GREATER = 0,
	IBSA_SELECT_LESS = 1,
	IBSA_SELECT_EXACTLY = 2,
	IBSA_SELECT_BEST = 3,
};

enum ibsa_node_type {
	IBSA_NODE_CA = 1,
	IBSA_NODE_SWITCH = 2,
	IBSA_NODE_ROUTER = 3,
};

enum ibsa_port_state_code {
	IBSA_PORT_DOWN = 1,
	IBSA_PORT_INIT = 2,
	IBSA_PORT_ARMED = 3,
	IBSA_PORT_ACTIVE = 4,
};

/* Flags of the RMPP header. IBA vol 1, 13.6.2. */
enum {
	IBSA_RMPP_ACTIVE = 1,
	IBSA_RMPP_FIRST = 2,
	IBSA_RMPP_LAST = 4,
	IBSA_RMPP_TYPE_DATA = 1,
};

#endif
