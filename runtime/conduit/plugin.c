#include "runtime/conduit/plugin.h"

#include "penstock.h"

#include "runtime/settings/settings_tables.h"

#include "runtime/util/object.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = { "smp", "ofi", "ibv", NULL };

static const struct psi_setting rows[] = {
	{ .name = "PST_CONDUIT", .kind = PSI_SETTING_CHOICE, .choices = names,
	  .help = "the conduit between ranks that share no memory; smp: there are none; unset: "
	          "the one that the program is linked for, as ofi with libgasnet-ofi-par.a, and "
	          "in a job of several hosts ofi" },
	{ .name = "PST_PLUGIN_DIR", .kind = PSI_SETTING_TEXT,
	  .help = "directory in which plug-ins are looked for, and in no other" },
	{ .name = "PST_NET_IFACE", .kind = PSI_SETTING_TEXT,
	  .help = "network interface that jobs use, such as eth0, one of its addresses, or a "
	          "network such as 10.1.0.0/16; unset: that from which the job was started, the "
	          "provider's first, and on one host the loopback interface" },
	{ .name = "PST_NET_PORTS", .kind = PSI_SETTING_TEXT,
	  .help = "ports at which a host listens for the others of its job, such as "
	          "51000-51100, where a firewall lets no others through; libfabric's own are "
	          "those of FI_TCP_PORT_LOW_RANGE and FI_TCP_PORT_HIGH_RANGE" },
	{ .name = "PST_OFI_PROVIDER", .kind = PSI_SETTING_TEXT,
	  .help = "libfabric's provider that conduit ofi uses, such as tcp;ofi_rxm; else the best "
	          "that the host has" },
	{ .name = "FI_PROVIDER", .kind = PSI_SETTING_TEXT,
	  .help = "libfabric's own filter of providers, which conduit ofi then chooses from" },
	{ .name = "GASNET_OFI_MAX_MEDIUM", .kind = PSI_SETTING_SIZE, .default_text = "65536",
	  .unit = "B", .min = 512, .max = 1 << 20,
	  .help = "largest payload of a Medium of conduit ofi; less where the provider carries "
	          "less as a whole, as tcp;ofi_rxm does (15 KB)" },
	{ .name = "PST_OFI_RECEIVE_BUFFERS", .kind = PSI_SETTING_INT, .default_text = "4",
	  .unit = "buffers", .min = 2, .max = 1024,
	  .help = "buffers of conduit ofi in which messages arrive" },
	{ .name = "PST_OFI_RECEIVE_SIZE", .kind = PSI_SETTING_SIZE, .default_text = "524288",
	  .unit = "B", .min = 1, .max = 1 << 30,
	  .help = "size of each of these buffers; four of the largest messages at least" },
};

const struct psi_setting_table psi_settings_conduits = PSI_SETTING_TABLE("Conduits", rows);

/* -- which ------------------------------------------------------------------------------------- */

/* The object of the program's conduit and mode defines it.  A program that is linked with
 * libpenstock.so alone has none. */
extern const char psi_mode_conduit[] __attribute__((weak));

const char *
psi_plugin_network(bool hosts)
{
	static char linked[16];
	const char *name = psi_setting_value(&rows[0], NULL);

	if (name)
		return name;
	if (!psi_mode_conduit)
		return hosts ? names[1] : names[0];
	for (size_t i = 0; i + 1 < sizeof linked && psi_mode_conduit[i]; i++)
		linked[i] = (char)tolower((unsigned char)psi_mode_conduit[i]);
	return hosts && strcmp(linked, names[0]) == 0 ? names[1] : linked;
}

/* -- where ------------------------------------------------------------------------------------- */

static size_t
same_directories(const char *a, const char *b)
{
	size_t same = 0;

	for (size_t i = 0;; i++) {
		const bool a_ends = a[i] == '/' || !a[i], b_ends = b[i] == '/' || !b[i];

		if (a_ends && b_ends)
			same = i;
		if (!a[i] || !b[i] || a[i] != b[i])
			return same;
	}
}

bool
psi_plugin_way(const char *from, const char *to, char *way_out, size_t bytes)
{
	const size_t same = same_directories(from, to);
	size_t len = 0;

	for (const char *at = from + same; *at; at++) {
		if (len >= bytes)
			return false;
		if (*at == '/' && at[1] && at[1] != '/')
			len += (size_t)snprintf(way_out + len, bytes - len, "../");
	}
	if (len >= bytes)
		return false;
	len += (size_t)snprintf(way_out + len, bytes - len, "%s", to + same + (to[same] == '/'));
	return len < bytes;
}

static bool
directory_of(const char *file, char *directory_out, size_t bytes)
{
	const char *slash = strrchr(file, '/');

	if (!slash || (size_t)(slash - file) >= bytes)
		return false;
	memcpy(directory_out, file, (size_t)(slash - file));
	directory_out[slash - file] = '\0';
	return true;
}

/* Where plug-ins lie if `file', which was installed in `installed', was moved with them. */
static bool
directory_beside(const char *file, const char *installed, char *directory_out, size_t bytes)
{
	char at[PATH_MAX], way[PATH_MAX];

	return directory_of(file, at, sizeof at) &&
	       psi_plugin_way(installed, PSI_PLUGIN_DIR, way, sizeof way) &&
	       (size_t)snprintf(directory_out, bytes, "%s/%s", at, way) < bytes;
}

/* Where a program has the library in itself, that program may lie anywhere. */
static bool
beside_library(char *directory_out, size_t bytes)
{
	Dl_info info;

	return dladdr((const void *)&psi_settings_conduits, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "/libpenstock.so") &&
	       directory_beside(info.dli_fname, PSI_LIB_DIR, directory_out, bytes);
}

