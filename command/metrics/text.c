/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes metrics as text. */
#include <stdarg.h>
#include <string.h>

#include "common/clean.h"
#include "metrics/text.h"

static const char *suffix(const struct metric *metric)
{
	return metric->type == METRIC_COUNTER ? "_total" : "";
}

/* In OpenMetrics, "_total" belongs to the sample, not to the metric. */
static void header_write(struct metrics_text *text)
{
	const struct metric *metric = text->metric;
	const char *end = text->format == METRICS_PROMETHEUS ? suffix(metric)
							     : "";

	fprintf(text->file, "# TYPE %s%s %s\n", metric->name, end,
		metric->type == METRIC_COUNTER ? "counter" : "gauge");
	if (*metric->unit)
		fprintf(text->file, "# UNIT %s%s %s\n", metric->name, end,
			metric->unit);
	fprintf(text->file, "# HELP %s%s %s\n", metric->name, end,
		metric->help);
}

/*
 * Write the value of a label. Control characters are replaced as in all output;
 * quotes and backslashes are escaped, as both text formats require.
 */
static void value_write(FILE *file, const char *value)
{
	char clean[256];

	while (*value) {
		ibsa__text_clean(&value, clean, sizeof(clean));
		for (const char *at = clean; *at; at++) {
			if (*at == '"' || *at == '\\')
				fputc('\\', file);
			fputc(*at, file);
		}
	}
}

static void label_write(FILE *file, char separator, const char *name,
			size_t len, const char *value)
{
	fprintf(file, "%c%.*s=\"", separator, (int)len, name);
	value_write(file, value);
	fputc('"', file);
}

/* Source: Prometheus, "Data model": names that begin with "__" are its own. */
static bool is_label_name(const char *name)
{
	static const char characters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		"0123456789";

	return *name && !strchr("0123456789", *name) &&
	       !name[strspn(name, characters)] && strncmp(name, "__", 2) != 0;
}

/* Whether @list, separated by blanks, contains @name. */
static bool label_is_listed(const char *name, const char *list)
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

bool metrics_label_check(const char *label)
{
	/* The labels of the table of metrics. */
	static const char own[] = "device gid guid kind lid link_layer node "
				  "peer port port_role priority result "
				  "severity state status type version what";
	const size_t len = strcspn(label, "=");
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)len, label);
	if (len >= sizeof(name) || !is_label_name(name) || !label[len] ||
	    !label[len + 1])
		complain("--label: '%s' is not NAME=VALUE, such as "
			 "fabric=storage",
			 label);
	else if (label_is_listed(name, own))
		complain("--label: the metrics already have a label '%s'; use "
			 "another name, such as fabric",
			 name);
	else
		return true;
	return false;
}

void metrics_sample(struct metrics_text *text, double value, ...)
{
	const char *name;
	char separator = '{';
	va_list args;

	if (!text->has_header)
		header_write(text);
	text->has_header = true;
	fprintf(text->file, "%s%s", text->metric->name, suffix(text->metric));
	va_start(args, value);
	while ((name = va_arg(args, const char *))) {
		label_write(text->file, separator, name, strlen(name),
			    va_arg(args, const char *));
		separator = ',';
	}
	va_end(args);
	if (text->label) {
		const size_t len = strcspn(text->label, "=");

		label_write(text->file, separator, text->label, len,
			    text->label + len + 1);
		separator = ',';
	}
	fprintf(text->file, "%s %.15g\n", separator == ',' ? "}" : "", value);
}
