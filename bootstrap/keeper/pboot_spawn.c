/* Forks the ranks.  Before its program runs, a child makes async-signal-safe calls only. */
#include "bootstrap/keeper/pboot_keeper.h"

#include "penstock.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_VARIABLES = 6, TEXT_BYTES = 192 };

/* The environment of a launched rank: that of the keeper without the variables of an outer job, and
 * with these. */
struct rank_environment {
	char **vars;
	char rank[TEXT_BYTES], size[TEXT_BYTES], control[TEXT_BYTES], release[TEXT_BYTES];
	char *files, *place;
	const char **shell_words;	/* the shell, the program and its arguments */
};

/* "PST_JOB_FILES=kind/id/dev:fd.ino,fd.ino,..."; all files lie in one file system. */
static char *
environment_files(const struct pboot_keeper *keeper)
{
	uint32_t count = PBOOT_FILES(keeper->plan->size), i;
	size_t room = 64 + (size_t)count * 40, len;
	char *text = malloc(room);

	if (!text)
		return NULL;
	len = (size_t)snprintf(text, room, "PST_JOB_FILES=%s/%d/%llx:",
	    pboot_shm_name(keeper->memory.kind), keeper->memory.exchange_id,
	    (unsigned long long)keeper->files[0].dev);
	for (i = 0; i < count && keeper->inherit; i++)
		len += (size_t)snprintf(text + len, room - len, "%d.%llu,", keeper->files[i].fd,
		    (unsigned long long)keeper->files[i].ino);
	return text;
}

/* Makes the words before the fork, since a child must not allocate. */
static const char **
environment_shell_words(const struct pboot_plan *plan)
{
	size_t count = 0, i;
	const char **words;

	while (plan->argv[count])
		count++;
	words = calloc(count + 2, sizeof *words);
	if (!words)
		return NULL;
	words[0] = _PATH_BSHELL;
	words[1] = plan->program;
	for (i = 1; i < count; i++)
		words[i + 1] = plan->argv[i];
	return words;
}

static bool
environment_make(const struct pboot_keeper *keeper, struct rank_environment *env)
{
	size_t count = 0, i = 0;
	char **from;

	for (from = environ; *from; from++)
		count++;
	env->vars = malloc((count + OWN_VARIABLES + 1) * sizeof *env->vars);
	env->files = environment_files(keeper);
	if (asprintf(&env->place, "PST_JOB_PLACE=%s", keeper->file_kind) < 0)
		env->place = NULL;
	env->shell_words = environment_shell_words(keeper->plan);
	if (!env->vars || !env->files || !env->place || !env->shell_words)
		return false;
	for (from = environ; *from; from++)
		if (strncmp(*from, "PST_JOB_", 8) != 0)
			env->vars[i++] = *from;
	snprintf(env->size, sizeof env->size, "PST_JOB_SIZE=%u", keeper->plan->size);
	snprintf(env->release, sizeof env->release, "PST_JOB_RELEASE=%s", pst_version());
	env->vars[i++] = env->rank;
	env->vars[i++] = env->size;
	env->vars[i++] = env->control;
	env->vars[i++] = env->release;
	env->vars[i++] = env->files;
	env->vars[i++] = env->place;
	env->vars[i] = NULL;
	return true;
}

static void
environment_set_rank(const struct pboot_keeper *keeper, struct rank_environment *env, uint32_t rank,
    int control)
{
	struct stat info = { 0 };

	fstat(control, &info);
	snprintf(env->rank, sizeof env->rank, "PST_JOB_RANK=%u", rank);
	snprintf(env->control, sizeof env->control, "PST_JOB_CONTROL=%d:%d:%llu:%d:%s",
	    PBOOT_WIRE_VERSION, control, (unsigned long long)info.st_ino, (int)keeper->launcher,
	    keeper->name);
}

/* Undoes what the keeper changed for itself.  The keeper may have died before PR_SET_PDEATHSIG was
 * set, so getppid is compared after that. */
static void
rank_state_restore(const struct pboot_keeper *keeper)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != keeper->self)
		_exit(1);
	sigaction(SIGCHLD, &keeper->saved->child_action, NULL);
	setrlimit(RLIMIT_NOFILE, &keeper->saved->files_limit);
}

