#include "offload/provider.h"

#include "runtime/conduit/plugin.h"
#include "runtime/settings/settings_tables.h"

#include "runtime/util/object.h"
#include "runtime/util/spinlock.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A part of a list with separators, as names of PST_OFFLOAD. */
struct part {
	const char *text;
	size_t len;
};

/* Takes the next part off the list; false: there is none. */
static bool
part_next(const char **list, char separator, struct part *part_out)
{
	const char until[] = { separator, '\0' };
	const char *text = *list;

	if (!text || !*text)
		return false;
	part_out->text = text;
	part_out->len = strcspn(text, until);
	*list = text + part_out->len + (text[part_out->len] == separator);
	return true;
}

static bool
part_is(const struct part *part, const char *text)
{
	return strlen(text) == part->len && memcmp(text, part->text, part->len) == 0;
}

static bool
names_check(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_,") == strlen(text) &&
	       *text != ',' && text[strlen(text) - 1] != ',' && !strstr(text, ",,");
}

static const struct psi_setting rows[] = {
	{ .name = "PST_OFFLOAD", .kind = PSI_SETTING_TEXT, .default_text = "auto",
	  .check = names_check, .accepts = "auto, none, or names of providers with commas between",
	  .help = "providers that may carry collectives, in the order in which they are tried; "
	          "auto: all that there are" },
	{ .name = "PST_OFFLOAD_PATH", .kind = PSI_SETTING_TEXT,
	  .help = "directories with plug-ins of providers, with colons between, beside the one in "
	          "which the library's own are installed" },
	{ .name = "PST_OFFLOAD_VERIFY", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "software does what providers do, too, and the results are compared" },
	{ .name = "PST_OFFLOAD_STATSFILE", .kind = PSI_SETTING_TEXT,
	  .help = "a file to which ranks append what became of their teams' calls, for "
	          "penstock-info --offload=FILE" },
	{ .name = "PST_OFFLOAD_JOIN_TIMEOUT", .kind = PSI_SETTING_TIME, .default_text = "10",
	  .unit = "s", .max = 3600,
	  .help = "a provider whose join takes longer, although all members have begun it, does "
	          "not serve the team; 0: it may take any time" },
	{ .name = "PST_OFFLOAD_CAU_HOP_NS", .kind = PSI_SETTING_TEXT, .default_text = "0",
	  .unit = "ns", .help = "provider cau: how long a packet is on its way" },
	{ .name = "PST_OFFLOAD_CAU_UNIT_NS", .kind = PSI_SETTING_TEXT, .default_text = "0",
	  .unit = "ns", .help = "provider cau: how long a host's unit takes for a packet" },
	{ .name = "PST_OFFLOAD_CAU_FANOUT", .kind = PSI_SETTING_TEXT, .default_text = "6",
	  .help = "provider cau: children of a node of its trees, 2 to 8" },
	{ .name = "PST_OFFLOAD_CAU_TREES", .kind = PSI_SETTING_TEXT, .default_text = "64",
	  .help = "provider cau: trees of a host's unit, up to 64" },
	{ .name = "PST_OFFLOAD_CAU_TIMEOUT_NS", .kind = PSI_SETTING_TEXT,
	  .default_text = "1000000000", .unit = "ns",
	  .help = "provider cau: after how long a call is thought to have failed" },
	{ .name = "PST_OFFLOAD_CAU_FAULT", .kind = PSI_SETTING_TEXT,
	  .help = "provider cau, for tests: faults that happen to it, such as drop:p=0.01 "
	          "(docs/offload.md)" },
	{ .name = "PST_OFFLOAD_CAU_SEED", .kind = PSI_SETTING_TEXT, .default_text = "1",
	  .help = "provider cau: from which faults that happen at random follow" },
};

const struct psi_setting_table psi_settings_offload = PSI_SETTING_TABLE("Offload", rows);

static struct {
	struct psi_spinlock lock;
	bool looked;
	unsigned count;
	struct poff_provider list[POFF_PROVIDERS];
} all;

static void __attribute__((format(printf, 2, 3)))
provider_refuse(struct poff_provider *provider, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(provider->why, sizeof provider->why, format, args);
	va_end(args);
	provider->taken = false;
}

/* -- what a provider is ------------------------------------------------------------------------ */

