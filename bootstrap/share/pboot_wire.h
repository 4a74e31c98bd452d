/*
 * The messages between a rank and the keeper, and from launcher to keeper: one message per packet
 * of a SOCK_SEQPACKET socket.  `rank' in them is the number of a rank among those of its host.  The
 * keeper answers FETCH, GIVE and MEMORY, and sends RELEASE to ranks of an engine.  It answers no
 * other message, but GATHER makes it write to the exchange area.  It sends nothing to the launcher,
 * since both have struct pboot_status_page.  It sends STATUS to an agent, which has no such page.
 */
#ifndef PBOOT_WIRE_H
#define PBOOT_WIRE_H

#include "bootstrap/bootstrap.h"

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* poll() by way of ppoll: a client that links the archive may have a function called poll. */
static inline int
pboot_poll(struct pollfd *polls, nfds_t count, int ms)
{
	struct timespec limit = { ms / 1000, (long)(ms % 1000) * 1000000 };

	return ppoll(polls, count, ms < 0 ? NULL : &limit, NULL);
}

enum {
	PBOOT_WIRE_VERSION = 8,	/* version of these messages and of the variables PST_JOB_* */
	PBOOT_NAME_BYTES = 33,	/* 128 random bits in hex, and a NUL */
	PBOOT_REPLY_MS = 2000,	/* the keeper answers FETCH and GIVE within this time */
};

enum pboot_msg_kind {
	/* rank to keeper */
	PBOOT_MSG_HELLO = 1,  /* value: PBOOT_WIRE_VERSION; the rank enters init */
	PBOOT_MSG_FETCH,      /* value: number of the file that the rank asks for */
	PBOOT_MSG_LEAVE,      /* value: code of gasnet_exit */
	PBOOT_MSG_EXIT,       /* value: code of exit() */
	PBOOT_MSG_EXIT_ALONE, /* value: code of an exit() that ends only this rank */
	PBOOT_MSG_CAUSE,      /* text; value: pboot_wire_file of where it was printed, or 0 */
	PBOOT_MSG_GIVE,       /* a descriptor: the rank's file of huge pages; answered like FETCH */
	PBOOT_MSG_ARENA,      /* value: key of the arena's first range, which the keeper notes */
	PBOOT_MSG_HANG,       /* value: ms that the rank has waited, in which nothing came */
	PBOOT_MSG_LONG_WAIT,  /* the same, but messages keep coming */
	PBOOT_MSG_NO_EXEC,    /* value: errno; the program could not be run */
	PBOOT_MSG_GATHER,     /* all ranks of this host have arrived (share/pboot_area.h) */
	PBOOT_MSG_KNOCK,      /* value: rank of the job at which this one knocks (pboot_knock) */
	/* keeper to rank */
	PBOOT_MSG_FILE, /* value: 0, with a descriptor; or errno */
	/* launcher to keeper */
	PBOOT_MSG_SIGNAL, /* value: signal that the launcher got */
	/* in a job that an engine has started */
	PBOOT_MSG_MEMORY,  /* a rank asks which memory the job has; the answer has the same kind,
	                    * its value is pboot_memory.exchange_id, its text kind and how */
	PBOOT_MSG_RELEASE, /* keeper to rank: all have asked to end; value: the job's status */
	/* agent (bootstrap/ssh) to keeper, besides SIGNAL; rank is that of the job */
	PBOOT_MSG_RANKS,     /* the agent's ranks: rank is the first, value how many */
	PBOOT_MSG_ENDED,     /* value: status of waitpid */
	PBOOT_MSG_FAIL,      /* value: status with which the job fails */
	PBOOT_MSG_TIME_OVER, /* the job's time is over */
	PBOOT_MSG_LOST,      /* the launcher is lost */
	/* keeper to agent */
	PBOOT_MSG_STATUS, /* value: status with which the job ends; rank: 1 if it is a failure */
	PBOOT_MSG_HOST_LOST, /* rank: of the job, on a host that keepers cannot reach */
};

struct pboot_msg {
	uint32_t kind;
	uint32_t rank;
	int32_t value;
	uint32_t len_bytes;	/* of text, without NUL */
	char text[PBOOT_CAUSE_MAX + 4];
};

/* What the kernel delivered beside a message; fd -1: no descriptor, pid 0: sender unknown. */
struct pboot_extra {
	int fd;
	pid_t pid;
};

/* Makes both ends of a connection, close-on-exec and at high numbers.  Returns 0 or an errno
 * value. */
int pboot_wire_pair(int fds_out[2]);

/* Sends without blocking and without SIGPIPE; async-signal-safe.  fd -1: no descriptor is sent. */
int pboot_wire_send(int sock, enum pboot_msg_kind kind, uint32_t rank, int value, const char *text);
int pboot_wire_send_fd(int sock, enum pboot_msg_kind kind, uint32_t rank, int value, int fd);

/*
 * Takes one message without blocking.  Returns 1 for a message, 0 if the other side is gone, -1 if
 * there is none now.  With extra_out NULL a descriptor that came with the message is closed.
 */
int pboot_wire_take(int sock, struct pboot_msg *msg_out, struct pboot_extra *extra_out);

/* From now on the kernel adds the sender's pid to each message that this end receives. */
void pboot_wire_want_pids(int sock);

/* Connections by name, for processes that lost their descriptors.  They return a descriptor or
 * -errno; connect also returns -ECONNREFUSED if another user listens. */
int pboot_wire_listen(const char *name);
int pboot_wire_connect(const char *name);

/* Is the process that connected, or that listened, of this user? */
bool pboot_wire_is_same_user(int sock);

/* Moves fd to 100 or above, close-on-exec: shell scripts use lower numbers.  Returns the new
 * number, or fd if it could not be moved. */
int pboot_fd_raise(int fd);
/* Opens a pipe with such numbers.  Returns 0 or an errno value. */
int pboot_pipe_open(int ends_out[2]);

/* Returns a number that stands for the file behind a descriptor, the same in all processes of a
 * host; 0 if the descriptor is closed.  Async-signal-safe. */
int pboot_wire_file(int fd);

/* Writes 128 random bits as text. */
void pboot_wire_name(char name_out[PBOOT_NAME_BYTES]);

#endif
