/*
 * penstock-info: version, conduits, settings, limits, topology and kernel features, as a job on
 * this host would find them.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bootstrap/launcher.h"
#include "coll/introspect.h"
#include "offload/introspect.h"
#include "penstock.h"
#include "runtime/tools/introspect.h"
#include "tools/conduits.h"
#include "tools/memory_job.h"

enum { RANKS_MAX = 65535, MODE_MAX = 15, BAD_INPUT = 2 };
enum {
	OPT_SETTINGS_MD = 256, OPT_CLEAN, OPT_MEMORY, OPT_COLL, OPT_ALL, OPT_HOSTS, OPT_MODE,
	OPT_OFFLOAD, OPT_CONDUITS
};

static const char usage[] =
	"usage: penstock-info [-n RANKS] [--csv] [--group GROUP]\n"
	"       penstock-info --settings-md\n"
	"       penstock-info --conduits [-n RANKS] [--csv]\n"
	"       penstock-info --memory [-n RANKS] [--csv]\n"
	"       penstock-info --coll [--all] [-n RANKS] [--hosts HOSTS] [--mode MODE] [--csv]\n"
	"       penstock-info --offload[=FILE] [--csv]\n"
	"       penstock-info --clean\n"
	"\n"
	"  -n, --ranks RANKS   limits for a job of that many ranks on this host (1)\n"
	"  -g, --group GROUP   only that group, such as limit; counter: what ranks count\n"
	"  -c, --csv           one record per line: group,name,value,origin,note\n"
	"      --settings-md   the settings as a Markdown document\n"
	"      --conduits      what each conduit finds here, and what it keeps for a job's ranks\n"
	"      --memory        start a job of that many ranks, and print the memory of each part\n"
	"      --coll          ways and algorithms that collectives of that many ranks take\n"
	"      --all           with --coll, the other algorithms, too\n"
	"      --hosts HOSTS   with --coll, hosts that the ranks are on (as many as ranks)\n"
	"      --mode MODE     with --coll, what connects the hosts, as in rules (tcp)\n"
	"      --offload       providers that may carry collectives, and why others do not;\n"
	"                      or what became of jobs' calls, from a PST_OFFLOAD_STATSFILE\n"
	"      --clean         remove shared memory that killed jobs of this user left\n"
	"  -h, --help          this text\n"
	"  -V, --version       the version\n";

static const struct option options[] = {
	{ "ranks", required_argument, NULL, 'n' },
	{ "group", required_argument, NULL, 'g' },
	{ "csv", no_argument, NULL, 'c' },
	{ "settings-md", no_argument, NULL, OPT_SETTINGS_MD },
	{ "conduits", no_argument, NULL, OPT_CONDUITS },
	{ "memory", no_argument, NULL, OPT_MEMORY },
	{ "coll", no_argument, NULL, OPT_COLL },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "offload", optional_argument, NULL, OPT_OFFLOAD },
	{ "clean", no_argument, NULL, OPT_CLEAN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

struct view {
	const char *only;	/* the group to print; NULL: all */
	const char *last;	/* group that was printed last */
	uint32_t ranks;		/* 0: not said */
	bool csv;
	bool all;		/* algorithms, not only those that are taken */
	uint32_t hosts;		/* 0: not said */
	const char *mode;	/* NULL: not said */
	const char *stats;	/* file of counts of offload; NULL: not said */
};

static void
field_print(const char *text, char end)
{
	bool plain = !strpbrk(text, ",\"\n");

	if (!plain)
		putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	if (!plain)
		putchar('"');
	putchar(end);
}

static void
fact_print_csv(const struct psi_fact *fact)
{
	field_print(fact->group, ',');
	field_print(fact->name, ',');
	field_print(fact->value, ',');
	field_print(fact->origin, ',');
	field_print(fact->note, '\n');
}

/* Names of settings are longer than others; their meaning stands in the document. */
static void
fact_print_plain(const struct psi_fact *fact, const char *last)
{
	bool setting = strcmp(fact->group, "setting") == 0;

	if (!last || strcmp(last, fact->group) != 0)
		printf("%s%s\n", last ? "\n" : "", fact->group);
	printf("  %-*s %-24s %s", setting ? 26 : 14, fact->name, *fact->value ? fact->value : "-",
	       fact->origin);
	if (!setting && *fact->note)
		printf("  (%s)", fact->note);
	putchar('\n');
}

static void
fact_print(const struct psi_fact *fact, void *context)
{
	struct view *view = context;

	if (view->only && strcmp(view->only, fact->group) != 0)
		return;
	if (view->csv)
		fact_print_csv(fact);
	else
		fact_print_plain(fact, view->last);
	view->last = fact->group;
}