/* Functions that each provider has, by their place in the table. */
static const struct {
	const char *name;
	size_t at;
} needed[] = {
#define NEEDED(function) { #function, offsetof(pst_off_provider_t, function) }
	NEEDED(open), NEEDED(close), NEEDED(query), NEEDED(join_start), NEEDED(join_test),
	NEEDED(leave_start), NEEDED(leave_test), NEEDED(start), NEEDED(test), NEEDED(cancel),
	NEEDED(progress),
#undef NEEDED
};

static bool
name_is_good(const char *name)
{
	if (!name || !islower((unsigned char)name[0]) || strlen(name) >= POFF_NAME_BYTES)
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static bool
functions_check(struct poff_provider *provider)
{
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
		void (*function)(void);

		memcpy(&function, (const char *)&provider->calls + needed[i].at, sizeof function);
		if (!function) {
			provider_refuse(provider, "it lacks the function %s", needed[i].name);
			return false;
		}
	}
	return true;
}

/* Takes the part of the table that the provider's header had. */
static void
provider_take(struct poff_provider *provider, const pst_off_provider_t *table)
{
	size_t bytes = table->struct_bytes;

	if (table->abi_major != PST_OFF_ABI_MAJOR) {
		provider_refuse(provider, "it is of ABI %u, and this library's is %u",
		                table->abi_major, PST_OFF_ABI_MAJOR);
		return;
	}
	if (bytes < offsetof(pst_off_provider_t, open)) {
		provider_refuse(provider, "its table has %zu bytes; set struct_bytes", bytes);
		return;
	}
	if (bytes > sizeof provider->calls)
		bytes = sizeof provider->calls;
	memcpy(&provider->calls, table, bytes);
	if (!name_is_good(table->name)) {
		provider_refuse(provider, "its name is none: lower-case letters, digits and _, "
		                "%d at most", POFF_NAME_BYTES - 1);
		return;
	}
	strcpy(provider->name, table->name);
	provider->taken = functions_check(provider);
}

/* -- plug-ins ---------------------------------------------------------------------------------- */

/* Who could change the file could run anything in the job. */
static bool
path_is_safe(struct poff_provider *provider, const char *path, const char *what)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		provider_refuse(provider, "%s cannot be looked at: %s", what, strerror(errno));
		return false;
	}
	if (status.st_mode & (S_IWGRP | S_IWOTH)) {
		provider_refuse(provider, "others can write to %s (mode %04o); chmod go-w it", what,
		                (unsigned)status.st_mode & 07777);
		return false;
	}
	if (status.st_uid != 0 && status.st_uid != geteuid()) {
		provider_refuse(provider, "%s belongs to user %u, who is neither you nor root",
		                what, (unsigned)status.st_uid);
		return false;
	}
	return true;
}

/* A pipe would be waited for. */
static bool
is_plain_file(struct poff_provider *provider)
{
	struct stat status;

	if (stat(provider->from, &status) == 0 && S_ISREG(status.st_mode))
		return true;
	provider_refuse(provider, "it is no plain file");
	return false;
}

static void
plugin_take(struct poff_provider *provider, const char *directory)
{
	const pst_off_provider_t *(*entry)(uint32_t abi_major), *table;
	void *object;

	if (!path_is_safe(provider, directory, "its directory") ||
	    !path_is_safe(provider, provider->from, "the file") || !is_plain_file(provider))
		return;
	object = psi_object_open(provider->from);
	if (!object) {
		provider_refuse(provider, "it does not load: %s", dlerror());
		return;
	}
	*(void **)&entry = dlsym(object, "pst_offload_entry");
	if (!entry) {
		provider_refuse(provider, "it is no provider: it lacks pst_offload_entry");
		return;
	}
	table = entry(PST_OFF_ABI_MAJOR);
	if (table)
		provider_take(provider, table);
	else
		provider_refuse(provider, "it has nothing for ABI %u", PST_OFF_ABI_MAJOR);
}

static struct poff_provider *
provider_add(void)
{
	return all.count < POFF_PROVIDERS ? &all.list[all.count++] : NULL;
}

static int
is_plugin(const struct dirent *entry)
{
	const size_t len = strlen(entry->d_name);

	return len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0;
}

/* False: it is not there. */
static bool
directory_look(const char *directory)
{
	struct dirent **entries;
	const int count = scandir(directory, &entries, is_plugin, alphasort);

	if (count < 0)
		return false;
	for (int i = 0; i < count; i++) {
		struct poff_provider *provider = provider_add();

		if (provider && (size_t)snprintf(provider->from, sizeof provider->from, "%s/%s",
		                                 directory, entries[i]->d_name) <
		                        sizeof provider->from)
			plugin_take(provider, directory);
		free(entries[i]);
	}
	free(entries);
	return true;
}

