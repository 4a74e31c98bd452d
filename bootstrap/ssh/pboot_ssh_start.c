/* Starts ssh for a host, and tells the agent there what to start. */
#include "bootstrap/ssh/pboot_ssh_job.h"

#include "bootstrap/launcher.h"
#include "bootstrap/share/pboot_settings.h"
#include "bootstrap/ssh/pboot_ssh_order.h"
#include "penstock.h"
#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WORDS_MAX = 64, NO_SSH = 253 };

/* -- the command ------------------------------------------------------------------------------- */

/* The command that runs ssh: its own words, options, host, and the command for that host. */
struct command {
	char *text;		/* malloced; words point there, or to what stays */
	const char *words[WORDS_MAX + 1];
	unsigned count;
	char alive[64];
	char remote[2 * PATH_MAX];
};

static bool
command_add(struct command *command, const char *word)
{
	if (command->count == WORDS_MAX)
		return false;
	command->words[command->count++] = word;
	return true;
}

static bool
command_add_words(struct command *command, char *text)
{
	char *rest = text, *word;

	while ((word = strsep(&rest, " \t\n")) != NULL)
		if (*word && !command_add(command, word))
			return false;
	return true;
}

/* "exec 'PATH' --agent", with the path of this program, for a shell of any kind. */
static bool
command_write_remote(struct command *command)
{
	char path[PATH_MAX], *out = command->remote;
	const ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
	ssize_t i;

	if (len <= 0)
		return false;
	out = stpcpy(out, "exec '");
	for (i = 0; i < len; i++) {
		if (out - command->remote > (ptrdiff_t)sizeof command->remote - 32)
			return false;
		if (path[i] == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = path[i];
	}
	strcpy(out, "' --agent");
	return true;
}

/* Lets OpenSSH find out that a host is silent: it asks three times in PST_HOST_LIMIT for a sign of
 * life.  The user's options come first, and ssh takes the first of each kind.  A command other than
 * ssh may not know these options. */
static bool
command_add_alive(struct command *command)
{
	const uint64_t limit_s = pboot_settings_host_limit_ns() / UINT64_C(1000000000);

	if (getenv("GASNET_SSH_CMD") || limit_s == 0)
		return true;
	snprintf(command->alive, sizeof command->alive, "-oServerAliveInterval=%u",
	    (unsigned)((limit_s + 2) / 3));
	return command_add(command, command->alive) &&
	    command_add(command, "-oServerAliveCountMax=3");
}

/* Returns false if there are too many words, or this program's path is not known. */
static bool
command_make(struct command *command, const char *ssh, const char *host)
{
	const char *options = getenv("GASNET_SSH_OPTIONS");
	const size_t ssh_len = strlen(ssh) + 1;

	options = options ? options : "";
	command->count = 0;
	command->text = malloc(ssh_len + strlen(options) + 1);
	if (!command->text)
		return false;
	memcpy(command->text, ssh, ssh_len);
	strcpy(command->text + ssh_len, options);
	return command_add_words(command, command->text) &&
	    command_add_words(command, command->text + ssh_len) && command_add_alive(command) &&
	    command_add(command, host) && command_write_remote(command) &&
	    command_add(command, command->remote);
}

/* -- starting ---------------------------------------------------------------------------------- */

/* ssh ignores the signals that a terminal sends to the whole process group.  The launcher passes
 * them on, and ssh must not end or stop before they are through.  ssh stays in this session, since
 * it may have to ask for a password. */
static void __attribute__((noreturn))
ssh_exec(const struct pboot_ssh_job *job, const struct command *command, int in, int out)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1,
		SIGUSR2 };
	union {
		const char *const *in;
		char *const *out;
	} words = { .in = command->words };
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	for (i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	pboot_state_restore(&job->saved);
	execvp(words.in[0], words.out);
	_exit(NO_SSH);
}

static bool
host_fork(struct pboot_ssh_job *job, struct pboot_ssh_host *host, const struct command *command)
{
	int to[2], from[2], err = pboot_pipe_open(to);

	if (!err)
		err = pboot_pipe_open(from);
	if (!err) {
		host->pid = fork();
		err = host->pid < 0 ? errno : 0;
	}
	if (host->pid == 0 && !err)
		ssh_exec(job, command, to[0], from[1]);
	if (!err) {
		close(to[0]);
		close(from[1]);
		err = pboot_ssh_link_open(&host->link, from[0], to[1]) ? 0 : ENOMEM;
	}
	if (err) {
		host->pid = 0;
		pboot_say("cannot start %s for host %s: %s%s", job->ssh, host->name,
		    strerror(err), psi_limit_hint(err));
	}
	return !err;
}

