# Sourced by t_installed for a conduit that is a plug-in: has this host what it needs? $lack is the line of a job
# without; empty where there is nothing missing. $moved is the installation. Programs compile, link and start all
# the same, and their jobs end with that one line.
lack=$(GASNET_VERBOSEENV=0 "$moved/bin/penstock-info" --csv -g conduit | sed -n "s/^conduit,$conduit,no,plug-in,\"*\([^;\"]*\).*/\1/p")
if [ -n "$lack" ]; then
	[ "$conduit" = ibv ] || fail "conduit $conduit: $lack"
	echo "programs are linked, and end with one line: $lack"
fi

# ends_for_lack WHAT COMMAND...: with one line for all ranks
ends_for_lack()
{
	what=$1
	shift
	status=0
	timeout 60 "$@" >out 2>err || status=$?
	[ $status -eq 1 ] && [ ! -s out ] && [ "$(grep -c "conduit $conduit: " err)" -eq 1 ] &&
		grep -q "conduit $conduit: $lack" err || fail "$what: status $status, $(head -n 3 err)"
}
