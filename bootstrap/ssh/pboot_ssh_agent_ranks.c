/* Forks the ranks of a host, and learns of their ends. */
#include "bootstrap/ssh/pboot_ssh_agent.h"

#include "bootstrap/keeper/pboot_keeper.h"
#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWN_VARIABLES = 4, TEXT_BYTES = 96 };

/* A rank that cannot run its program writes this. */
struct failed_exec {
	uint32_t rank;
	int err;
};

/* -- the environment --------------------------------------------------------------------------- */

/* The environment of a rank: that of the agent, in which the variables from the launcher replace
 * those of the same name, and the rank's own variables.  The agent itself may have those of another
 * job, if what stands for ssh passes them on, or starts the agent as a rank. */
struct environment {
	char **vars;
	size_t count;		/* of these variables, without the rank's own */
	char own[OWN_VARIABLES][TEXT_BYTES];
};

static size_t
variable_name_len(const char *variable)
{
	return strcspn(variable, "=");
}

static bool
variables_have(char *const *variables, const char *variable)
{
	const size_t len = variable_name_len(variable);

	for (; *variables; variables++)
		if (variable_name_len(*variables) == len &&
		    strncmp(*variables, variable, len) == 0)
			return true;
	return false;
}

static bool
variable_is_of_job(const char *variable)
{
	return strncmp(variable, "PMI_", 4) == 0 || strncmp(variable, "PMIX_", 5) == 0 ||
	    strncmp(variable, "PST_JOB_", 8) == 0;
}

static bool
environment_make(struct environment *env, char *const *variables)
{
	size_t room = OWN_VARIABLES + 1;
	char *const *from;

	for (from = environ; *from; from++)
		room++;
	for (from = variables; *from; from++)
		room++;
	env->count = 0;
	env->vars = malloc(room * sizeof *env->vars);
	if (!env->vars)
		return false;
	for (from = environ; *from; from++)
		if (!variable_is_of_job(*from) && !variables_have(variables, *from))
			env->vars[env->count++] = *from;
	for (from = variables; *from; from++)
		env->vars[env->count++] = *from;
	return true;
}

/* PST_JOB_AGENT names the agent's listener, and the PMI socket of the rank.  Ranks of a job within
 * the job have other sockets, so they do not take the agent for theirs. */
static void
environment_set_rank(struct environment *env, const struct pboot_ssh_agent *agent, uint32_t rank,
    int pmi)
{
	struct stat info = { 0 };
	unsigned i;

	fstat(pmi, &info);
	snprintf(env->own[0], TEXT_BYTES, "PMI_FD=%d", pmi);
	snprintf(env->own[1], TEXT_BYTES, "PMI_RANK=%u", rank);
	snprintf(env->own[2], TEXT_BYTES, "PMI_SIZE=%u", agent->order.size);
	snprintf(env->own[3], TEXT_BYTES, "PST_JOB_AGENT=%s/%llu", agent->name,
	    (unsigned long long)info.st_ino);
	for (i = 0; i < OWN_VARIABLES; i++)
		env->vars[env->count + i] = env->own[i];
	env->vars[env->count + OWN_VARIABLES] = NULL;
}

/* -- starting ---------------------------------------------------------------------------------- */

/* The pipes and the socket of a rank that is about to start.  The agent has pmi[0], in[1] and
 * outputs[][0], the rank has the other ends. */
struct ends {
	int pmi[2], in[2], outputs[2][2];
};

static int
input_open(int ends_out[2], bool reads)
{
	if (reads)
		return pboot_pipe_open(ends_out);
	ends_out[1] = -1;
	ends_out[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (ends_out[0] < 0)
		return errno;
	ends_out[0] = pboot_fd_raise(ends_out[0]);
	return 0;
}

/* A failure ends the agent soon, which closes the descriptors. */
static int
ends_open(struct ends *ends, bool reads)
{
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->pmi) < 0)
		return errno;
	ends->pmi[0] = pboot_fd_raise(ends->pmi[0]);
	ends->pmi[1] = pboot_fd_raise(ends->pmi[1]);
	err = input_open(ends->in, reads);
	if (!err)
		err = pboot_pipe_open(ends->outputs[0]);
	if (!err)
		err = pboot_pipe_open(ends->outputs[1]);
	return err;
}

/* A script without an interpreter line is run by the shell; another machine's binary is not. */
static int
program_exec(const struct pboot_ssh_order *order, char **vars)
{
	char head[4] = "";
	int fd;

	execve(order->program, order->argv, vars);
	if (errno != ENOEXEC)
		return errno;
	fd = open(order->program, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, head, sizeof head) > 0 && head[0] != 0x7f)
		execvpe(order->program, order->argv, vars);
	return ENOEXEC;
}

/* A rank has a process group of its own.  So its parent, the agent, is in another group of the same
 * session, and SIGTSTP stops the rank as it does below a shell. */
static void __attribute__((noreturn))
rank_exec(const struct pboot_ssh_agent *agent, const struct environment *env,
    const struct ends *ends, uint32_t rank, const cpu_set_t *core)
{
	struct failed_exec failed = { .rank = rank };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	setpgid(0, 0);
	dup2(ends->in[0], STDIN_FILENO);
	dup2(ends->outputs[0][1], STDOUT_FILENO);
	dup2(ends->outputs[1][1], STDERR_FILENO);
	fcntl(ends->pmi[1], F_SETFD, 0);
	if (core)
		sched_setaffinity(0, sizeof *core, core);
	pboot_ssh_inherit_give(&agent->order.inherit);
	pboot_state_restore(&agent->saved);
	failed.err = program_exec(&agent->order, env->vars);
	if (write(agent->failed_exec[1], &failed, sizeof failed) != (ssize_t)sizeof failed)
		_exit(3);
	_exit(2);
}