static void
rank_set_stdin(const struct pboot_keeper *keeper, uint32_t rank)
{
	int fd;

	if (keeper->plan->stdin_rank == (int64_t)rank)
		return;
	fd = open("/dev/null", O_RDONLY);
	if (fd == STDIN_FILENO)
		return;
	if (fd < 0) {
		close(STDIN_FILENO);
		return;
	}
	dup2(fd, STDIN_FILENO);
	close(fd);
}

static void
rank_set_cpus(const struct pboot_keeper *keeper, uint32_t rank)
{
	if (keeper->core_count > 0)
		sched_setaffinity(0, sizeof(cpu_set_t), &keeper->cores[rank % keeper->core_count]);
}

/* May the file be a script?  The binary of another machine is not. */
static bool
file_is_script(const char *path)
{
	char head[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, head, sizeof head);

	if (fd >= 0)
		close(fd);
	return got > 0 && head[0] != 0x7f && memchr(head, '\0', (size_t)got) == NULL;
}

/* Runs a script without an interpreter line by the shell, as execvp does. */
static void
script_exec(const struct rank_environment *env)
{
	union {
		const char **in;
		char **out;
	} args = { .in = env->shell_words };

	execve(_PATH_BSHELL, args.out, env->vars);
}

static void __attribute__((noreturn))
rank_exec(const struct pboot_keeper *keeper, const struct rank_environment *env, uint32_t rank,
    int control, const int outputs[2])
{
	const struct pboot_plan *plan = keeper->plan;
	int err;

	rank_state_restore(keeper);
	rank_set_stdin(keeper, rank);
	rank_set_cpus(keeper, rank);
	if (outputs) {
		dup2(outputs[0], STDOUT_FILENO);
		dup2(outputs[1], STDERR_FILENO);
	}
	fcntl(control, F_SETFD, 0);
	sigprocmask(SIG_SETMASK, &keeper->saved->mask, NULL);
	execve(plan->program, plan->argv, env->vars);
	err = errno;
	if (err == ENOEXEC && file_is_script(plan->program)) {
		script_exec(env);
		err = errno;
	}
	pboot_wire_send(control, PBOOT_MSG_NO_EXEC, rank, err, NULL);
	_exit(2);
}

/* Makes a rank of a fork of the keeper.  It closes all descriptors that belong to the keeper, since
 * the other processes learn of the keeper's death by end of file. */
static void
rank_become(struct pboot_keeper *keeper, uint32_t rank, int control,
            struct pboot_startup *startup_out)
{
	uint32_t i;

	munmap(keeper->page, pboot_status_page_bytes(keeper->plan->size));
	close(keeper->signals);
	close(keeper->launcher_sock);
	if (keeper->listener >= 0)
		close(keeper->listener);
	for (i = 0; i <= rank; i++)
		close(keeper->ranks[i].control);
	for (i = 0; i < PBOOT_FILES(keeper->plan->size); i++) {
		if (keeper->files[i].fd < 0)
			continue;
		if (keeper->inherit) {
			fcntl(keeper->files[i].fd, F_SETFD, FD_CLOEXEC);
		} else {
			close(keeper->files[i].fd);
			keeper->files[i].fd = -1;
		}
	}
	pboot_say_forget();
	rank_state_restore(keeper);
	if (!keeper->subreaper)	/* the launcher finds a rank's children while the rank lives */
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	prctl(PR_SET_NAME, keeper->saved->task_name, 0, 0, 0);
	rank_set_stdin(keeper, rank);
	*startup_out = (struct pboot_startup) {
		.rank = rank,
		.size = keeper->plan->size,
		.local_rank = rank,
		.local_size = keeper->plan->size,
		.control = control,
		.launcher = keeper->launcher,
		.memory = keeper->memory,
		.files = keeper->files,
		.inherited = keeper->inherit,
		.file_kind = keeper->file_kind,
	};
	memcpy(startup_out->name, keeper->name, sizeof startup_out->name);
}

/*
 * Forks one rank.  Returns 0 in the keeper, 1 in a rank of a direct start, or the negative of an
 * errno value.
 *
 * vfork is not used.  With it the keeper would sleep in the kernel until the program starts; if the
 * child were stopped before that, the keeper would notice no signal, no time limit and no end of
 * another process.  fork is no slower: 32 ranks start sooner with it, on two CPUs.
 */
