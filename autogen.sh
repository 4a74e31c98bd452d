#!/bin/sh
# Make configure and its helpers; one run at a time, so that two makes cannot spoil each other.
set -eu
cd "$(dirname "$0")"

for tool in autoreconf automake libtoolize; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "autogen.sh: $tool is missing; install autoconf, automake and libtool" >&2
		exit 1
	}
done

mkdir -p build-aux
exec 9>build-aux/.lock
if command -v flock >/dev/null 2>&1; then
	flock 9
fi
autoreconf -fi