static void
input_keep(struct pboot_ssh_agent *agent, int input)
{
	if (input < 0)
		return;
	fcntl(input, F_SETFL, fcntl(input, F_GETFL) | O_NONBLOCK);
	agent->input = input;
}

static int
rank_fork(struct pboot_ssh_agent *agent, struct environment *env, uint32_t index,
    const cpu_set_t *core)
{
	struct pboot_ssh_rank *self = &agent->ranks[index];
	const uint32_t rank = agent->order.ranks.first + index;
	struct ends ends;
	int err = ends_open(&ends, agent->order.stdin_rank == (int64_t)rank);
	unsigned i;

	if (err)
		return err;
	environment_set_rank(env, agent, rank, ends.pmi[1]);
	self->pid = fork();
	if (self->pid < 0) {
		err = errno;
		self->pid = 0;
		return err;
	}
	if (self->pid == 0)
		rank_exec(agent, env, &ends, rank, core);
	agent->alive++;
	close(ends.pmi[1]);
	close(ends.in[0]);
	self->pmi = ends.pmi[0];
	input_keep(agent, ends.in[1]);
	for (i = 0; i < 2; i++) {
		close(ends.outputs[i][1]);
		self->outputs[i] = ends.outputs[i][0];
	}
	return 0;
}

/* Returns 0 or an errno value.  Descriptors that are not open are -1 from the beginning: an agent
 * that cannot start its ranks waits for those that are. */
static int
ranks_prepare(struct pboot_ssh_agent *agent)
{
	const uint32_t count = agent->order.ranks.count;
	uint32_t i;
	int err;

	agent->ranks = calloc(count, sizeof *agent->ranks);
	agent->failed_exec[0] = agent->failed_exec[1] = -1;
	for (i = 0; agent->ranks && i < count; i++)
		agent->ranks[i].pmi = agent->ranks[i].outputs[0] = agent->ranks[i].outputs[1] = -1;
	agent->kept = malloc(PBOOT_SSH_WINDOW);
	if (!agent->ranks || !agent->kept ||
	    !pboot_pmi1_server_open(&agent->server, agent->order.size, count))
		return ENOMEM;
	err = pboot_pipe_open(agent->failed_exec);
	if (err)
		return err;
	fcntl(agent->failed_exec[0], F_SETFL, O_NONBLOCK);
	return pboot_ssh_keeper_listen(agent) ? 0 : -agent->listener;
}

bool
pboot_ssh_ranks_start(struct pboot_ssh_agent *agent)
{
	struct environment env = { 0 };
	cpu_set_t *cores = NULL;
	uint32_t core_count = 0, i = 0;
	int err = ranks_prepare(agent);

	if (!err && !environment_make(&env, agent->order.variables))
		err = ENOMEM;
	if (!err && agent->order.bind_cores)
		core_count = pboot_bind_cores(&cores);
	while (i < agent->order.ranks.count && !err) {
		err = rank_fork(agent, &env, i, core_count ? &cores[i % core_count] : NULL);
		i += !err;
	}
	if (err)
		pboot_ssh_agent_fault(agent, "cannot start rank %u: %s%s",
		    agent->order.ranks.first + i, strerror(err), psi_limit_hint(err));
	free(env.vars);
	free(cores);
	return !err;
}

void
pboot_ssh_ranks_take_exec(struct pboot_ssh_agent *agent)
{
	struct failed_exec failed;

	while (read(agent->failed_exec[0], &failed, sizeof failed) == (ssize_t)sizeof failed)
		pboot_ssh_link_send_number(&agent->link, PBOOT_SSH_NO_EXEC, failed.rank,
		    (uint32_t)failed.err);
}

/* -- signals and ends -------------------------------------------------------------------------- */

void
pboot_ssh_ranks_signal(struct pboot_ssh_agent *agent, int sig)
{
	uint32_t i;

	for (i = 0; agent->ranks && i < agent->order.ranks.count; i++)
		if (agent->ranks[i].pid > 0 && !agent->ranks[i].ended)
			kill(agent->ranks[i].pid, sig);
}

/* The keeper is told before the launcher, whose rules do not count the end of a rank that has a
 * keeper. */
static void
rank_take_end(struct pboot_ssh_agent *agent, uint32_t index, int status)
{
	const uint32_t rank = agent->order.ranks.first + index;

	agent->ranks[index].ended = true;
	agent->ranks[index].end_status = status;
	agent->alive--;
	pboot_ssh_keeper_tell(agent, PBOOT_MSG_ENDED, rank, status);
	pboot_ssh_link_send_number(&agent->link, PBOOT_SSH_ENDED, rank, (uint32_t)status);
	if (agent->order.stdin_rank == (int64_t)rank)
		pboot_ssh_flow_close_input(agent);
}

void
pboot_ssh_ranks_reap(struct pboot_ssh_agent *agent)
{
	uint32_t i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (agent->ranks)
			pboot_ssh_ranks_take_exec(agent);
		pboot_ssh_keeper_ended(agent, pid);
		for (i = 0; agent->ranks && i < agent->order.ranks.count; i++)
			if (agent->ranks[i].pid == pid && !agent->ranks[i].ended)
				rank_take_end(agent, i, status);
	}
}
