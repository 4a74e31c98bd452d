#include "runtime/segment/vm.h"

#include "runtime/process/process.h"

#include "runtime/util/clock.h"
#include "runtime/util/deny.h"
#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

enum { VM_UNKNOWN = 0, VM_REFUSED = -1 };

struct peer {
	_Atomic pid_t pid;              /* or one of these */
};

static struct peer *peers;              /* [size], by job rank */
static struct psi_spinlock lock;        /* of what follows, and while a process is probed */
static uint64_t secret;
static volatile uint64_t echo;

void
psi_vm_open(void)
{
	peers = calloc(psi.boot.size, sizeof *peers);
	if (!peers)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
}

static bool
vm_is_on(void)
{
	return !psi_denied("vm_readv");
}

/* Yama may restrict access to other processes' memory.  This call allows all processes of the same
 * user. */
struct psi_vm_card
psi_vm_card_make(void)
{
	uint64_t own;

	psi_spinlock_lock(&lock);
	if (!secret) {
		if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
			secret = psi_now_ns();
		secret |= 1;
	}
	own = secret;
	psi_spinlock_unlock(&lock);
	if (vm_is_on())
		/* EINVAL without Yama */
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return (struct psi_vm_card){
		.pid = (uint64_t)getpid(), .secret = own, .secret_at = (uintptr_t)&secret,
		.echo_at = (uintptr_t)&echo,
	};
}

static ssize_t
vm_call_kernel(pid_t pid, enum psi_vm_direction direction, const struct psi_vm_pieces *pieces)
{
	return (direction == PSI_VM_READ ? process_vm_readv : process_vm_writev)(
		pid, pieces->ours, pieces->ours_count, pieces->theirs, pieces->theirs_count, 0);
}

/* The calls move some 2 GiB at most, and may move less than was asked. */
static bool
vm_copy(pid_t pid, enum psi_vm_direction direction, char *here, char *there, size_t len_bytes)
{
	while (len_bytes) {
		const struct iovec ours = { here, len_bytes }, theirs = { there, len_bytes };
		const ssize_t moved = vm_call_kernel(
			pid, direction, &(struct psi_vm_pieces){ &ours, &theirs, 1, 1 });

		if (moved <= 0)
			return false;
		here += moved;
		there += moved;
		len_bytes -= (size_t)moved;
	}
	return true;
}

static char *
vm_at(uint64_t address)
{
	return (char *)(uintptr_t)address;
}

/* A number may name another process in another namespace, so the word that is read must be the
 * secret; and a filter may let one of the calls pass. */
static bool
vm_answers(const struct psi_vm_card *card)
{
	const pid_t pid = (pid_t)card->pid;
	uint64_t seen = 0, back = 0, word = card->secret;

	return vm_copy(pid, PSI_VM_READ, (char *)&seen, vm_at(card->secret_at), sizeof seen) &&
	       seen == card->secret &&
	       vm_copy(pid, PSI_VM_WRITE, (char *)&word, vm_at(card->echo_at), sizeof word) &&
	       vm_copy(pid, PSI_VM_READ, (char *)&back, vm_at(card->echo_at), sizeof back) &&
	       back == card->secret;
}

/* 0 and less: it is not reached. */
static pid_t
vm_pid(uint32_t rank)
{
	return atomic_load_explicit(&peers[rank].pid, memory_order_relaxed);
}

bool
psi_vm_probe(uint32_t rank, const struct psi_vm_card *card)
{
	if (vm_pid(rank) == VM_UNKNOWN) {
		psi_spinlock_lock(&lock);
		if (vm_pid(rank) == VM_UNKNOWN)
			atomic_store_explicit(&peers[rank].pid,
			                      vm_is_on() && vm_answers(card) ? (pid_t)card->pid
			                                                     : VM_REFUSED,
			                      memory_order_relaxed);
		psi_spinlock_unlock(&lock);
	}
	return vm_pid(rank) > 0;
}

static bool
vm_moved_counted(bool moved)
{
	if (moved)
		psi_count(psi_block()->count, PSI_COUNT_SINGLE_COPIES);
	return moved;
}

bool
psi_vm_write(uint32_t rank, void *dest, const void *src, size_t len_bytes)
{
	const pid_t pid = vm_pid(rank);

	return pid > 0 && vm_moved_counted(vm_copy(pid, PSI_VM_WRITE, (char *)(uintptr_t)src, dest,
	                                           len_bytes));
}

bool
psi_vm_read(uint32_t rank, void *dest, const void *src, size_t len_bytes)
{
	const pid_t pid = vm_pid(rank);

	return pid > 0 && vm_moved_counted(vm_copy(pid, PSI_VM_READ, dest, (char *)(uintptr_t)src,
	                                           len_bytes));
}

size_t
psi_vm_move(uint32_t rank, enum psi_vm_direction direction, const struct psi_vm_pieces *pieces)
{
	const pid_t pid = vm_pid(rank);
	ssize_t moved;

	if (pid <= 0)
		return 0;
	moved = vm_call_kernel(pid, direction, pieces);
	return vm_moved_counted(moved > 0) ? (size_t)moved : 0;
}
