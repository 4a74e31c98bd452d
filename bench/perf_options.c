/*
 * The command line.  Parsing prints nothing: in a job of many ranks one rank
 * says what is wrong.
 */
#include "perf_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
options_note_error(struct perf_options *options, const char *text, const char *value)
{
	if (options->error[0] == '\0')
		snprintf(options->error, sizeof options->error, "%s `%.60s'", text, value);
}

/* A positive whole number, with K or M behind it where bytes are meant. */
static int
parse_number(const char *text, size_t len, int bytes, size_t *value_out)
{
	char word[24], *end;
	unsigned long long value;

	if (len == 0 || len >= sizeof word || strspn(text, "0123456789") == 0)
		return -1;
	memcpy(word, text, len);
	word[len] = '\0';
	value = strtoull(word, &end, 10);
	if (bytes && (*end == 'K' || *end == 'k' || *end == 'M' || *end == 'm')) {
		value *= *end == 'K' || *end == 'k' ? 1024 : 1024 * 1024;
		end++;
	}
	if (*end != '\0' || value == 0 || value > PERF_MAX_BYTES)
		return -1;
	*value_out = (size_t)value;
	return 0;
}

/* Returns how many numbers the list has. */
static unsigned
parse_list(struct perf_options *options, const char *text, int bytes, size_t *list)
{
	const char *p = text;
	unsigned count = 0;
	size_t len;

	do {
		len = strcspn(p, ",");
		if (count == PERF_LIST || parse_number(p, len, bytes, &list[count]) != 0) {
			options_note_error(options, "not a list of numbers in range:", text);
			return 0;
		}
		count++;
		p += len;
	} while (*p++ == ',');
	return count;
}

static void
parse_ranks(struct perf_options *options, const char *text)
{
	size_t list[PERF_LIST];
	unsigned i;

	options->rank_count = parse_list(options, text, 0, list);
	for (i = 0; i < options->rank_count; i++) {
		options->ranks[i] = (unsigned)list[i];
		if (list[i] < 1 || list[i] > 65535)
			options_note_error(options, "not numbers of ranks:", text);
	}
}

static void
parse_secs(struct perf_options *options, const char *text)
{
	char *end;

	options->secs = strtod(text, &end);
	if (end == text || *end != '\0' || !(options->secs >= 0.001 && options->secs <= 3600))
		options_note_error(options, "seconds must be from 0.001 to 3600:", text);
}

/* The mode that a word of that length names; PERF_SYNC_DEFAULT if it names none. */
static enum perf_sync
sync_of(const char *word, size_t len)
{
	static const char *const words[] = {
		[PERF_SYNC_NO] = "no", [PERF_SYNC_MY] = "my", [PERF_SYNC_ALL] = "all",
	};

	for (int i = PERF_SYNC_NO; i <= PERF_SYNC_ALL; i++)
		if (strlen(words[i]) == len && strncmp(word, words[i], len) == 0)
			return (enum perf_sync)i;
	return PERF_SYNC_DEFAULT;
}

/* One word for both ends, or one for the start and one for the end. */
static void
parse_sync(struct perf_options *options, const char *text)
{
	const size_t len = strcspn(text, ",");
	const char *end = text[len] ? text + len + 1 : text;

	options->sync_in = sync_of(text, len);
	options->sync_out = sync_of(end, strlen(end));
	if (options->sync_in == PERF_SYNC_DEFAULT || options->sync_out == PERF_SYNC_DEFAULT)
		options_note_error(options,
		                   "synchronisation is no, my or all, or two of them:", text);
}

/* In optopt getopt leaves a letter, or the val of an option without a value; else the word is
 * wrong. */
static void
wrong_option(struct perf_options *options, char **argv, const struct option *known)
{
	const char *word = argv[optind - 1];
	const char letter[] = { '-', (char)optopt, '\0' };
	const size_t len = strcspn(word, "=");

	for (; optopt != 0 && word[len] == '=' && known->name != NULL; known++) {
		if (known->has_arg == no_argument && len > 2 &&
		    strncmp(word + 2, known->name, len - 2) == 0) {
			options_note_error(options, "this option takes no value:", word);
			return;
		}
	}
	options_note_error(options, "unknown option", optopt > ' ' && optopt < 127 ? letter : word);
}

void
perf_options_parse(struct perf_options *options_out, int argc, char **argv)
{
	static const struct option known[] = {
		{ "csv", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "kinds", required_argument, NULL, 'k' },
		{ "launcher", required_argument, NULL, 'l' },
		{ "progress", no_argument, NULL, 'p' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "secs", required_argument, NULL, 's' },
		{ "sizes", required_argument, NULL, 'z' },
		{ "sync", required_argument, NULL, 'y' },
		{ 0 },
	};
	struct perf_options options = { .secs = 0.2 };
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		switch (option) {
		case 'c':
			options.csv = 1;
			break;
		case 'h':
			options.help = 1;
			break;
		case 'k':
			options.kinds = optarg;
			break;
		case 'l':
			options.launcher = optarg;
			break;
		case 'p':
			options.progress = 1;
			break;
		case 'r':
			parse_ranks(&options, optarg);
			break;
		case 's':
			parse_secs(&options, optarg);
			break;
		case 'z':
			options.sizes[parse_list(&options, optarg, 1, options.sizes)] = 0;
			break;
		case 'y':
			parse_sync(&options, optarg);
			break;
		case ':':
			options_note_error(&options, "a value is missing after", argv[optind - 1]);
			break;
		default:
			wrong_option(&options, argv, known);
			break;
		}
	}
	if (optind < argc)
		options_note_error(&options, "unexpected argument", argv[optind]);
	*options_out = options;
}

int
perf_list_has(const char *list, const char *word, size_t len)
{
	const char *p = list;

	while (p != NULL && *p != '\0') {
		size_t here = strcspn(p, ",");

		if (here == len && strncmp(p, word, len) == 0)
			return 1;
		p += here;
		p += *p == ',';
	}
	return 0;
}

int
perf_options_want(const struct perf_options *options, const char *kind)
{
	return options->kinds == NULL || perf_list_has(options->kinds, kind, strlen(kind));
}
