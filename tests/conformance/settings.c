/* What a wrong setting leads to: one line and status 2, or one warning, and never silence. */
#include "tests/lib/pt_spawn.h"

static void
job(int argc, char **argv)
{
	pt_init(&argc, &argv, 0);
	if (pt.rank == 0)
		printf("max %lu\n", (unsigned long)gasnet_getMaxLocalSegmentSize());
	pt_attach(NULL, 0, GASNET_PAGESIZE);
	PT_EQ(pt.segment_bytes, GASNET_PAGESIZE);
	pt_finish();
}

/* Lines that hold the word; every line if it is empty. */
static int
count_lines(const char *text, const char *word)
{
	int count = 0;

	while (*text) {
		const size_t bytes = strcspn(text, "\n") + 1;
		const char *found = strstr(text, word);

		count += found && found < text + bytes;
		text += text[bytes - 1] ? bytes : bytes - 1;
	}
	return count;
}

static void
refused(const char *setting)
{
	const char *const settings[] = { "GASNET_QUIET=1", setting, NULL };
	const size_t name_bytes = strcspn(setting, "=");
	struct pt_outcome out;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)name_bytes, setting);
	pt_phase(setting);
	pt_spawn("/proc/self/exe", "job", settings, 3000, &out);
	if (out.status != 2 || count_lines(out.text, "") != 1 || !strstr(out.text, name))
		PT_FAIL("%s: status %d, not 2 with one line that names it; it said:\n%s", setting,
		        out.status, out.text);
	PT_CHECK(1);
}

/* The job works; `warnings` lines name the setting. */
static unsigned long
accepted(const char *setting, int warnings)
{
	const char *const settings[] = { "GASNET_QUIET", setting, NULL };
	struct pt_outcome out;
	const char *found;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(setting, "="), setting);
	pt_phase(setting);
	pt_spawn("/proc/self/exe", "job", settings, 5000, &out);
	found = strstr(out.text, "max ");
	if (out.status != 0 || !found || count_lines(out.text, name) != warnings)
		PT_FAIL("%s: status %d, want 0 and the name %d times; it said:\n%s", setting,
		        out.status, warnings, out.text);
	PT_CHECK(1);
	return strtoul(found + 4, NULL, 10);
}

static void
segment_limit(void)
{
	PT_EQ(accepted("GASNET_MAX_SEGSIZE=8MB/P", 0), 8 << 20);
	PT_EQ(accepted("GASNET_MAX_SEGSIZE=3mb/p", 0), 3 << 20);
	PT_EQ(accepted("GASNET_MAX_SEGSIZE=1048576/P", 0), 1 << 20);
	/* more than there is: clipped, with one warning of rank 0 */
	PT_LE(accepted("GASNET_MAX_SEGSIZE=900000GB/P", 1), (unsigned long)900000 << 30);
	refused("GASNET_MAX_SEGSIZE=plenty");
	refused("GASNET_MAX_SEGSIZE=0");
	refused("GASNET_MAX_SEGSIZE=12XB");
	refused("GASNET_MAX_SEGSIZE=-5MB");
}

static void
rank_count(void)
{
	refused("GASNET_PSHM_NODES=0");
	refused("GASNET_PSHM_NODES=-1");
	refused("GASNET_PSHM_NODES=two");
	refused("GASNET_PSHM_NODES=3x");
	refused("GASNET_PSHM_NODES=99999999999999999999");
	refused("GASNET_PSHM_NODES=1000000");
}

int
main(int argc, char **argv)
{
	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv);
	segment_limit();
	rank_count();
	/* a name that is nearly one of ours, and the tuning of another library */
	accepted("GASNET_MAX_SEGSIZ=8MB", 1);
	accepted("GASNET_BARRIER=DISSEM", 0);
	accepted("GASNET_IBV_PORTS=none", 0);
	return 0;
}
