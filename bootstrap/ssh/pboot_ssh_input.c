#include "bootstrap/ssh/pboot_ssh_job.h"

#include <errno.h>
#include <unistd.h>

void
pboot_ssh_input_open(struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++) {
		const struct pboot_ssh_ranks *ranks = &job->hosts[i].ranks;

		if (job->plan->stdin_rank < (int64_t)ranks->first ||
		    job->plan->stdin_rank >= (int64_t)ranks->first + ranks->count)
			continue;
		job->input_host = i;
		job->input_open = true;
		job->input_window = PBOOT_SSH_WINDOW;
	}
}

bool
pboot_ssh_input_is_wanted(const struct pboot_ssh_job *job, bool *later_out)
{
	const struct pboot_ssh_host *host = &job->hosts[job->input_host];
	const pid_t group = job->input_open ? tcgetpgrp(STDIN_FILENO) : -1;

	*later_out = false;
	if (!job->input_open || !host->greeted || host->closed || job->input_window == 0)
		return false;
	*later_out = group >= 0 && group != getpgrp();
	return !*later_out;
}

void
pboot_ssh_input_read(struct pboot_ssh_job *job)
{
	char bytes[PBOOT_SSH_BODY_MAX / 4];
	const size_t room = job->input_window < sizeof bytes ? job->input_window : sizeof bytes;
	ssize_t got = read(STDIN_FILENO, bytes, room);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		job->input_open = false;
		got = 0;
	}
	job->input_window -= (uint32_t)got;
	pboot_ssh_link_send(&job->hosts[job->input_host].link, PBOOT_SSH_STDIN, 0, bytes,
	    (uint32_t)got);
}
