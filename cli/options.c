/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of the command line. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "fabric.h"
#include "options.h"
#include "target.h"

#define MAX_LID \
	UINT32_C(0xbfffffff) /* of Omni-Path; the fabric knows its own */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	KEY_FABRIC = 256, /* options without a letter */
	KEY_DOT,
	KEY_FAULT,
	KEY_FIRST_LID,
	KEY_FOR,
	KEY_LEASE,
	KEY_LIKE,
	KEY_MATRIX,
	KEY_OPA,
	KEY_PARTITIONS,
	KEY_RECORD,
	KEY_SA,
	KEY_SA_AT,
	KEY_SEED,
	KEY_SM_KEY,
	KEY_SOCKET,
	KEY_SVG,
	KEY_UMAD,
	MAX_TIMEOUT_MS = 24 * 3600 * 1000,
	MAX_PORT = 254,
};

static int name(const char *option, const char *value, const char **out)
{
	if (!*value) {
		complain("%s: the name is empty", option);
		return CLI_USAGE;
	}
	*out = value;
	return CLI_DONE;
}

static int set_device(struct cli *cli, const char *value)
{
	return name("--device", value, &cli->open.device);
}

static int set_fabric(struct cli *cli, const char *value)
{
	return name("--fabric", value, &cli->open.fabric);
}

/* A number from 1 to @max. */
static int small_number(const char *option, const char *value, unsigned int max,
			unsigned int *out)
{
	uint64_t number;

	if (ibsa_number_parse(value, 32, &number) != 0 || number == 0 ||
	    number > max) {
		complain("%s: '%s' is not a number from 1 to %u", option, value,
			 max);
		return CLI_USAGE;
	}
	*out = (unsigned int)number;
	return CLI_DONE;
}

static int set_port(struct cli *cli, const char *value)
{
	return small_number("--port", value, MAX_PORT, &cli->open.port);
}

static int set_timeout(struct cli *cli, const char *value)
{
	return small_number("--timeout", value, MAX_TIMEOUT_MS,
			    &cli->open.deadline_ms);
}

/* Of a fabric that is run, what its SA is; else the address of one. */
static int set_sa(struct cli *cli, const char *value)
{
	struct ibsa_error error;

	if (strcmp(value, "embedded") == 0 || strcmp(value, "none") == 0) {
		cli->sa_mode = value;
		return CLI_DONE;
	}
	if (sa_parse(value, &cli->sa, &error) != 0) {
		complain("%s%s", error.text,
			 cli->arg_count > 0 &&
					 strcmp(cli->args[0], "fabric") == 0
				 ? ", nor embedded or none"
				 : "");
		return CLI_USAGE;
	}
	cli->open.sa = &cli->sa;
	return CLI_DONE;
}

/* The first line of a file, so that a key is on no command line. */
static int read_key(const char *file, char *out, int size)
{
	FILE *stream = fopen(file, "re");
	int err = stream ? 0 : errno;

	out[0] = '\0';
	if (stream) {
		if (!fgets(out, size, stream) && ferror(stream))
			err = errno;
		fclose(stream);
	}
	if (err) {
		complain("--sm-key: cannot read '%s': %s", file, strerror(err));
		return err == EACCES ? CLI_DEVICE : CLI_USAGE;
	}
	out[strcspn(out, " \t\r\n")] = '\0';
	return CLI_DONE;
}

static int set_sm_key(struct cli *cli, const char *value)
{
	char line[64];
	int status;

	if (*value == '@') {
		status = read_key(value + 1, line, sizeof(line));
		if (status != CLI_DONE)
			return status;
		value = line;
	}
	if (ibsa_number_parse(value, 64, &cli->open.sm_key) != 0) {
		complain("--sm-key: the key is not a number of 64 bits");
		return CLI_USAGE;
	}
	return CLI_DONE;
}

static int set_all(struct cli *cli, const char *value)
{
	(void)value;
	cli->all = true;
	return CLI_DONE;
}

static int set_matrix(struct cli *cli, const char *value)
{
	(void)value;
	cli->matrix = true;
	return CLI_DONE;
}

static int set_dot(struct cli *cli, const char *value)
{
	return name("--dot", value, &cli->dot);
}

static int set_record(struct cli *cli, const char *value)
{
	return name("--record", value, &cli->record_path);
}