bool
psi_plugin_directory_of(const char *launcher, char *directory_out, size_t bytes)
{
	return directory_beside(launcher, PSI_BIN_DIR, directory_out, bytes);
}

/* Is that process one of the tools that are installed with the plug-ins? */
static bool
beside_tool(pid_t process, char *directory_out, size_t bytes)
{
	char link[64], program[PATH_MAX];
	const char *name;
	ssize_t len;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
	len = readlink(link, program, sizeof program - 1);
	if (len <= 0)
		return false;
	program[len] = '\0';
	name = strrchr(program, '/');
	return name && strncmp(name, "/penstock-", strlen("/penstock-")) == 0 &&
	       psi_plugin_directory_of(program, directory_out, bytes);
}

/* A rank's parent is the keeper, which the launcher has forked. */
static bool
beside_this_or_launcher(char *directory_out, size_t bytes)
{
	return beside_tool(getpid(), directory_out, bytes) ||
	       beside_tool(getppid(), directory_out, bytes);
}

bool
psi_plugin_directory_at(unsigned i, char *directory_out, size_t bytes)
{
	const char *own = psi_setting_text(psi_setting_named("PST_PLUGIN_DIR"));

	directory_out[0] = '\0';
	if (i == 0 && own)
		snprintf(directory_out, bytes, "%s", own);
	else if (own)
		return false;           /* who names one has a reason */
	else if (i == 1)
		snprintf(directory_out, bytes, "%s", PSI_PLUGIN_DIR);
	else if (i == 2 && !beside_library(directory_out, bytes))
		directory_out[0] = '\0';
	else if (i == 3 && !beside_this_or_launcher(directory_out, bytes))
		directory_out[0] = '\0';
	return i < 4;
}

/* Is it one of those before it, by the same or another path? */
static bool
directory_is_known(unsigned number, const char *directory)
{
	char before[PATH_MAX];
	struct stat self, other;
	bool known = false;

	for (unsigned i = 0; i < number && !known; i++) {
		(void)psi_plugin_directory_at(i, before, sizeof before);
		known = strcmp(before, directory) == 0 ||
		        (stat(directory, &self) == 0 && stat(before, &other) == 0 &&
		         self.st_dev == other.st_dev && self.st_ino == other.st_ino);
	}
	return known;
}

/* False after the text of what was looked through. */
static bool
plugin_find(const char *name, char *path_out, size_t bytes, char lack[PSI_PLUGIN_LACK_BYTES])
{
	char directory[PATH_MAX];
	size_t len = (size_t)snprintf(lack, PSI_PLUGIN_LACK_BYTES,
	                              "its plug-in penstock-%s.so is not in", name);
	const char *between = " ";

	for (unsigned i = 0; psi_plugin_directory_at(i, directory, sizeof directory); i++) {
		if (!directory[0] || directory_is_known(i, directory))
			continue;
		if ((size_t)snprintf(path_out, bytes, "%s/penstock-%s.so", directory, name) <
		            bytes && access(path_out, F_OK) == 0)
			return true;
		if (len < PSI_PLUGIN_LACK_BYTES)
			len += (size_t)snprintf(lack + len, PSI_PLUGIN_LACK_BYTES - len, "%s%s",
			                        between, directory);
		between = ", ";
	}
	if (len < PSI_PLUGIN_LACK_BYTES)
		snprintf(lack + len, PSI_PLUGIN_LACK_BYTES - len,
		         "; install it, or set PST_PLUGIN_DIR to its directory");
	return false;
}

/* Longer ones are cut. */
static void __attribute__((format(printf, 2, 3)))
lack_say(char lack[PSI_PLUGIN_LACK_BYTES], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(lack, PSI_PLUGIN_LACK_BYTES, format, args);
	va_end(args);
}

/* -- opening ----------------------------------------------------------------------------------- */

bool
psi_plugin_fits(const struct psi_conduit_ops *ops, const char *file,
                char lack[PSI_PLUGIN_LACK_BYTES])
{
	if (ops->abi != PSI_CONDUIT_ABI || ops->size_bytes != sizeof *ops)
		lack_say(lack, "%s is of ABI %u (%u bytes), and this library needs %d (%zu); "
		         "install both from one build", file, ops->abi, ops->size_bytes,
		         PSI_CONDUIT_ABI, sizeof *ops);
	else if (strcmp(ops->release, pst_version()) != 0)
		lack_say(lack, "%s is of release %s, and this library of %s; install both from one "
		         "build", file, ops->release, pst_version());
	else
		return true;
	return false;
}

static const struct psi_conduit_ops *
operations_of(void *plugin, const char *name, const char *path,
              char lack[PSI_PLUGIN_LACK_BYTES])
{
	const struct psi_conduit_ops *ops;
	char symbol[64];

	snprintf(symbol, sizeof symbol, "p%s_ops", name);
	ops = dlsym(plugin, symbol);
	if (!ops) {
		lack_say(lack, "%s is no conduit: it lacks %s", path, symbol);
		return NULL;
	}
	return psi_plugin_fits(ops, path, lack) ? ops : NULL;
}

const struct psi_conduit_ops *
psi_plugin_open(const char *name, char lack[PSI_PLUGIN_LACK_BYTES])
{
	char path[PATH_MAX];
	void *plugin;

	if (psi_program_is_static()) {
		lack_say(lack, "this program is linked with -static, and so has conduit smp alone; "
		         "link it without -static");
		return NULL;
	}
	if (!plugin_find(name, path, sizeof path, lack))
		return NULL;
	plugin = psi_object_open(path);
	if (!plugin) {
		lack_say(lack, "%s does not load: %s; install here what it needs", path,
		         dlerror());
		return NULL;
	}
	return operations_of(plugin, name, path, lack);
}
