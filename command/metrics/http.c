/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An HTTP server with one page. */
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "output/cli.h"
#include "base/library_load.h"
#include "metrics/http.h"

enum {
	BACKLOG = 1024,
	CHECK_MS = 1000,
	SLOTS = HTTP_CONNECTIONS_MAX + 1,
};

/* Return: the entry that connection_note() has chosen, or NULL. */
static struct http_connection *
connection_slot(struct http *http, struct MHD_Connection *connection)
{
	return http->library
		.MHD_get_connection_info(connection,
					 MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

static enum MHD_Result page_send(struct http *http,
				 struct MHD_Connection *connection,
				 unsigned int status,
				 const struct http_page *page)
{
	const struct libmicrohttpd *mhd = &http->library;
	struct http_connection *own = connection_slot(http, connection);
	struct MHD_Response *response = mhd->MHD_create_response_from_buffer(
		page->len, (void *)page->text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result = response ? MHD_YES : MHD_NO;

	if (own)
		own->has_request = true;
	if (!response)
		return MHD_NO;
	if (mhd->MHD_add_response_header(response, "Content-Type",
					 page->type) != MHD_YES ||
	    mhd->MHD_add_response_header(response, "Connection", "close") !=
		    MHD_YES ||
	    (status == MHD_HTTP_METHOD_NOT_ALLOWED &&
	     mhd->MHD_add_response_header(response, "Allow", "GET, HEAD") !=
		     MHD_YES))
		result = MHD_NO;
	if (result == MHD_YES)
		result = mhd->MHD_queue_response(connection, status, response);
	mhd->MHD_destroy_response(response);
	return result;
}

static enum MHD_Result error_send(struct http *http,
				  struct MHD_Connection *connection,
				  unsigned int status, const char *text)
{
	const struct http_page page = {
		.type = "text/plain; charset=utf-8",
		.text = text,
		.len = strlen(text),
	};

	return page_send(http, connection, status, &page);
}

/*
 * libmicrohttpd calls this function with the head of a request, then with each
 * part of the request's body, then at its end. The body is ignored: if a
 * response is queued after the head, libmicrohttpd refuses the body.
 */
static enum MHD_Result request_answer(void *arg,
				      struct MHD_Connection *connection,
				      const char *url, const char *method,
				      const char *version, const char *body,
				      size_t *body_len, void **state)
{
	struct http *http = arg;
	struct http_page page;

	(void)version;
	(void)body;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return error_send(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				  "only GET and HEAD are allowed\n");
	if (strcmp(url, http->path) != 0)
		return error_send(http, connection, MHD_HTTP_NOT_FOUND,
				  "the only page is /metrics\n");
	if (!*state || *body_len) {
		*state = http;
		*body_len = 0;
		return MHD_YES;
	}
	if (!http->page(http->library.MHD_lookup_connection_value(
				connection, MHD_HEADER_KIND, "Accept"),
			http->arg, &page))
		return error_send(http, connection,
				  MHD_HTTP_INTERNAL_SERVER_ERROR,
				  "there are no values; see the messages of "
				  "the server\n");
	return page_send(http, connection, MHD_HTTP_OK, &page);
}

static void connection_end(struct http_connection *connection)
{
	connection->is_shut = true;
	shutdown(connection->fd, SHUT_RDWR);
}

static bool is_open(const struct http_connection *connection)
{
	return connection->fd != MHD_INVALID_SOCKET && !connection->is_shut;
}

/*
 * Note whether a complete request has arrived, which libmicrohttpd has not read
 * yet if this program was busy.
 */
static void request_note(struct http_connection *connection)
{
	static const char end[] = "\r\n\r\n";
	char head[HTTP_REQUEST_BYTES];
	const ssize_t len = recv(connection->fd, head, sizeof(head),
				 MSG_PEEK | MSG_DONTWAIT);

	if (len > 0 && memmem(head, (size_t)len, end, strlen(end)))
		connection->has_request = true;
}

/*
 * If there are too many connections, end the oldest connection that has not
 * sent a complete request; if every connection has sent one, end the oldest
 * connection.
 */
static void oldest_end(struct http *http)
{
	struct http_connection *oldest = NULL;
	size_t count = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		struct http_connection *at = &http->connections[i];

		if (!is_open(at))
			continue;
		count++;
		request_note(at);
		if (!oldest || at->has_request < oldest->has_request ||
		    (at->has_request == oldest->has_request &&
		     at->start_ms < oldest->start_ms))
			oldest = at;
	}
	if (count > HTTP_CONNECTIONS_MAX)
		connection_end(oldest);
}

static void connection_note(void *arg, struct MHD_Connection *connection,
			    void **slot,
			    enum MHD_ConnectionNotificationCode code)
{
	struct http *http = arg;
	struct http_connection *own = *slot;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (own)
			own->fd = MHD_INVALID_SOCKET;
		http->has_room = true;
		return;
	}
	for (size_t i = 0; i < SLOTS; i++) {
		if (http->connections[i].fd != MHD_INVALID_SOCKET)
			continue;
		own = &http->connections[i];
		*own = (struct http_connection){
			.fd = http->library
				      .MHD_get_connection_info(
					      connection,
					      MHD_CONNECTION_INFO_CONNECTION_FD)
				      ->connect_fd,
			.start_ms = now_ms(),
		};
		*slot = own;
		break;
	}
	oldest_end(http);
}

/*
 * End connections that have lasted too long. A limit for idle connections is
 * not enough: a client that sends one byte at a time is never idle.
 */
static void old_connections_end(struct http *http)
{
	const int64_t now = now_ms();

	for (size_t i = 0; i < SLOTS; i++) {
		struct http_connection *at = &http->connections[i];

		if (!is_open(at) || now - at->start_ms < HTTP_REQUEST_MS)
			continue;
		request_note(at);
		if (!at->has_request || now - at->start_ms >= HTTP_AGE_MS)
			connection_end(at);
	}
}

/* Split "[ADDR:]PORT". Return: the port, or NULL. */
static const char *address_split(const char *where, char *out, size_t size)
{
	const char *port = strrchr(where, ':');
	const char *start = where;
	const char *end = port;

	snprintf(out, size, "127.0.0.1");
	if (!port)
		return where;
	if (*start == '[' && end > start && end[-1] == ']') {
		start++;
		end--;
	} else if (memchr(start, ':', (size_t)(end - start))) {
		return NULL;
	}
	if (end <= start || (size_t)(end - start) >= size)
		return NULL;
	snprintf(out, size, "%.*s", (int)(end - start), start);
	return port + 1;
}

static int address_wrong(const char *option, const char *where)
{
	return fail_usage("%s: '%s' is not [ADDR:]PORT, such as 9710, "
			  "10.0.0.1:9710 or [::1]:9710",
			  option, where);
}

static int socket_listen(const struct addrinfo *at)
{
	const int on = 1;
	int fd = socket(at->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, at->ai_addr, at->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Store the address, because the kernel has chosen the port if it was 0. */
static void address_note(struct http *http, int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0 ||
	    getnameinfo((struct sockaddr *)&address, len, host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(http->address, sizeof(http->address),
		 address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
		 port);
}

/* Return: the exit status; a failure is printed. */
static int socket_open(struct http *http, const char *option, const char *where,
		       int *out)
{
	static const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *list;
	char host[64];
	const char *port = address_split(where, host, sizeof(host));
	int fd;

	if (!port || !*port || strlen(port) > 5 ||
	    strtoul(port, NULL, 10) > UINT16_MAX ||
	    strspn(port, "0123456789") != strlen(port) ||
	    getaddrinfo(host, port, &hints, &list) != 0)
		return address_wrong(option, where);
	fd = socket_listen(list);
	freeaddrinfo(list);
	if (fd < 0)
		return fail_device("cannot listen at %s:%s: %s%s", host, port,
				   strerror(-fd),
				   fd == -EADDRINUSE ? "; choose another port"
						     : "");
	address_note(http, fd);
	*out = fd;
	return CLI_DONE;
}

static bool library_load(struct libmicrohttpd *http)
{
	static const struct library_function functions[] = {
#define ROW(name) { #name, offsetof(struct libmicrohttpd, name) },
		MICROHTTPD_FUNCTIONS(ROW)
#undef ROW
	};

	http->library = library_functions(
		dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL), functions,
		sizeof(functions) / sizeof(functions[0]), http);
	return http->library;
}

int http_start(struct http *http, const char *option, const char *where)
{
	int fd = -1;
	int status;

	for (size_t i = 0; i < SLOTS; i++)
		http->connections[i].fd = MHD_INVALID_SOCKET;
	if (!library_load(&http->library))
		return fail_device("%s: cannot load libmicrohttpd: %s; install "
				   "the package libmicrohttpd12 (Debian) or "
				   "libmicrohttpd (Enterprise Linux)",
				   option, dlerror());
	status = socket_open(http, option, where, &fd);
	if (status != CLI_DONE)
		return status;
	http->daemon = http->library.MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, request_answer, http,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)SLOTS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
		connection_note, http, MHD_OPTION_END);
	if (http->daemon)
		return CLI_DONE;
	close(fd);
	return fail_device("%s: libmicrohttpd cannot start the server: %s",
			   option, strerror(errno));
}

void http_stop(struct http *http)
{
	if (http->daemon)
		http->library.MHD_stop_daemon(http->daemon);
	http->daemon = NULL;
}

int http_fd(struct http *http)
{
	return http->library
		.MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)
		->epoll_fd;
}

int http_timeout_ms(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG timeout;
	int bound = -1;

	if (http->has_room)
		return 0;
	for (size_t i = 0; i < SLOTS; i++)
		if (http->connections[i].fd != MHD_INVALID_SOCKET)
			bound = CHECK_MS;
	if (http->library.MHD_get_timeout(http->daemon, &timeout) == MHD_YES &&
	    timeout < CHECK_MS)
		bound = (int)timeout;
	return bound;
}

void http_run(struct http *http)
{
	http->has_room = false;
	old_connections_end(http);
	http->library.MHD_run(http->daemon);
}