static int set_socket(struct cli *cli, const char *value)
{
	return name("--socket", value, &cli->socket);
}

static int set_sa_at(struct cli *cli, const char *value)
{
	return name("--sa-at", value, &cli->sa_at);
}

static int set_seed(struct cli *cli, const char *value)
{
	if (ibsa_number_parse(value, 64, &cli->seed) != 0) {
		complain("--seed: '%s' is not a number", value);
		return CLI_USAGE;
	}
	cli->has_seed = true;
	return CLI_DONE;
}

static int set_first_lid(struct cli *cli, const char *value)
{
	unsigned int lid;
	const int status = small_number("--first-lid", value, MAX_LID, &lid);

	if (status == CLI_DONE)
		cli->first_lid = lid;
	return status;
}

static int set_like(struct cli *cli, const char *value)
{
#define LIKE_WORD(name, word, text) word,
	static const char *const words[] = { IBSA_FABRIC_LIKES(LIKE_WORD) };
#undef LIKE_WORD

	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(words[i], value) != 0)
			continue;
		cli->like = (enum ibsa_fabric_like)i;
		return CLI_DONE;
	}
	complain("--like: there is no '%s'; see ibsa fabric run --help", value);
	return CLI_USAGE;
}

static int set_partitions(struct cli *cli, const char *value)
{
	return name("--partitions", value, &cli->partitions);
}

static int set_opa(struct cli *cli, const char *value)
{
	(void)value;
	cli->opa = true;
	return CLI_DONE;
}

static int set_fault(struct cli *cli, const char *value)
{
	if (cli->fault_count == CLI_FAULTS_MAX) {
		complain("--fault is given more than %d times", CLI_FAULTS_MAX);
		return CLI_USAGE;
	}
	cli->faults[cli->fault_count++] = value;
	return CLI_DONE;
}

static int set_svg(struct cli *cli, const char *value)
{
	return name("--svg", value, &cli->svg);
}

static int set_umad(struct cli *cli, const char *value)
{
	return name("--umad", value, &cli->umad);
}

/* An IPv4 address is the GID that RoCE makes of it. */
static int address_parse(const char *text, struct ibsa_gid *out)
{
	char mapped[IBSA_GID_TEXT];

	if (strchr(text, ':'))
		return ibsa_gid_parse(text, out);
	/* Without a dot it would be the end of an IPv6 address. */
	if (!strchr(text, '.'))
		return -EINVAL;
	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return ibsa_gid_parse(mapped, out);
}

/* The address that stands for none, of either family. */
static bool is_unspecified(const struct ibsa_gid *gid)
{
	static const struct ibsa_gid zero;
	static const struct ibsa_gid ipv4 = { { [10] = 0xff, 0xff } };

	return memcmp(gid, &zero, sizeof(zero)) == 0 ||
	       memcmp(gid, &ipv4, sizeof(ipv4)) == 0;
}

static int set_for(struct cli *cli, const char *value)
{
	if (address_parse(value, &cli->address_gid)) {
		complain("--for: '%s' is neither an IPv4 nor an IPv6 address, "
			 "nor a GID",
			 value);
		return CLI_USAGE;
	}
	if (is_unspecified(&cli->address_gid)) {
		complain("--for: '%s' is nobody's address", value);
		return CLI_USAGE;
	}
	cli->address = value;
	return CLI_DONE;
}

static int set_lease(struct cli *cli, const char *value)
{
	uint64_t seconds = IBSA_LEASE_INFINITE;

	if (strcmp(value, "infinite") != 0 &&
	    (ibsa_number_parse(value, 32, &seconds) != 0 || seconds == 0)) {
		complain("--lease: '%s' is neither a number of seconds from 1 "
			 "to 4294967294 nor infinite",
			 value);
		return CLI_USAGE;
	}
	cli->lease = (uint32_t)seconds;
	return CLI_DONE;
}

static int set_json(struct cli *cli, const char *value)
{
	(void)value;
	cli->json = true;
	return CLI_DONE;
}

static int set_verbose(struct cli *cli, const char *value)
{
	(void)value;
	cli->verbose = true;
	return CLI_DONE;
}

static int set_version(struct cli *cli, const char *value)
{
	(void)value;
	cli->version = true;
	return CLI_DONE;
}

static int set_help(struct cli *cli, const char *value)
{
	(void)value;
	cli->help = true;
	return CLI_DONE;
}

