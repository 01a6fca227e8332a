/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An HTTP server with one page, for programs that poll file descriptors. Each
 * connection has one request. Clients may send anything: number, memory and
 * time of connections are limited.
 */
#ifndef COMMAND_HTTP_H
#define COMMAND_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

enum {
	HTTP_CONNECTIONS_MAX = 32,
	HTTP_REQUEST_MS = 5000,	    /* until a request is complete */
	HTTP_AGE_MS = 30000,	    /* until its answer is sent */
	HTTP_REQUEST_BYTES = 16384, /* memory of a connection */
};

/* clang-format off */
#define MICROHTTPD_FUNCTIONS(F)                                              \
	F(MHD_add_response_header) F(MHD_create_response_from_buffer)        \
	F(MHD_destroy_response) F(MHD_get_connection_info)                   \
	F(MHD_get_daemon_info) F(MHD_get_timeout)                            \
	F(MHD_lookup_connection_value) F(MHD_queue_response) F(MHD_run)      \
	F(MHD_start_daemon) F(MHD_stop_daemon)
/* clang-format on */

/*
 * The functions of libmicrohttpd that this command calls, under their own
 * names. libmicrohttpd is loaded when it is needed, because it loads GnuTLS,
 * which queries do not need.
 */
struct libmicrohttpd {
	void *library;
#define MICROHTTPD_POINTER(name) __typeof__(name) *name;
	MICROHTTPD_FUNCTIONS(MICROHTTPD_POINTER)
#undef MICROHTTPD_POINTER
};

/* An open connection; @fd is -1 if the entry is free. */
struct http_connection {
	MHD_socket fd;
	int64_t start_ms;
	bool has_request; /* complete */
	bool is_shut;
};

/* The text of a page; valid until the page is made again. */
struct http_page {
	const char *type;
	const char *text;
	size_t len;
};

/*
 * Make the page. @accept is the value of the HTTP header Accept, or NULL.
 * Return: false: there is no page, and the client receives an error.
 */
typedef bool (*http_page_fn)(const char *accept, void *arg,
			     struct http_page *out);

struct http {
	struct libmicrohttpd library;
	struct MHD_Daemon *daemon;
	const char *path; /* of the page */
	http_page_fn page;
	void *arg;
	/*
	 * HTTP_CONNECTIONS_MAX connections are served. One more is accepted,
	 * and then another one is closed.
	 */
	struct http_connection connections[HTTP_CONNECTIONS_MAX + 1];
	/*
	 * A connection was closed: call MHD_run() once more, because
	 * libmicrohttpd does not listen while it has the maximum number of
	 * connections.
	 */
	bool has_room;
	/* the address at which the server listens, such as "127.0.0.1:9710" */
	char address[96];
};

/*
 * Listen at "[ADDR:]PORT"; the default address is that of the loopback. The
 * caller has set @path, @page and @arg of @http. Return: the exit status; a
 * failure is printed.
 */
int http_start(struct http *http, const char *option, const char *where);
void http_stop(struct http *http);

/*
 * http_fd() returns a file descriptor to poll for reading; http_timeout_ms()
 * returns how long to poll, in ms; -1: no limit.
 */
int http_fd(struct http *http);
int http_timeout_ms(struct http *http);

/* Accept connections, read requests, answer them and close, without waiting. */
void http_run(struct http *http);

#endif
