#include "runtime/segment/vm.h"

#include "runtime/process/process.h"

#include "runtime/util/clock.h"
#include "runtime/util/deny.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

struct peer {
	_Atomic pid_t pid;              /* 0: by messages */
};

static struct peer *peers;              /* [size], by job rank */
static uint64_t secret;
static volatile uint64_t echo;

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
	if (!secret && getrandom(&secret, sizeof secret, 0) != sizeof secret)
		secret = psi_now_ns();
	secret |= 1;
	if (vm_is_on())
		/* EINVAL without Yama */
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return (struct psi_vm_card){
		.pid = (uint64_t)getpid(), .secret = secret, .secret_at = (uintptr_t)&secret,
		.echo_at = (uintptr_t)&echo,
	};
}

static ssize_t
vm_call_kernel(uint32_t rank, enum psi_vm_direction direction, const struct psi_vm_pieces *pieces)
{
	const pid_t pid = atomic_load_explicit(&peers[rank].pid, memory_order_relaxed);

	return (direction == PSI_VM_READ ? process_vm_readv : process_vm_writev)(
		pid, pieces->ours, pieces->ours_count, pieces->theirs, pieces->theirs_count, 0);
}

/* The calls move some 2 GiB at most, and may move less than was asked. */
static bool
vm_copy(uint32_t rank, enum psi_vm_direction direction, char *here, char *there, size_t len_bytes)
{
	while (len_bytes) {
		const struct iovec ours = { here, len_bytes }, theirs = { there, len_bytes };
		const ssize_t moved = vm_call_kernel(
			rank, direction, &(struct psi_vm_pieces){ &ours, &theirs, 1, 1 });

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
vm_answers(uint32_t rank, const struct psi_vm_card *card)
{
	uint64_t seen = 0, back = 0, word = card->secret;

	return vm_copy(rank, PSI_VM_READ, (char *)&seen, vm_at(card->secret_at), sizeof seen) &&
	       seen == card->secret &&
	       vm_copy(rank, PSI_VM_WRITE, (char *)&word, vm_at(card->echo_at), sizeof word) &&
	       vm_copy(rank, PSI_VM_READ, (char *)&back, vm_at(card->echo_at), sizeof back) &&
	       back == card->secret;
}

bool
psi_vm_probe(uint32_t rank, const struct psi_vm_card *card)
{
	if (!peers)
		peers = calloc(psi.boot.size, sizeof *peers);
	if (!peers || !vm_is_on())
		return false;
	atomic_store_explicit(&peers[rank].pid, (pid_t)card->pid, memory_order_relaxed);
	if (vm_answers(rank, card))
		return true;
	atomic_store_explicit(&peers[rank].pid, 0, memory_order_relaxed);
	return false;
}

static bool
vm_is_usable(uint32_t rank)
{
	return peers && atomic_load_explicit(&peers[rank].pid, memory_order_relaxed) != 0;
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
	return vm_is_usable(rank) &&
	       vm_moved_counted(
		       vm_copy(rank, PSI_VM_WRITE, (char *)(uintptr_t)src, dest, len_bytes));
}

bool
psi_vm_read(uint32_t rank, void *dest, const void *src, size_t len_bytes)
{
	return vm_is_usable(rank) && vm_moved_counted(vm_copy(rank, PSI_VM_READ, dest,
	                                                      (char *)(uintptr_t)src, len_bytes));
}

size_t
psi_vm_move(uint32_t rank, enum psi_vm_direction direction, const struct psi_vm_pieces *pieces)
{
	ssize_t moved;

	if (!vm_is_usable(rank))
		return 0;
	moved = vm_call_kernel(rank, direction, pieces);
	return vm_moved_counted(moved > 0) ? (size_t)moved : 0;
}