/* clang-format off */
static const struct row {
	int key;
	const char *name;
	const char *argument;
	const char *help;
	int (*set)(struct cli *cli, const char *value);
} rows[] = {
	{ 'C', "device", "NAME", "the device, or node of a fabric, to ask from",
	  set_device },
	{ 'P', "port", "N", "its port", set_port },
	{ KEY_FABRIC, "fabric", "FILE",
	  "an embedded fabric from a topology file, or unix:PATH", set_fabric },
	{ 't', "timeout", "MS", "how long to wait for an answer (10000)",
	  set_timeout },
	{ KEY_SA, "sa", "ADDR", "the SA: a LID, a GID, or lid=..,sl=..,gid=..",
	  set_sa },
	{ KEY_SM_KEY, "sm-key", "KEY", "sent with each request; @FILE reads it",
	  set_sm_key },
	{ 'a', "all", NULL,
	  "path: all paths; gids --for: all GIDs; reach: all", set_all },
	{ KEY_DOT, "dot", "FILE",
	  "fabric info: a drawing for Graphviz; - is stdout", set_dot },
	{ KEY_FAULT, "fault", "KIND=N",
	  "fabric: what goes wrong, in N of 100 MADs", set_fault },
	{ KEY_FIRST_LID, "first-lid", "LID",
	  "fabric: LIDs are given from here on", set_first_lid },
	{ KEY_FOR, "for", "ADDRESS", "gids: which one to use for an address",
	  set_for },
	{ KEY_LEASE, "lease", "SECONDS",
	  "service: how long it stays, or infinite", set_lease },
	{ KEY_LIKE, "like", "SM", "fabric: whose manners its SA has", set_like },
	{ KEY_MATRIX, "matrix", NULL, "reach: who can reach whom", set_matrix },
	{ KEY_OPA, "opa", NULL, "fabric: its links are of Omni-Path", set_opa },
	{ KEY_PARTITIONS, "partitions", "FILE",
	  "fabric: who has which P_Key", set_partitions },
	{ KEY_RECORD, "record", "FILE",
	  "write what is on the embedded fabric, for Wireshark", set_record },
	{ KEY_SVG, "svg", "FILE",
	  "reach, fabric info: a picture; - is stdout", set_svg },
	{ KEY_SOCKET, "socket", "PATH",
	  "fabric run, exec: where clients connect", set_socket },
	{ KEY_SA_AT, "sa-at", "NODE", "fabric: where its SA is", set_sa_at },
	{ KEY_SEED, "seed", "N", "fabric: of what happens at random",
	  set_seed },
	{ KEY_UMAD, "umad", "DEVICE",
	  "fabric serve: where the SA answers, DEVICE[/PORT]", set_umad },
	{ 'j', "json", NULL, "write JSON", set_json },
	{ 'v', "verbose", NULL, "all fields; tries and times on stderr",
	  set_verbose },
	{ 'V', "version", NULL, "show the version", set_version },
	{ 'h', "help", NULL, "show help; also for a command or a record",
	  set_help },
};
/* clang-format on */

/* Order does not matter: "-" makes getopt hand over arguments as they come. */
static void make_options(char *letters, struct option *options)
{
	*letters++ = '-';
	*letters++ = ':';
	for (size_t i = 0; i < COUNT(rows); i++) {
		int has = rows[i].argument ? required_argument : no_argument;

		options[i] = (struct option){ .name = rows[i].name,
					      .has_arg = has,
					      .val = rows[i].key };
		if (rows[i].key >= KEY_FABRIC)
			continue;
		*letters++ = (char)rows[i].key;
		if (rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	options[COUNT(rows)] = (struct option){ .name = NULL };
}

/* How many options' names begin so. */
static size_t count_names(const char *start)
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT(rows); i++)
		count += strncmp(rows[i].name, start, strlen(start)) == 0;
	return count;
}

static bool is_key(int key)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].key == key)
			return true;
	return false;
}

