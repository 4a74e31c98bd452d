/* Writes what ranks print to the launcher's standard output and error.  Nothing waits here for a
 * reader; an agent sends PBOOT_SSH_WINDOW bytes of each stream, and more when they have been
 * written. */
#include "bootstrap/ssh/pboot_ssh_job.h"

#include "runtime/util/clock.h"
#include "runtime/util/nowait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
pboot_ssh_output_open(struct pboot_ssh_job *job)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct pboot_ssh_stream *stream = &job->streams[i];

		stream->fd = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
		stream->last = &stream->first;
		if (!job->plan->tag_output)
			continue;
		stream->tags = calloc(job->plan->size, sizeof *stream->tags);
		if (!stream->tags)
			return false;
	}
	return true;
}

static void
host_tell_taken(struct pboot_ssh_job *job, const struct pboot_ssh_stream *stream, uint32_t host,
    uint32_t taken)
{
	if (taken > 0)
		pboot_ssh_link_send_number(&job->hosts[host].link, PBOOT_SSH_READ,
		    (uint32_t)(stream - job->streams), taken);
}

static void
stream_add(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream, uint32_t host,
    uint32_t taken, const char *bytes, size_t len)
{
	struct pboot_ssh_chunk *chunk = len > 0 ? malloc(sizeof *chunk + len) : NULL;

	if (!chunk) {
		host_tell_taken(job, stream, host, taken);
		return;
	}
	*chunk = (struct pboot_ssh_chunk) { .host = host, .taken = taken, .len = len };
	memcpy(chunk->bytes, bytes, len);
	*stream->last = chunk;
	stream->last = &chunk->next;
}

void
pboot_ssh_output_take(struct pboot_ssh_job *job, struct pboot_ssh_host *host,
    const struct pboot_ssh_frame *frame)
{
	struct pboot_ssh_stream *stream = &job->streams[frame->kind == PBOOT_SSH_STDERR];
	const uint32_t index = (uint32_t)(host - job->hosts);
	const char *bytes = (const char *)frame->bytes;

	if (stream->lost) {
		host_tell_taken(job, stream, index, frame->len_bytes);
		return;
	}
	if (stream->tags) {
		pboot_tag_take(&stream->tags[frame->rank], frame->rank, bytes, frame->len_bytes,
		    &job->lines);
		stream_add(job, stream, index, frame->len_bytes, job->lines.text, job->lines.len);
		job->lines.len = 0;
	} else {
		stream_add(job, stream, index, frame->len_bytes, bytes, frame->len_bytes);
	}
	pboot_ssh_output_write(job, stream);
}

static void
stream_take_first(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream)
{
	struct pboot_ssh_chunk *chunk = stream->first;

	stream->first = chunk->next;
	if (!stream->first)
		stream->last = &stream->first;
	host_tell_taken(job, stream, chunk->host, chunk->taken);
	free(chunk);
}

static void
stream_drop(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream)
{
	stream->lost = true;
	while (stream->first)
		stream_take_first(job, stream);
}

static void
stream_tell_no_reader(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream)
{
	stream->no_reader = true;
	pboot_ssh_send_all(job, PBOOT_SSH_NO_READER, (uint32_t)(stream - job->streams));
}

/* If the reader has gone, ranks get SIGPIPE as they would without us.  Any other failure (a full
 * disk, a closed descriptor) is printed, and the ranks go on. */
static void
stream_write_failed(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream, int err)
{
	stream_drop(job, stream);
	if (err == EPIPE || err == ECONNRESET)
		stream_tell_no_reader(job, stream);
	else
		pboot_say("cannot write to %s: %s; output of the ranks is lost",
		    stream->fd == STDOUT_FILENO ? "standard output" : "standard error",
		    strerror(err));
}

void
pboot_ssh_output_write(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream)
{
	struct pboot_ssh_chunk *chunk;
	ssize_t done;

	while ((chunk = stream->first) != NULL) {
		done = psi_write_nowait(stream->fd, chunk->bytes + chunk->from,
		    chunk->len - chunk->from);
		stream->is_dry = done == -EAGAIN;
		if (done == -EAGAIN)
			return;
		if (done <= 0) {
			stream_write_failed(job, stream, done < 0 ? (int)-done : EIO);
			return;
		}
		job->output_ns = psi_now_ns();
		chunk->from += (size_t)done;
		if (chunk->from == chunk->len)
			stream_take_first(job, stream);
	}
}

void
pboot_ssh_output_drop(struct pboot_ssh_job *job)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		stream_drop(job, &job->streams[i]);
		stream_tell_no_reader(job, &job->streams[i]);
	}
}

bool
pboot_ssh_output_is_empty(const struct pboot_ssh_job *job)
{
	return !job->streams[0].first && !job->streams[1].first;
}
