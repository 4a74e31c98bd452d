# Sourced by tests of jobs with a network, behind lib.sh: $conduit, a plug-in, between ranks of one host, which share
# no memory since GASNET_SUPERNODE_MAXSIZE is 1. What may be wrong with a plug-in, and where it is found.
cc=${TEST_CC:-gcc}
plugin=$TEST_BUILDDIR/.libs/penstock-$conduit.so
if [ ! -e "$plugin" ]; then
	echo "this build has no $conduit conduit: configure says why"
	exit 77
fi
unset_settings
hello=$TEST_BUILDDIR/examples/hello
PST_CONDUIT=$conduit GASNET_SUPERNODE_MAXSIZE=1 PST_PLUGIN_DIR=$TEST_BUILDDIR/.libs
export PST_CONDUIT GASNET_SUPERNODE_MAXSIZE PST_PLUGIN_DIR
lack=	# the line of a job on a host that has no device for the conduit; empty where it has

# refused PATTERN: by one line for all ranks
refused()
{
	expect_status 1
	expect_output ""
	expect_one_line
	grep -q -e "$1" "$tmp/err" || wrong "no line matches $1"
}

# opened: the plug-in was found, and the job ran or was told of the missing device
opened()
{
	if [ -n "$lack" ]; then refused "$lack"; else expect_status 0; fi
}

# plugin_faults LIBRARY: no plug-in, one of another release, one that is none, and one whose LIBRARY is not here
plugin_faults()
{
	name=penstock-$conduit.so
	job env PST_PLUGIN_DIR=/nonexistent "$run" -n 3 "$hello"
	refused "conduit $conduit: its plug-in $name is not in /nonexistent; install it, or set PST_PLUGIN_DIR"
	mkdir -p "$tmp/older" "$tmp/empty" "$tmp/lacking"
	echo "const struct { unsigned abi, size_bytes; } p${conduit}_ops = { 1, 8 };" >"$tmp/older.c"
	$cc -shared -fPIC -o "$tmp/older/$name" "$tmp/older.c" || exit 99
	job env PST_PLUGIN_DIR="$tmp/older" "$run" -n 3 "$hello"
	refused "$tmp/older/$name is of ABI 1 (8 bytes), and this library needs [0-9]* ([0-9]*); install both"
	echo 'int nothing;' >"$tmp/empty.c"
	$cc -shared -fPIC -o "$tmp/empty/$name" "$tmp/empty.c" || exit 99
	job env PST_PLUGIN_DIR="$tmp/empty" "$run" -n 3 "$hello"
	refused "$tmp/empty/$name is no conduit: it lacks p${conduit}_ops"
	$cc -shared -fPIC -Wl,-soname,"$1-nosuch.so" -o "$tmp/libgone.so" "$tmp/empty.c" &&
		$cc -shared -fPIC -Wl,--no-as-needed -o "$tmp/lacking/$name" "$tmp/older.c" "$tmp/libgone.so" || exit 99
	job env PST_PLUGIN_DIR="$tmp/lacking" "$run" -n 3 "$hello"
	refused "$tmp/lacking/$name does not load: $1-nosuch.so: cannot open shared object file"
}

# plugin_moved: a prefix that was moved as a whole has its plug-in beside the launcher
plugin_moved()
{
	libdir=$(sed -n 's/^libdir = //p' "$TEST_BUILDDIR/Makefile")
	if [ "$libdir" = '${exec_prefix}/lib' ]; then
		mkdir -p "$tmp/moved/bin" "$tmp/moved/lib/penstock"
		cp "$run" "$tmp/moved/bin" && cp "$plugin" "$tmp/moved/lib/penstock" || exit 99
		job env -u PST_PLUGIN_DIR "$tmp/moved/bin/penstock-run" -n 2 "$hello"
		opened
	else
		echo "not tried: a moved prefix, since libdir is not that of the default"
	fi
}
