/*
 * gasnet_tools_env.h: numbers as people write them, and environment variables.
 *
 * A number or a yes or no that cannot be read, or does not fit, ends the
 * process with one line that names variable, value and what is accepted, and
 * status 2. A variable that is set but empty counts as not set, but for
 * gasnett_getenv and gasnett_getenv_withdefault.
 *
 * Any thread, as long as nobody changes the environment at the same time.
 */
#ifndef GASNET_TOOLS_ENV_H
#define GASNET_TOOLS_ENV_H

#include "gasnet_ex_port.h"

PSI_BEGIN_DECLS

/*
 * val as text into buf, cut to bufsz bytes; returns buf. With is_mem_size in
 * the largest unit that divides it: 65536 is "64 KB".
 */
PSI_API char *gasnett_format_number(int64_t val, char *buf, size_t bufsz, int is_mem_size);

/*
 * A number. Multiplier 0: an integer, decimal or with 0x, with a sign perhaps.
 * Otherwise a size, with a fraction perhaps, and B, KB, MB, GB or TB (powers
 * of 1024) behind it; without one of those it counts mem_size_multiplier.
 */
PSI_API int64_t gasnett_parse_int(const char *str, uint64_t mem_size_multiplier);

/* Of this process only. */
PSI_API void gasnett_setenv(const char *key, const char *value);
PSI_API void gasnett_unsetenv(const char *key);

/* The value, or NULL; prints nothing. */
PSI_API char *gasnett_getenv(const char *keyname);

/*
 * The value, or the default. Under GASNET_VERBOSEENV one process of the job
 * prints, once for each name, what was found. Yes is 1, y or yes, no is 0, n
 * or no, in any case; a double may be a fraction such as 3/8.
 */
PSI_API char *gasnett_getenv_withdefault(const char *keyname, const char *defaultval);
PSI_API int gasnett_getenv_yesno_withdefault(const char *keyname, int defaultval);
PSI_API int64_t gasnett_getenv_int_withdefault(const char *keyname, int64_t defaultval,
                                               uint64_t mem_size_multiplier);
PSI_API double gasnett_getenv_dbl_withdefault(const char *keyname, double defaultval);

/* Non-zero in the process that prints settings, if they are to be printed; known after init. */
PSI_API int gasnett_verboseenv(void);

/* Print as the calls above do, for values that were found in other ways. */
PSI_API void gasnett_envint_display(const char *key, int64_t val, int is_dflt, int is_mem_size);
PSI_API void gasnett_envstr_display(const char *key, const char *val, int is_dflt);
PSI_API void gasnett_envdbl_display(const char *key, double val, int is_dflt);

PSI_END_DECLS

#endif
