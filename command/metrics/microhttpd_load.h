/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of libmicrohttpd that this command calls. libmicrohttpd is
 * loaded when it is needed, because it loads GnuTLS, which queries do not need.
 */
#ifndef COMMAND_MICROHTTPD_LOAD_H
#define COMMAND_MICROHTTPD_LOAD_H

#include <microhttpd.h>

/* clang-format off */
#define MICROHTTPD_FUNCTIONS(F)                                              \
	F(MHD_add_response_header) F(MHD_create_response_from_buffer)        \
	F(MHD_destroy_response) F(MHD_get_connection_info)                   \
	F(MHD_get_daemon_info) F(MHD_get_timeout)                            \
	F(MHD_lookup_connection_value) F(MHD_queue_response) F(MHD_run)      \
	F(MHD_start_daemon) F(MHD_stop_daemon)
/* clang-format on */

/* The functions under their own names; valid if @library is not NULL. */
struct libmicrohttpd {
	void *library;
#define MICROHTTPD_POINTER(name) __typeof__(name) *name;
	MICROHTTPD_FUNCTIONS(MICROHTTPD_POINTER)
#undef MICROHTTPD_POINTER
};

/* Return: 0, or -1, and dlerror() explains it. */
int libmicrohttpd_load(struct libmicrohttpd *http);

#endif
