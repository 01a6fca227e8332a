/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsad: gives programs of ordinary users a part of the umad files of one
 * device.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ibsa/ibsa.h>
#include <ibsa/server.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/error.h"
#include "ibsad/daemon.h"
#include "ibsad/settings.h"
#include "ibsad/systemd.h"

enum {
	EVENTS_MAX = 64,
	REFRESH_MS = 1000,
	END_MS = 2000,	 /* to delete what users have registered */
	MEMORY_MB = 512, /* for clients; ibsad@.service permits twice as much */
	EXIT_USAGE = 2,
};

static const char usage[] =
	"usage: ibsad [--config FILE] [--guid-info] [--multicast MGID/BITS]...\n"
	"             [--multicast-create] [--no-cache] [--performance]\n"
	"             [--preload NUMBER] [--quota NAME=ONE[/ALL]]...\n"
	"             [--standalone [--socket PATH]] DEVICE\n"
	"       ibsad --status [--socket PATH] DEVICE\n"
	"\n"
	"Gives programs of all users a part of the SA's services at DEVICE.\n"
	"\n"
	"  --config FILE         options, one a line, read again at SIGHUP\n"
	"  --guid-info           permit to set alias GUIDs of the port\n"
	"  --multicast MGID/BITS  permit to join the groups whose MGID begins so\n"
	"  --multicast-create    permit to create these groups\n"
	"  --no-cache            send each query to the SA\n"
	"  --performance         permit to read performance counters\n"
	"  --preload NUMBER      after so many queries for paths from a port in a\n"
	"                        second, get the paths to all destinations; 0: never\n"
	"  --quota NAME=ONE/ALL  limit of one user, and of all users but root;\n"
	"                        NAME: connections, requests (a second), bytes,\n"
	"                        in-flight, registrations; 0: no limit\n"
	"  --socket PATH         with --standalone or --status; default: /run/ibsad/DEVICE\n"
	"  --standalone          create the socket, without systemd\n"
	"  --status              print the counters of the ibsad of DEVICE\n"
	"  -h, --help\n"
	"  -V, --version\n"
	"\n"
	"See ibsad(8).\n";

enum {
	OPTION_SETTING = 256, /* see ibsad_setting_take() */
	OPTION_CONFIG,
	OPTION_SOCKET,
	OPTION_ALONE,
	OPTION_STATUS,
};

static const struct option options[] = {
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "guid-info", no_argument, NULL, OPTION_SETTING },
	{ "multicast", required_argument, NULL, OPTION_SETTING },
	{ "multicast-create", no_argument, NULL, OPTION_SETTING },
	{ "no-cache", no_argument, NULL, OPTION_SETTING },
	{ "performance", no_argument, NULL, OPTION_SETTING },
	{ "preload", required_argument, NULL, OPTION_SETTING },
	{ "quota", required_argument, NULL, OPTION_SETTING },
	{ "socket", required_argument, NULL, OPTION_SOCKET },
	{ "standalone", no_argument, NULL, OPTION_ALONE },
	{ "status", no_argument, NULL, OPTION_STATUS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static void print_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* @name: of a long option. Return: whether the option is valid. */
static bool option_take(int option, const char *name, struct settings *settings)
{
	struct ibsa_error error;

	switch (option) {
	case 'h':
		print_and_exit(usage);
		return true;
	case 'V':
		print_and_exit("ibsad " IBSA_VERSION "\n");
		return true;
	case OPTION_SETTING:
		if (!ibsad_setting_take(name, optarg, settings, &error))
			return true;
		ibsad_log("%s", error.text);
		return false;
	case OPTION_CONFIG:
		settings->config = optarg;
		return true;
	case OPTION_SOCKET:
		settings->socket = optarg;
		return true;
	case OPTION_ALONE:
		settings->is_standalone = true;
		return true;
	case OPTION_STATUS:
		settings->is_status = true;
		return true;
	default:
		return false;
	}
}

static bool settings_read(int argc, char **argv, struct settings *out)
{
	int option;
	int at = 0;

	while ((option = getopt_long(argc, argv, "hV", options, &at)) != -1)
		if (!option_take(option, options[at].name, out))
			return false;
	if (optind + 1 != argc) {
		ibsad_log("give one device; see ibsad --help");
		return false;
	}
	out->device = argv[optind];
	if (out->socket && !out->is_standalone && !out->is_status) {
		ibsad_log("--socket needs --standalone or --status: otherwise "
			  "systemd makes the socket");
		return false;
	}
	return true;
}

int ibsad_poll_add(struct daemon *daemon, int fd, void *data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = data };

	return epoll_ctl(daemon->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno
								     : 0;
}

static int signals_open(struct daemon *daemon)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	daemon->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (daemon->signal_fd < 0)
		return -errno;
	return ibsad_poll_add(daemon, daemon->signal_fd, &daemon->signal_fd);
}