static void
command_report(const struct command *command)
{
	const char *verbose = getenv("GASNET_SPAWN_VERBOSE");
	char line[900];
	size_t len = 0;
	unsigned i;

	if (!verbose || !*verbose || *verbose == '0' || strchr("nN", *verbose))
		return;
	for (i = 0; i < command->count && len < sizeof line; i++)
		len += (size_t)snprintf(line + len, sizeof line - len, " %s", command->words[i]);
	pboot_say("starts:%s", line);
}

bool
pboot_ssh_host_start(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	struct command command = { 0 };
	bool started = command_make(&command, job->ssh, host->name);

	if (!started)
		pboot_say("cannot start host %s: the command in GASNET_SSH_CMD and "
		    "GASNET_SSH_OPTIONS is too long, or this program's path is not known",
		    host->name);
	command_report(&command);
	started = started && host_fork(job, host, &command);
	free(command.text);
	return started;
}

/* -- the order --------------------------------------------------------------------------------- */

/* Variables that describe the launcher's host, the login there, or a job in which the launcher
 * itself may be a rank.  A name that ends with `_' stands for all that begin so. */
static const char *const kept_here[] = {
	"HOSTNAME", "HOST", "HOME", "LOGNAME", "USER", "SHELL", "MAIL", "PWD", "OLDPWD", "SHLVL",
	"_", "SSH_", "XDG_", "DBUS_SESSION_BUS_ADDRESS", "PMI_", "PMIX_", "PST_JOB_",
	"PST_TEST_HOST", "GASNET_PSHM_NODES",
};

static bool
variable_travels(const char *variable)
{
	const size_t len = strcspn(variable, "=");
	size_t i, kept_len;

	for (i = 0; i < sizeof kept_here / sizeof *kept_here; i++) {
		kept_len = strlen(kept_here[i]);
		if (strncmp(variable, kept_here[i], kept_len) == 0 &&
		    (len == kept_len || (kept_len > 1 && kept_here[i][kept_len - 1] == '_')))
			return false;
	}
	return true;
}

/* Is its name in a list "V1,V2"? */
static bool
variable_is_named(const char *variable, const char *names)
{
	const size_t len = strcspn(variable, "=");
	size_t name_len;

	for (; names && *names; names += name_len + (names[name_len] == ',')) {
		name_len = strcspn(names, ",");
		if (name_len == len && strncmp(names, variable, len) == 0)
			return true;
	}
	return false;
}

bool
pboot_launcher_exports(const char *variable, const char *exported)
{
	return variable_travels(variable) || variable_is_named(variable, exported);
}

static char **
variables_list(const char *exported)
{
	size_t count = 0;
	char **from, **list;

	for (from = environ; *from; from++)
		count++;
	list = calloc(count + 1, sizeof *list);
	count = 0;
	for (from = environ; list && *from; from++)
		if (pboot_launcher_exports(*from, exported))
			list[count++] = *from;
	return list;
}

static const char *
job_directory(char directory[PATH_MAX])
{
	const char *remote = getenv("GASNET_SSH_REMOTE_PATH");

	if (remote && *remote)
		return remote;
	return getcwd(directory, PATH_MAX) ? directory : "/";
}

bool
pboot_ssh_host_order(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	char directory[PATH_MAX];
	char **variables = variables_list(job->plan->exported);
	union {
		char *const *in;
		char **out;
	} argv = { .in = job->plan->argv };
	struct pboot_ssh_order order = {
		.ranks = host->ranks,
		.size = job->plan->size,
		.stdin_rank = job->plan->stdin_rank,
		.bind_cores = job->plan->bind_cores,
		.directory = job_directory(directory),
		.program = job->plan->program,
		.argv = argv.out,
		.variables = variables,
	};
	size_t len = 0, from, part;
	uint8_t *bytes;

	pboot_ssh_inherit_take(&order.inherit);
	bytes = variables ? pboot_ssh_order_write(&order, &len) : NULL;
	free(variables);
	for (from = 0; bytes && len <= PBOOT_SSH_ORDER_MAX && from < len; from += part) {
		part = len - from < PBOOT_SSH_BODY_MAX ? len - from : PBOOT_SSH_BODY_MAX;
		pboot_ssh_link_send(&host->link, PBOOT_SSH_ORDER, 0, bytes + from, (uint32_t)part);
	}
	free(bytes);
	if (!bytes || len > PBOOT_SSH_ORDER_MAX)
		return false;
	pboot_ssh_link_send(&host->link, PBOOT_SSH_START, 0, NULL, 0);
	return true;
}