/* Of a long option, optopt is 0, or its key if it has a value in vain. */
static int wrong_option(char **argv, int key)
{
	const char *text = argv[optind - 1];
	const char *more = fabric_runs_command(argv)
				   ? "one of the command belongs behind --"
				   : "see ibsa --help";

	if (key == ':')
		complain("option '%s' needs a value; see ibsa --help", text);
	else if (optopt != 0 && is_key(optopt))
		complain("option '%.*s' takes no value; see ibsa --help",
			 (int)strcspn(text, "="), text);
	else if (optopt != 0)
		complain("there is no option '-%c'; %s", optopt, more);
	else if (count_names(text + strlen("--")) > 1)
		complain("option '%s' is short for more than one; see ibsa "
			 "--help",
			 text);
	else
		complain("there is no option '%s'; %s", text, more);
	return CLI_USAGE;
}

static int take(struct cli *cli, int key, char **argv)
{
	if (key == 1) {
		cli->args[cli->arg_count++] = optarg;
		return CLI_DONE;
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].key != key)
			continue;
		cli->given |= UINT64_C(1) << i;
		return rows[i].set(cli, optarg);
	}
	return wrong_option(argv, key);
}

int options_parse(struct cli *cli, int argc, char **argv)
{
	struct option options[COUNT(rows) + 1];
	char letters[2 * COUNT(rows) + 3];
	int status = CLI_DONE;
	int key;

	make_options(letters, options);
	cli->args = calloc((size_t)argc + 1, sizeof(*cli->args));
	if (!cli->args) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	opterr = 0;
	while (status == CLI_DONE &&
	       (key = getopt_long(argc, argv, letters, options, NULL)) != -1)
		status = take(cli, key, argv);
	while (status == CLI_DONE && optind < argc)
		cli->args[cli->arg_count++] = argv[optind++];
	return status;
}

/* Those that every command takes, whatever it may make of them. */
static bool is_common(int key)
{
	switch (key) {
	case 'C':
	case 'P':
	case 't':
	case 'j':
	case 'v':
	case 'V':
	case 'h':
	case KEY_FABRIC:
	case KEY_SA:
	case KEY_SM_KEY:
		return true;
	default:
		return false;
	}
}

static bool is_taken(const struct command *command, int key)
{
	switch (key) {
	case 'a':
		return command->takes_all;
	case KEY_FOR:
		return command->takes_address;
	case KEY_LEASE:
		return command->takes_lease;
	case KEY_MATRIX:
		return command->run == cmd_reach;
	case KEY_RECORD:
		return command->run != cmd_devices && command->run != cmd_gids;
	case KEY_SVG:
		return command->run == cmd_reach || command->run == cmd_fabric;
	default:
		return is_common(key) || command->run == cmd_fabric;
	}
}

bool options_fit(const struct cli *cli, const struct command *command)
{
	if (cli->sa_mode && command->run != cmd_fabric) {
		complain("--sa: '%s' is for ibsa fabric run; else it is a LID, "
			 "a GID, or lid=..,sl=..,gid=..",
			 cli->sa_mode);
		return false;
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		const int key = rows[i].key;

		/* devices says itself why it takes none of these. */
		if (!(cli->given >> i & 1) || is_common(key) ||
		    is_taken(command, key))
			continue;
		complain("%s has no option --%s", command->name, rows[i].name);
		return false;
	}
	return true;
}

/* Whether @name is one of the words of @list. */
static bool is_listed(const char *list, const char *name)
{
	const size_t len = strlen(name);

	while (*list) {
		const size_t word = strcspn(list, " ");

		if (word == len && memcmp(list, name, len) == 0)
			return true;
		list += word + strspn(list + word, " ");
	}
	return false;
}

bool options_only(const struct cli *cli, const char *whose, const char *list)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!(cli->given >> i & 1) || is_common(rows[i].key) ||
		    is_listed(list, rows[i].name))
			continue;
		complain("%s has no option --%s", whose, rows[i].name);
		return false;
	}
	return true;
}

void options_help(struct cli *cli, const struct command *command)
{
	const char *list = command && command->options ? command->options(cli)
						       : NULL;

	out_line(&cli->out, "options, anywhere on the line:");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char left[32];
		char letter[] = "    ";

		if (command && !is_taken(command, rows[i].key))
			continue;
		if (list && !is_common(rows[i].key) &&
		    !is_listed(list, rows[i].name))
			continue;
		if (rows[i].key < KEY_FABRIC)
			snprintf(letter, sizeof(letter), "-%c, ",
				 (char)rows[i].key);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, rows[i].name,
			 rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		out_line(&cli->out, "  %-21s  %s", left, rows[i].help);
	}
}