/* The path of the socket. */
struct socket_path {
	char text[sizeof("/run/ibsad/") + NAME_MAX];
};

static struct socket_path socket_path(const struct settings *settings)
{
	struct socket_path path;

	snprintf(path.text, sizeof(path.text), "%s%.*s",
		 settings->socket ? "" : "/run/ibsad/", NAME_MAX,
		 settings->socket ? settings->socket : settings->device);
	return path;
}

static int server_open(struct daemon *daemon, const struct settings *settings,
		       int listener, struct ibsa_error *error)
{
	struct server_options serve = {
		.ops = &ibsad_serve_ops,
		.owner = daemon,
		.lock = &daemon->lock,
		.title = "ibsad",
		.note = ibsad_log_note,
		.arg = daemon,
		.memory_mb = MEMORY_MB,
		.any_user = true,
		.listener = listener,
		.input_fd = daemon->poll_fd,
		.path_stays = listener && !daemon->owns_socket,
	};

	memcpy(serve.quotas, settings->quotas, sizeof(serve.quotas));
	return ibsa__server_open(socket_path(settings).text, &serve, error,
				 &daemon->server);
}

static bool is_cache(const struct daemon *daemon, const void *data)
{
	const struct ibsad_cache *cache = data;

	return cache >= daemon->caches && cache <= daemon->caches + IBSAD_PORTS;
}

/* Apply those settings that may change while clients are connected. */
static void settings_apply(struct daemon *daemon,
			   const struct settings *settings)
{
	daemon->performance = settings->performance;
	daemon->guid_info = settings->guid_info;
	daemon->groups = settings->groups;
	daemon->owned.most = settings->quotas[SERVE_REGISTRATIONS].all;
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		daemon->caches[i].is_off = settings->no_cache;
		daemon->caches[i].preload.after = settings->preload;
	}
	ibsa__server_quotas_set(daemon->server, settings->quotas);
}

/* Read the file of settings again. If it has an error, nothing changes. */
static void settings_reload(struct daemon *daemon)
{
	struct settings settings = *daemon->settings;
	struct ibsa_error error;

	if (ibsad_settings_read(&settings, &error)) {
		ibsad_log("the settings stay as they are: %s", error.text);
		return;
	}
	settings_apply(daemon, &settings);
	ibsad_log("the settings were read again");
}

/*
 * Continue as the program that is installed now, which is a newer one after an
 * upgrade. Clients wait at the socket until it accepts them.
 */
static void program_replace(struct daemon *daemon)
{
	const int err = ibsad_systemd_replace(
		ibsa__server_listener(daemon->server), daemon->owns_socket,
		daemon->settings->argv);

	ibsad_log("cannot execute %.200s: %s", daemon->settings->argv[0],
		  strerror(-err));
}

static void signal_handle(struct daemon *daemon)
{
	struct signalfd_siginfo info;

	if (read(daemon->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP)
		settings_reload(daemon);
	else if (info.ssi_signo == SIGUSR2)
		program_replace(daemon);
	else
		daemon->is_ending = true;
}

static void event_handle(struct daemon *daemon, void *data)
{
	if (data == &daemon->signal_fd)
		signal_handle(daemon);
	else if (data == daemon->clients)
		daemon->has_input = true;
	else if (is_cache(daemon, data))
		ibsad_cache_receive(data);
	else
		ibsad_file_readable(data);
}

void ibsad_input(void *owner)
{
	struct daemon *daemon = owner;
	struct epoll_event events[EVENTS_MAX];
	const int count = epoll_wait(daemon->poll_fd, events, EVENTS_MAX, 0);

	pthread_mutex_lock(&daemon->lock);
	for (int i = 0; i < count; i++)
		event_handle(daemon, events[i].data.ptr);
	pthread_mutex_unlock(&daemon->lock);
}

static int timeout_ms(const struct daemon *daemon, uint64_t read_ns, int due_ms)
{
	const int own_ms = sooner_ms(ibsad_clients_timeout_ms(daemon), due_ms);

	if (!ibsa__server_stats(daemon->server).clients)
		return own_ms;
	return sooner_ms(own_ms, ibsa__clock_left_ms(REFRESH_MS, read_ns));
}

static void ports_follow(struct daemon *daemon, uint64_t *read_ns)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns - *read_ns < REFRESH_MS * NS_PER_MS)
		return;
	*read_ns = now_ns;
	if (!ibsad_ports_refresh(&daemon->ports))
		return;
	ibsa__server_changed(daemon->server);
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		ibsad_cache_flush(&daemon->caches[i]);
}

