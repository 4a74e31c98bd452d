#include "runtime/vm.h"

#include "runtime/psi.h"

#include "runtime/util/clock.h"
#include "runtime/util/deny.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

struct peer {
	_Atomic pid_t pid;              /* 0: by messages */
};

static struct peer *peers;              /* [size], by job rank */
static uint64_t secret;
static volatile uint64_t echo;

static bool
is_on(void)
{
	return !psi_denied("vm_readv");
}

/* Where Yama restricts who may look into whom, this allows all processes of the same user. */
struct psi_vm_card
psi_vm_card_make(void)
{
	if (!secret && getrandom(&secret, sizeof secret, 0) != sizeof secret)
		secret = psi_now_ns();
	secret |= 1;
	if (is_on())
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);       /* EINVAL without Yama */
	return (struct psi_vm_card){
		.pid = (uint64_t)getpid(), .secret = secret, .secret_at = (uintptr_t)&secret,
		.echo_at = (uintptr_t)&echo,
	};
}

/* The calls move some 2 GiB at most, and may move less than was asked. */
static bool
copy(uint32_t rank, char *here, char *there, size_t len_bytes,
     ssize_t (*move)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                     unsigned long))
{
	const pid_t pid = atomic_load_explicit(&peers[rank].pid, memory_order_relaxed);

	while (len_bytes) {
		const struct iovec local = { here, len_bytes }, remote = { there, len_bytes };
		const ssize_t moved = move(pid, &local, 1, &remote, 1, 0);

		if (moved <= 0)
			return false;
		here += moved;
		there += moved;
		len_bytes -= (size_t)moved;
	}
	return true;
}

static char *
at(uint64_t address)
{
	return (char *)(uintptr_t)address;
}

/* A number may name another process in another namespace, so the word that is read must be the secret;
 * and a filter may let one of the calls pass. */
static bool
answers(uint32_t rank, const struct psi_vm_card *card)
{
	uint64_t seen = 0, back = 0, word = card->secret;

	return copy(rank, (char *)&seen, at(card->secret_at), sizeof seen, process_vm_readv) &&
	       seen == card->secret &&
	       copy(rank, (char *)&word, at(card->echo_at), sizeof word, process_vm_writev) &&
	       copy(rank, (char *)&back, at(card->echo_at), sizeof back, process_vm_readv) &&
	       back == card->secret;
}

void
psi_vm_probe(uint32_t rank, const struct psi_vm_card *card)
{
	if (!peers)
		peers = calloc(psi.boot.size, sizeof *peers);
	if (!peers || !is_on())
		return;
	atomic_store_explicit(&peers[rank].pid, (pid_t)card->pid, memory_order_relaxed);
	if (!answers(rank, card))
		atomic_store_explicit(&peers[rank].pid, 0, memory_order_relaxed);
}

static bool
is_usable(uint32_t rank)
{
	return peers && atomic_load_explicit(&peers[rank].pid, memory_order_relaxed) != 0;
}

/* What failed once is not tried again: a filter may have come since. */
static bool
move_or_give_up(uint32_t rank, char *here, char *there, size_t len_bytes,
                ssize_t (*move)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                                unsigned long, unsigned long))
{
	if (!is_usable(rank))
		return false;
	if (!copy(rank, here, there, len_bytes, move)) {
		atomic_store_explicit(&peers[rank].pid, 0, memory_order_relaxed);
		return false;
	}
	psi_count(psi_block()->count, PSI_COUNT_SINGLE_COPIES);
	return true;
}

bool
psi_vm_write(uint32_t rank, void *dest, const void *src, size_t len_bytes)
{
	return move_or_give_up(rank, (char *)(uintptr_t)src, dest, len_bytes, process_vm_writev);
}

bool
psi_vm_read(uint32_t rank, void *dest, const void *src, size_t len_bytes)
{
	return move_or_give_up(rank, dest, (char *)(uintptr_t)src, len_bytes, process_vm_readv);
}
