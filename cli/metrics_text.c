/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes metrics as text. */
#include <stdarg.h>

#include <ibsa/text.h>

#include "metrics_text.h"

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

/* Control characters are replaced as in all output; the formats escape these. */
static void value_write(FILE *file, const char *value)
{
	char clean[256];

	while (*value) {
		ibsa_text_clean(&value, clean, sizeof(clean));
		for (const char *at = clean; *at; at++) {
			if (*at == '"' || *at == '\\')
				fputc('\\', file);
			fputc(*at, file);
		}
	}
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
		fprintf(text->file, "%c%s=\"", separator, name);
		value_write(text->file, va_arg(args, const char *));
		fputc('"', text->file);
		separator = ',';
	}
	va_end(args);
	fprintf(text->file, "%s %.15g\n", separator == ',' ? "}" : "", value);
}
