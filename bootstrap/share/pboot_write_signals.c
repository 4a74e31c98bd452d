#include "bootstrap/share/pboot_write_signals.h"

#include <stddef.h>
#include <time.h>

struct pboot_write_signals
pboot_write_signals_block(void)
{
	static const int both[] = { SIGPIPE, SIGXFSZ };
	struct pboot_write_signals self;
	sigset_t pending;

	sigpending(&pending);
	sigemptyset(&self.these);
	for (size_t i = 0; i < sizeof both / sizeof *both; i++)
		if (!sigismember(&pending, both[i]))
			sigaddset(&self.these, both[i]);
	pthread_sigmask(SIG_BLOCK, &self.these, &self.mask);
	return self;
}

void
pboot_write_signals_unblock(const struct pboot_write_signals *self)
{
	const struct timespec none = { 0, 0 };

	while (sigtimedwait(&self->these, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &self->mask, NULL);
}