/* The library's own are in one of these. */
static void
plugins_look_installed(void)
{
	char directory[PATH_MAX];

	for (unsigned i = 0; psi_plugin_directory_at(i, directory, sizeof directory); i++) {
		const size_t len = strlen(directory);

		if (len && (size_t)snprintf(directory + len, sizeof directory - len, "/offload") <
		                   sizeof directory - len && directory_look(directory))
			return;
	}
}

static void
plugins_look_named(void)
{
	const char *path = psi_setting_text(&rows[1]);
	char directory[PATH_MAX];
	struct part part;

	while (part_next(&path, ':', &part)) {
		struct poff_provider *provider;

		if (!part.len || part.len >= sizeof directory)
			continue;
		memcpy(directory, part.text, part.len);
		directory[part.len] = '\0';
		if (directory_look(directory) || !(provider = provider_add()))
			continue;
		strcpy(provider->from, directory);
		provider_refuse(provider, "PST_OFFLOAD_PATH names it, and it cannot be read: %s",
		                strerror(errno));
	}
}

/* -- which of them ----------------------------------------------------------------------------- */

/* The place of the name among those of PST_OFFLOAD, from 0 on; -1: none. */
static int
name_wanted(const char *names, const char *name)
{
	struct part part;

	for (int at = 0; part_next(&names, ',', &part); at++)
		if (part_is(&part, name))
			return at;
	return -1;
}

static void
providers_check_names(void)
{
	for (unsigned i = 0; i < all.count; i++)
		for (unsigned before = 0; before < i && all.list[i].taken; before++)
			if (all.list[before].taken &&
			    strcmp(all.list[before].name, all.list[i].name) == 0)
				provider_refuse(&all.list[i], "another provider has its name: %s",
				                all.list[before].from);
}

static void
providers_check_wanted(const char *names)
{
	const bool all_are = strcmp(names, "auto") == 0;

	for (unsigned i = 0; i < all.count; i++) {
		struct poff_provider *provider = &all.list[i];

		provider->turn = all_are ? (int)i : name_wanted(names, provider->name);
		if (!provider->taken)
			continue;
		provider->unwanted = all_are ? provider->is_built_in : provider->turn < 0;
		if (provider->unwanted && all_are)
			provider_refuse(provider, "it is a simulation; PST_OFFLOAD=%s takes it",
			                provider->name);
		else if (provider->unwanted)
			provider_refuse(provider, "PST_OFFLOAD is %s", names);
	}
}

static bool
name_is_known(const struct part *name)
{
	for (unsigned i = 0; i < all.count; i++)
		if (part_is(name, all.list[i].name))
			return true;
	return false;
}

/* A name that nobody has is most likely misspelt. */
static void
providers_add_unknown(const char *names)
{
	struct part part;

	while (part_next(&names, ',', &part)) {
		struct poff_provider *provider = name_is_known(&part) ? NULL : provider_add();

		if (!provider)
			continue;
		snprintf(provider->name, sizeof provider->name, "%.*s", (int)part.len, part.text);
		strcpy(provider->from, provider->name);
		provider_refuse(provider, "PST_OFFLOAD names it, and there is no such provider; "
		                "are its plug-in's directory in PST_OFFLOAD_PATH, and its name "
		                "right?");
	}
}

static int
in_turn(const void *a_p, const void *b_p)
{
	const struct poff_provider *a = a_p, *b = b_p;

	return a->taken != b->taken ? b->taken - a->taken : a->turn - b->turn;
}

static void
providers_look(void)
{
	const char *names = psi_setting_text(&rows[0]);

	if (strcmp(names, "none") == 0)
		return;
	for (size_t i = 0; poff_built_in[i]; i++) {
		struct poff_provider *provider = provider_add();

		if (!provider)
			break;
		strcpy(provider->from, "built in");
		provider->is_built_in = true;
		provider_take(provider, poff_built_in[i]);
	}
	if (!psi_program_is_static()) {
		plugins_look_installed();
		plugins_look_named();
	}
	providers_check_names();
	if (strcmp(names, "auto") != 0)
		providers_add_unknown(names);
	providers_check_wanted(names);
	qsort(all.list, all.count, sizeof all.list[0], in_turn);
}

unsigned
poff_providers(const struct poff_provider **list_out)
{
	psi_spinlock_lock(&all.lock);
	if (!all.looked)
		providers_look();
	all.looked = true;
	psi_spinlock_unlock(&all.lock);
	*list_out = all.list;
	return all.count;
}