static int
rank_fork(struct pboot_keeper *keeper, struct rank_environment *env, uint32_t rank,
    const int outputs[2], struct pboot_startup *startup_out)
{
	struct stat info = { 0 };
	int ends[2], err;
	pid_t pid;

	err = pboot_wire_pair(ends);
	if (err)
		return -err;
	keeper->ranks[rank].control = ends[0];
	pboot_wire_want_pids(ends[0]);
	if (keeper->plan->argv)
		environment_set_rank(keeper, env, rank, ends[1]);
	sigpending(&keeper->ranks[rank].missed);	/* a child starts with no pending signals */
	pid = fork();
	if (pid < 0) {
		err = errno;
		close(ends[1]);
		return -err;
	}
	if (pid == 0 && keeper->plan->argv) {
		rank_exec(keeper, env, rank, ends[1], outputs);
	} else if (pid == 0) {
		fstat(ends[1], &info);
		rank_become(keeper, rank, ends[1], startup_out);
		startup_out->control_ino = info.st_ino;
		sigprocmask(SIG_SETMASK, &keeper->saved->mask, NULL);
		return 1;
	}
	close(ends[1]);
	keeper->ranks[rank].pid = pid;
	keeper->ranks[rank].messages = pboot_wire_file(outputs ? outputs[1] : STDERR_FILENO);
	keeper->page->ranks[rank] = pid;
	return 0;
}

/* Tells the rules that this rank and all after it could not be started. */
static void
ranks_give_up(struct pboot_keeper *keeper, uint32_t rank, int err)
{
	pboot_keeper_event(keeper, PBOOT_EV_NO_START, rank, err);
	for (; rank < keeper->plan->size; rank++)
		pboot_keeper_event(keeper, PBOOT_EV_DIED, rank, 0);
}

static int
spawn_relay(struct pboot_keeper *keeper, int (**pipes_out)[2])
{
	uint32_t size = keeper->plan->size;
	int err = pboot_relay_open(size, pipes_out);

	if (err)
		return err;
	keeper->relay = pboot_relay_start(size, *pipes_out);
	if (keeper->relay < 0)
		return errno;
	keeper->spared.pids[keeper->spared.count++] = keeper->relay;
	return 0;
}

static int
spawn_ranks(struct pboot_keeper *keeper, struct rank_environment *env, int (*pipes)[2],
    struct pboot_startup *startup_out)
{
	uint32_t rank;
	int outputs[2], got;

	for (rank = 0; rank < keeper->plan->size; rank++) {
		if (pipes) {
			outputs[0] = pipes[2 * rank][1];
			outputs[1] = pipes[2 * rank + 1][1];
		}
		got = rank_fork(keeper, env, rank, pipes ? outputs : NULL, startup_out);
		if (got > 0)
			return 1;
		if (got < 0) {
			ranks_give_up(keeper, rank, -got);
			break;
		}
		if (!keeper->plan->argv)
			pboot_keeper_event(keeper, PBOOT_EV_JOINED, rank, 0);
		keeper->ranks[rank].init_pid = keeper->plan->argv ? 0 : keeper->ranks[rank].pid;
	}
	return 0;
}

static void
environment_free(struct rank_environment *env)
{
	free(env->vars);
	free(env->files);
	free(env->place);
	free(env->shell_words);
}

int __attribute__((cold))
pboot_spawn_all(struct pboot_keeper *keeper, struct pboot_startup *startup_out)
{
	struct rank_environment env = { 0 };
	int (*pipes)[2] = NULL;
	int err = 0, got;

	if (keeper->plan->argv && !environment_make(keeper, &env))
		err = ENOMEM;
	if (!err && keeper->plan->tag_output)
		err = spawn_relay(keeper, &pipes);
	if (keeper->plan->bind_cores)
		keeper->core_count = pboot_bind_cores(&keeper->cores);
	if (err) {
		ranks_give_up(keeper, 0, err);
		return 0;
	}
	got = spawn_ranks(keeper, &env, pipes, startup_out);
	if (pipes)
		pboot_relay_close_writers(keeper->plan->size, pipes);
	environment_free(&env);
	return got;
}