/* Return: 0 after a signal; or -errno. */
static int loop_run(struct daemon *daemon)
{
	uint64_t read_ns = 0;
	int due_ms = -1;
	int err = 0;

	while (!daemon->is_ending && (!err || err == -EINTR)) {
		err = ibsa__server_wait(daemon->server,
					timeout_ms(daemon, read_ns, due_ms));
		ports_follow(daemon, &read_ns);
		ibsad_clients_dispatch(daemon);
		due_ms = sooner_ms(ibsad_owned_tick(&daemon->owned),
				   ibsad_preload_tick(daemon->caches));
	}
	return daemon->is_ending ? 0 : err;
}

/*
 * Return: the option fabric for ibsad's own clients: the fabric of the
 * environment; or "", for the device file, because ibsad must not become a
 * client of itself.
 */
static const char *own_fabric(const struct settings *settings)
{
	const char *fabric =
		ibsa__environment_read(!settings->is_standalone).fabric;

	return fabric ? fabric : "";
}

static void parts_init(struct daemon *daemon, const struct settings *settings)
{
	daemon->fabric = own_fabric(settings);
	ibsad_owned_init(&daemon->owned, daemon,
			 settings->quotas[SERVE_REGISTRATIONS].all);
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		ibsad_cache_init(&daemon->caches[i], daemon, i,
				 settings->no_cache);
		ibsad_reports_init(&daemon->reports[i], daemon, i);
	}
}

static int daemon_run(struct daemon *daemon, const struct settings *settings,
		      int listener, struct ibsa_error *error)
{
	int err;

	daemon->caches = ibsa__calloc(IBSAD_PORTS + 1, sizeof(*daemon->caches));
	if (!daemon->caches)
		return -ENOMEM;
	daemon->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = daemon->poll_fd < 0 ? -errno : signals_open(daemon);
	if (err)
		return err;
	err = ibsad_ports_open(&daemon->ports, settings->device,
			       settings->is_standalone, error);
	if (err)
		return err;
	parts_init(daemon, settings);
	err = ibsad_owned_restore(&daemon->owned, getenv("RUNTIME_DIRECTORY"));
	if (err)
		ibsa__fail(error, err,
			   "cannot read or write the file "
			   "registrations in RUNTIME_DIRECTORY: %s",
			   strerror(-err));
	else
		err = server_open(daemon, settings, listener, error);
	if (!err) {
		settings_apply(daemon, settings);
		ibsad_systemd_notify("READY=1");
		err = loop_run(daemon);
		ibsad_systemd_notify("STOPPING=1");
	}
	ibsa__server_close(daemon->server);
	daemon->server = NULL;
	ibsad_clients_close(daemon, END_MS);
	ibsad_owned_done(&daemon->owned);
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		ibsad_cache_done(&daemon->caches[i]);
		ibsad_reports_done(&daemon->reports[i]);
	}
	ibsa__free(daemon->caches);
	ibsad_ports_close(&daemon->ports);
	return err;
}

/* Return: the exit status. */
static int status_print(const struct settings *settings)
{
	char address[sizeof("unix:") + sizeof(struct socket_path)];
	struct ibsa_error error;
	char text[4096];

	snprintf(address, sizeof(address), "unix:%s",
		 socket_path(settings).text);
	if (ibsa_server_command(address, "status", text, sizeof(text),
				&error)) {
		ibsad_log("%s", error.text);
		return EXIT_FAILURE;
	}
	print_and_exit(text);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.argv = argv,
		.quotas = {
			[SERVE_CONNECTIONS] = { .one = 128, .all = 768 },
			[SERVE_REQUESTS] = { .one = 20000, .all = 50000 },
			[SERVE_BYTES] = { .one = 128 << 20, .all = 512 << 20 },
			[SERVE_IN_FLIGHT] = { .one = 4096, .all = 16384 },
			[SERVE_REGISTRATIONS] = { .one = 64, .all = 1024 },
		},
	};
	struct daemon daemon = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.poll_fd = -1,
		.signal_fd = -1,
	};
	struct ibsa_error error = { "" };
	struct settings base;
	int listener;
	bool is_own;
	int err;

	if (!settings_read(argc, argv, &settings))
		return EXIT_USAGE;
	if (settings.is_status)
		return status_print(&settings);
	base = settings;
	daemon.settings = &base;
	if (ibsad_settings_read(&settings, &error)) {
		ibsad_log("%s", error.text);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	listener = ibsad_systemd_socket(&is_own);
	daemon.owns_socket = settings.is_standalone && (!listener || is_own);
	if (!settings.is_standalone)
		ibsa_environment_ignore();
	if (listener < 0 || (!listener && !settings.is_standalone)) {
		ibsad_log("systemd has not passed one socket; to start ibsad "
			  "by hand, give --standalone");
		return EXIT_USAGE;
	}
	err = daemon_run(&daemon, &settings, listener, &error);
	if (err)
		ibsad_log("%s", *error.text ? error.text : strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