static uint32_t
number_read(const char *option_text, const char *text)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || number < 1 || number > RANKS_MAX) {
		fprintf(stderr, "penstock-info: %s %s: expected a number from 1 to %d\n",
			option_text, text, RANKS_MAX);
		exit(BAD_INPUT);
	}
	return (uint32_t)number;
}

/* Flushes the output.  The exit status tells whether all of it has been written. */
static int
output_finish(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "penstock-info: cannot write: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

static void
cleaned_print(bool removed, const char *text, void *told)
{
	printf("%s %s\n", removed ? "removed" : "kept", text);
	*(bool *)told = true;
}

static int
memory_clean(void)
{
	bool told = false;

	pboot_clean(cleaned_print, &told);
	if (!told)
		puts("nothing to remove");
	return output_finish();
}

/* A predicted time of -1 was not computed. */
static void
coll_print(const struct pcoll_fact *fact, void *arg)
{
	const struct view *view = arg;
	const double us = fact->predicted_ns == UINT64_MAX ? -1 : (double)fact->predicted_ns / 1000;

	if (view->csv)
		printf("%s,%zu,%s,%u,%zu,%.1f,%s\n", fact->operation, fact->bytes,
		       fact->algorithm, (unsigned)fact->radix, fact->piece_bytes, us, fact->rule);
	else
		printf("%-15s %8zu  %-14s %5u %9zu %12.1f  %-7s  %s\n", fact->operation,
		       fact->bytes, fact->algorithm, (unsigned)fact->radix, fact->piece_bytes, us,
		       fact->rule, fact->summary);
}

static struct pcoll_team
coll_team(const struct view *view)
{
	struct pcoll_team team = { .ranks = view->ranks ? view->ranks : 2, .hosts = view->hosts };

	if (!team.hosts)
		team.hosts = team.ranks;
	if (team.hosts > team.ranks) {
		fprintf(stderr, "penstock-info: --hosts %u: %u ranks are on %u hosts at most\n",
			(unsigned)team.hosts, (unsigned)team.ranks, (unsigned)team.ranks);
		exit(BAD_INPUT);
	}
	team.mode = team.hosts == 1 ? "smp" : view->mode ? view->mode : "tcp";
	if (view->mode && (strlen(view->mode) > MODE_MAX || (team.hosts == 1) !=
	                   (strcmp(view->mode, "smp") == 0))) {
		fprintf(stderr, "penstock-info: --mode %s: expected smp for one host, else a name "
			"of at most %d letters, such as tcp\n", view->mode, MODE_MAX);
		exit(BAD_INPUT);
	}
	if (!pcoll_mode_is_known(team.mode))
		fprintf(stderr, "penstock-info: --mode %s: none of those known ("
			PCOLL_MODES_KNOWN "); jobs that have it go as follows\n", team.mode);
	return team;
}

static void
coll_heading(const struct pcoll_team *team)
{
	if (team->hosts == 1)
		printf("Collectives of %u ranks on one host, most by shared memory (cells, flags); "
		       "by messages where a rule of\nthe user's says so, or these are quicker. "
		       "Predicted for ranks with a CPU each; -1: not computed.\n\n",
		       (unsigned)team->ranks);
	else
		printf("Collectives by messages, team of %u ranks, hosts: %u, mode: %s; predicted "
		       "for TCP between hosts.\nTeams on one host go by shared memory: --hosts 1.\n"
		       "\n", (unsigned)team->ranks, (unsigned)team->hosts, team->mode);
	printf("%-15s %8s  %-14s %5s %9s %12s  %s\n", "operation", "bytes", "algorithm", "radix",
	       "piece", "predicted us", "rule");
}

static int
coll_tell(struct view *view)
{
	const struct pcoll_team team = coll_team(view);

	if (view->csv)
		puts("operation,bytes,algorithm,radix,piece_bytes,predicted_us,rule");
	else
		coll_heading(&team);
	if (!pcoll_introspect(&team, view->all, coll_print, view)) {
		fprintf(stderr, "penstock-info: no memory for %u ranks\n", (unsigned)team.ranks);
		return EXIT_FAILURE;
	}
	return output_finish();
}

static void
offload_print(const struct poff_fact *fact, void *arg)
{
	struct view *view = arg;

	if (view->csv) {
		field_print(fact->name, ',');
		field_print(fact->taken ? "taken" : "left out", ',');
		field_print(fact->from, ',');
		field_print(fact->why, '\n');
	} else {
		printf("%-16s %-9s %s: %s\n", fact->name, fact->taken ? "taken" : "left out",
		       fact->from, fact->why);
	}
	view->last = fact->name;
}

static void
stat_print(const struct poff_stat *stat, void *arg)
{
	struct view *view = arg;

	if (view->csv) {
		field_print(stat->provider, ',');
		field_print(stat->of_device ? "device" : "teams", ',');
		field_print(stat->counter, ',');
		printf("%llu,", (unsigned long long)stat->value);
		field_print(stat->note, '\n');
		return;
	}
	if (!view->last)
		printf("%-16s %-7s %-24s %12s\n", "provider", "of", "count", "all");
	printf("%-16s %-7s %-24s %12llu%s%s\n", stat->provider,
	       stat->of_device ? "device" : "teams", stat->counter,
	       (unsigned long long)stat->value, stat->note[0] ? "  " : "", stat->note);
	view->last = stat->provider;
}

/* Sums over all ranks that led. */
static int
stats_tell(struct view *view)
{
	const char *wrong;

	if (view->csv)
		puts("provider,of,count,all,reason");
	wrong = poff_stats(view->stats, stat_print, view);
	if (!wrong)
		return output_finish();
	fprintf(stderr, "penstock-info: %s: %s\n", view->stats, wrong);
	return BAD_INPUT;
}

static int
offload_tell(struct view *view)
{
	if (view->stats)
		return stats_tell(view);
	if (view->csv)
		puts("provider,state,from,reason");
	poff_introspect(offload_print, view);
	if (!view->last && !view->csv)
		puts("no provider: PST_OFFLOAD is none");
	return output_finish();
}

static const char *
option_name(int option)
{
	const struct option *row = options;

	while (row->val != option)
		row++;
	return row->name;
}

static void
option_choose(int *what, int option)
{
	if (*what && *what != option) {
		fprintf(stderr, "penstock-info: --%s and --%s: choose one\n", option_name(*what),
		        option_name(option));
		exit(BAD_INPUT);
	}
	*what = option;
}

/* Refuses an option that has no effect: the user must have meant something else. */
static void
options_check_unused(int what, const struct view *view)
{
	const bool of_ranks = what == OPT_MEMORY || what == OPT_COLL || what == OPT_CONDUITS;
	const char *unused = NULL;

	if (what != OPT_COLL && (view->all || view->hosts || view->mode)) {
		fprintf(stderr, "penstock-info: --%s is for --coll\n",
			view->all ? "all" : view->hosts ? "hosts" : "mode");
		exit(BAD_INPUT);
	}
	if (what && view->only)
		unused = "group";
	else if (what && !of_ranks && view->ranks)
		unused = "ranks";
	else if (what && !of_ranks && what != OPT_OFFLOAD && view->csv)
		unused = "csv";
	if (!unused)
		return;
	fprintf(stderr, "penstock-info: --%s has no effect with --%s; leave it out\n", unused,
		option_name(what));
	exit(BAD_INPUT);
}

int
main(int argc, char **argv)
{
	struct view view = { 0 };
	int option, what = 0;

	while ((option = getopt_long(argc, argv, "n:g:chV", options, NULL)) != -1) {
		switch (option) {
		case 'n': view.ranks = number_read("-n", optarg); break;
		case OPT_HOSTS: view.hosts = number_read("--hosts", optarg); break;
		case OPT_MODE: view.mode = optarg; break;
		case 'g': view.only = optarg; break;
		case 'c': view.csv = true; break;
		case OPT_ALL: view.all = true; break;
		case OPT_SETTINGS_MD:
		case OPT_CONDUITS:
		case OPT_MEMORY:
		case OPT_COLL:
		case OPT_CLEAN: option_choose(&what, option); break;
		case OPT_OFFLOAD: view.stats = optarg; option_choose(&what, option); break;
		case 'h': fputs(usage, stdout); return output_finish();
		case 'V': printf("penstock-info %s\n", pst_version()); return output_finish();
		default: fputs(usage, stderr); return BAD_INPUT;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "penstock-info: unexpected argument: %s\n%s", argv[optind], usage);
		return BAD_INPUT;
	}
	options_check_unused(what, &view);
	if (what == OPT_CLEAN)
		return memory_clean();
	if (what == OPT_MEMORY)
		memory_job(view.ranks ? view.ranks : 1, view.csv);
	if (what == OPT_CONDUITS) {
		conduits_tell(view.ranks, view.csv);
		return output_finish();
	}
	if (what == OPT_COLL)
		return coll_tell(&view);
	if (what == OPT_OFFLOAD)
		return offload_tell(&view);
	if (what == OPT_SETTINGS_MD) {
		psi_introspect_settings_doc(stdout);
		return output_finish();
	}
	psi_introspect(view.ranks ? view.ranks : 1, fact_print, &view);
	if (view.only && !view.last) {
		fprintf(stderr, "penstock-info: no group is named %s\n", view.only);
		return BAD_INPUT;
	}
	return output_finish();
}
