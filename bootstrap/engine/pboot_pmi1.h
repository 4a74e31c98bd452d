/* How long the PMI-1 client waits for one answer; unit tests make it shorter. */
#ifndef PBOOT_PMI1_H
#define PBOOT_PMI1_H

extern int pboot_pmi1_answer_ms;

#endif
