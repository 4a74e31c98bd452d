# Sourced first.  Runs the test again with /dev/shm and SysV segments of its own if the system permits that, since
# other jobs of this user make and clean some as well.  Then $JOB_ALONE is yes, else no.
if [ -z "${JOB_ALONE:-}" ]; then
	JOB_ALONE=no
	export JOB_ALONE
	if unshare -m -i true 2>/dev/null; then
		JOB_ALONE=yes
		exec unshare -m -i sh -c 'mount -t tmpfs none /dev/shm && exec "$@"' - "$0" "$@"
	fi
fi
