/*
 * What a Fortran compiler calls for coarrays: names end in `_', all arguments are references, and
 * the length of a text comes last, by value. Images count from 1 and are those of the current team;
 * a coarray is named by a handle, a place in it by an offset in bytes.
 */
#ifndef COARRAY_H
#define COARRAY_H

#include <stddef.h>
#include <stdint.h>

void caf_init_(void);
void caf_stop_(const int32_t *code);
void caf_error_stop_(const char *text, size_t text_length);

int32_t caf_this_image_(void);
int32_t caf_num_images_(void);

/* By all images of the current team; of each image, `bytes' bytes, not initialised. */
void caf_allocate_(int64_t *coarray, const int64_t *bytes);
void caf_put_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
              const void *value, const int64_t *bytes);
void caf_get_(const int64_t *coarray, const int64_t *offset, const int32_t *image, void *value,
              const int64_t *bytes);
/* A section of `dimensions' dimensions: strides in bytes, and the number of elements in each. */
void caf_put_section_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                      const int64_t *strides, const void *value, const int64_t *value_strides,
                      const int64_t *element_bytes, const int64_t *counts,
                      const int32_t *dimensions);
void caf_get_section_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                      const int64_t *strides, void *value, const int64_t *value_strides,
                      const int64_t *element_bytes, const int64_t *counts,
                      const int32_t *dimensions);

/* Of integer(8), which nothing else touches meanwhile. */
void caf_atomic_define_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                        const int64_t *value);
void caf_atomic_ref_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                     int64_t *value);
void caf_atomic_fetch_add_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                           const int64_t *value, int64_t *old);
void caf_atomic_cas_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                     int64_t *old, const int64_t *compare, const int64_t *value);

/* An event is an atomic that starts at 0; only its own image waits for it. */
void caf_event_post_(const int64_t *coarray, const int64_t *offset, const int32_t *image);
void caf_event_wait_(const int64_t *coarray, const int64_t *offset, const int64_t *until_count);
void caf_event_query_(const int64_t *coarray, const int64_t *offset, int64_t *count);

void caf_sync_all_(void);
/* With each of the images named; a count of -1 means all others. */
void caf_sync_images_(const int32_t *count, const int32_t *images);

void caf_form_team_(const int32_t *team_number, int64_t *team);
void caf_change_team_(const int64_t *team);
void caf_end_team_(void);

void caf_co_sum_(int64_t *values, const int64_t *count);
void caf_co_max_(double *values, const int64_t *count);
void caf_co_broadcast_(void *values, const int64_t *bytes, const int32_t *source_image);
void caf_co_reduce_(int64_t *values, const int64_t *count,
                    int64_t (*operation)(const int64_t *left, const int64_t *right));

#endif
