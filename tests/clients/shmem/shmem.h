/* A small SHMEM: the same memory on every PE, reached without the help of the other side. */
#ifndef SHMEM_H
#define SHMEM_H

#include <stddef.h>
#include <stdint.h>

enum shmem_compare { SHMEM_CMP_EQ, SHMEM_CMP_GE };

void shmem_init(int *argc, char ***argv);
void shmem_finalize(void);
int shmem_my_pe(void);
int shmem_n_pes(void);

/* Every PE calls these in the same order, and gets memory at the same place of its heap. */
void *shmem_malloc(size_t bytes);
void shmem_free(void *memory);
/* Where this PE sees `target' of another, or NULL. */
void *shmem_ptr(const void *target, int pe);

void shmem_putmem(void *target, const void *source, size_t bytes, int pe);
void shmem_getmem(void *target, const void *source, size_t bytes, int pe);
void shmem_putmem_nbi(void *target, const void *source, size_t bytes, int pe);
void shmem_getmem_nbi(void *target, const void *source, size_t bytes, int pe);
void shmem_int64_p(int64_t *target, int64_t value, int pe);
int64_t shmem_int64_g(const int64_t *source, int pe);
/* Element i goes from source[i * source_step] to target[i * target_step]. */
void shmem_int64_iput(int64_t *target, const int64_t *source, ptrdiff_t target_step,
                      ptrdiff_t source_step, size_t count, int pe);
void shmem_int64_iget(int64_t *target, const int64_t *source, ptrdiff_t target_step,
                      ptrdiff_t source_step, size_t count, int pe);
void shmem_quiet(void);
void shmem_int64_wait_until(volatile int64_t *flag, enum shmem_compare compare, int64_t value);

int64_t shmem_int64_fadd(int64_t *target, int64_t value, int pe);
int64_t shmem_int64_swap(int64_t *target, int64_t value, int pe);
int64_t shmem_int64_cswap(int64_t *target, int64_t expected, int64_t value, int pe);

void shmem_barrier_all(void);
/* Of all PEs; all buffers are symmetric, and target and source differ. */
void shmem_broadcast(void *target, const void *source, size_t bytes, int root);
void shmem_int64_sum(int64_t *target, const int64_t *source, size_t count);

#endif
