/* The optional thread that handles messages while the client computes. */
#ifndef PSI_RECEIVE_THREAD_H
#define PSI_RECEIVE_THREAD_H

/* Starts it where GASNET_RCV_THREAD asks for it.  Called once, when the job is open. */
void psi_receive_thread_start(void);

#endif
