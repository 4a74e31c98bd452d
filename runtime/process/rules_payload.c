/*
 * What checks know of memory that calls are given: the client's buffer of the thread's last
 * transfer, so that a fault in it can be told by name; and whether a payload was written to the
 * library's buffer.
 */
#include "runtime/process/rules.h"

#include "runtime/settings/settings_tables.h"
#include "runtime/util/line.h"
#include "runtime/util/settings_parse.h"

#include <string.h>
#include <strings.h>

enum { PATTERN_BYTES = 8 };

/* A signalling NaN that nobody computes. */
static const uint64_t pattern_nan = UINT64_C(0x7ff4505354534455);

static bool
pattern_read(const char *text, uint64_t *pattern_out)
{
	int64_t number;

	*pattern_out = pattern_nan;
	if (strcasecmp(text, "NAN") == 0)
		return true;
	if (!psi_parse_int(text, &number))
		return false;
	*pattern_out = (uint64_t)number;
	return true;
}

static bool
pattern_accepted(const char *text)
{
	uint64_t pattern;

	return pattern_read(text, &pattern);
}

static const struct psi_setting rows[] = {
	{ .name = "GASNET_SD_INIT", .kind = PSI_SETTING_BOOL, .default_text = "1",
	  .help = "with PST_CHECK: fill the buffers that Prepare gives, and complain of a Commit "
	          "that finds one as it was" },
	{ .name = "GASNET_SD_INITVAL", .kind = PSI_SETTING_TEXT, .default_text = "NAN",
	  .check = pattern_accepted, .accepts = "NAN or a whole number of 64 bits",
	  .help = "what each 8 bytes are filled with" },
	{ .name = "GASNET_SD_INITLEN", .kind = PSI_SETTING_SIZE, .default_text = "128", .unit = "B",
	  .help = "how much of a buffer is filled" },
};

const struct psi_setting_table psi_settings_payload = PSI_SETTING_TABLE("Prepared payload", rows);

/* -- the client's buffer --------------------------------------------------------------------- */

/* TLS model initial-exec: it needs no allocation, and a signal handler reads the variable. */
static _Thread_local struct {
	const char *call;               /* NULL: none yet */
	uintptr_t at;
	size_t len_bytes;
} given __attribute__((tls_model("initial-exec")));

void
psi_rules_note_given(const void *buffer, size_t len_bytes, const char *call)
{
	given.call = call;
	given.at = (uintptr_t)buffer;
	given.len_bytes = len_bytes;
}

/* For an address that no process can have, the processor reports no address. */
static bool
pattern_is_possible(uintptr_t at)
{
#if defined(__x86_64__)
	enum { BITS = 47 };

	return at >> BITS == 0;
#else
	(void)at;
	return true;
#endif
}

void
psi_rules_report_given(struct psi_line *line, const void *address)
{
	if (!psi.checks) {
		psi_line_text(line, "; PST_CHECK=1 tells whether a call was given it");
		return;
	}
	if (!given.call || (address ? (uintptr_t)address - given.at >= given.len_bytes
	                            : pattern_is_possible(given.at)))
		return;
	psi_line_text(line, line->len ? ", in the " : "in the ");
	psi_line_number(line, given.len_bytes);
	psi_line_text(line, " bytes at ");
	psi_line_address(line, (const void *)given.at);
	psi_line_text(line, " given to ");
	psi_line_text(line, given.call);
	psi_line_text(line, "; check address and length");
}

/* -- the library's buffer -------------------------------------------------------------------- */

static struct {
	bool on;
	uint64_t pattern;
	uint64_t most_bytes;
} fill;

void
psi_rules_payload_open(void)
{
	fill.on = psi_setting_bool(&rows[0]);
	pattern_read(psi_setting_text(&rows[1]), &fill.pattern);
	fill.most_bytes = psi_setting_size(&rows[2]);
}

/* How many of the bytes are filled; 0: none. */
static size_t
pattern_filled_bytes(const struct gex_AM_SrcDesc_s *sd, size_t len_bytes)
{
	if (!fill.on || !sd->own_buffer)
		return 0;
	return (len_bytes < fill.most_bytes ? len_bytes : (size_t)fill.most_bytes) /
	       PATTERN_BYTES * PATTERN_BYTES;
}

void
psi_rules_note_prepared(gex_AM_SrcDesc_t sd)
{
	const size_t len = pattern_filled_bytes(sd, sd->size);

	for (size_t at = 0; at < len; at += PATTERN_BYTES)
		memcpy((char *)sd->buffer + at, &fill.pattern, PATTERN_BYTES);
}

void
psi_rules_check_payload(gex_AM_SrcDesc_t sd, size_t nbytes, const char *call)
{
	const size_t len = pattern_filled_bytes(sd, nbytes);

	if (!len)
		return;
	for (size_t at = 0; at < len; at += PATTERN_BYTES)
		if (memcmp((char *)sd->buffer + at, &fill.pattern, PATTERN_BYTES) != 0)
			return;
	psi_fatal("%s: nothing was written to the library's buffer; write the payload to "
	          "gex_AM_SrcDescAddr first", call);
}
