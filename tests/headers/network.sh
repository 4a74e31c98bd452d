# Sourced by t_installed for a conduit that is a plug-in: the launcher, the plug-in's place, and what may
# be wrong with it. $moved is the installation; hand-par was linked by hand.

CONDUIT=$(echo "$conduit" | tr a-z A-Z)
library=libfabric
if [ "$conduit" = ibv ]; then library=libibverbs; fi

# The names by which programs know the conduit.
printf '#include <gasnetex.h>\n#if !GASNET_CONDUIT_%s || !GASNET_%s_CONDUIT || GASNET_CONDUIT_SMP || defined(GASNET_IBV_MULTIRAIL) != defined(GASNET_CONDUIT_IBV)\n#error wrong\n#endif\n' \
	"$CONDUIT" "$CONDUIT" >names.c
attempt 'names of the conduit' $cc -DGASNET_PAR -D_REENTRANT -D_GNU_SOURCE=1 -I"$moved/include" \
	-I"$moved/include/$conduit-conduit" -c names.c -o names.o

# The strings by which launchers know the program.
tr '$' '\n' <hand-par | LC_ALL=C grep -a '^GASNet' >strings
for string in "ConduitName: $CONDUIT " "CoreLibraryName: $CONDUIT " 'FORKSpawner: 1 ' 'SSHSpawner: 1 ' 'MPISpawner: 1 ' 'PMISpawner: 1 '; do
	grep -qx "GASNet$string" strings || fail "hand-par has no string $string"
done
if [ "$conduit" = ibv ]; then
	grep -qx 'GASNetIbvMultirail: 1 ' strings || fail 'hand-par does not say that it may use several ports'
fi
[ "$(pkg-config --variable=GASNET_SPAWNER_DEFAULT gasnet-$conduit-par 2>/dev/null || echo ssh)" = ssh ] ||
	fail 'the default spawner is not ssh'

# launched HOW COMMAND...: two ranks greet
launched()
{
	how=$1
	shift
	if [ -n "$lack" ]; then
		ends_for_lack "$how" "$@" ./hand-par
		return
	fi
	timeout 60 "$@" ./hand-par >out 2>err && grep -q '^hello from 2 ranks,' out &&
		grep -q "conduit $conduit: " err || fail "$how: $*"
}

# refused WHAT TEXT COMMAND...: one line for all ranks
refused()
{
	what=$1 text=$2
	shift 2
	timeout 60 "$@" >out 2>err
	status=$?
	[ $status -eq 1 ] && [ "$(grep -c "conduit $conduit: " err)" -eq 1 ] && grep -q "$text" err ||
		fail "$what: status $status"
}

# A launcher that was moved with its plug-in tells ranks where it is, whoever starts them.
unset PST_PLUGIN_DIR
launched 'moved, by fork' "$moved/bin/gasnetrun_$conduit" -n 2 -spawner=fork
launched 'moved, by penstock-run' "$moved/bin/penstock-run" -n 2
if command -v mpiexec.hydra >/dev/null; then
	launched 'moved, by Hydra' "$moved/bin/gasnetrun_$conduit" -n 2 -spawner=mpi
else
	echo 'not tried: Hydra, which is not here'
fi

# A program of smp opens the same plug-in, if it is told to.
attempt 'smp' $cc -DGASNET_PAR -D_REENTRANT -D_GNU_SOURCE=1 -I"$moved/include" \
	-I"$moved/include/smp-conduit" hello.c -o smp-par -L"$moved/lib" -lgasnet-smp-par -lpthread -lm
if [ -n "$lack" ]; then
	ends_for_lack 'a program of smp' env GASNET_PSHM_NODES=2 PST_CONDUIT=$conduit \
		PST_PLUGIN_DIR="$moved/lib/penstock" ./smp-par
else
	GASNET_PSHM_NODES=2 PST_CONDUIT=$conduit PST_PLUGIN_DIR=$moved/lib/penstock timeout 60 ./smp-par >out 2>err &&
		grep -q "conduit $conduit: " err || fail 'a program of smp does not open the plug-in'
fi

# What may be wrong. GASNET_VERBOSEENV would print other lines.
unset GASNET_VERBOSEENV
empty=$work/empty
mkdir "$empty" older lacking
refused 'no plug-in' "its plug-in penstock-$conduit.so is not in $empty" \
	env GASNET_PSHM_NODES=2 PST_PLUGIN_DIR="$empty" ./hand-par
echo "const struct { unsigned abi, size_bytes; } p${conduit}_ops = { 1, 8 };" >older.c
echo 'int nothing;' >nothing.c
$cc -shared -fPIC -o older/penstock-$conduit.so older.c
$cc -shared -fPIC -Wl,-soname,$library-nosuch.so -o libgone.so nothing.c
$cc -shared -fPIC -Wl,--no-as-needed -o lacking/penstock-$conduit.so older.c ./libgone.so
refused 'a plug-in of another ABI' 'is of ABI 1 (8 bytes), and this library needs' \
	env GASNET_PSHM_NODES=2 PST_PLUGIN_DIR="$work/older" ./hand-par
refused "no $library" "does not load: $library-nosuch.so: cannot open shared object file" \
	env GASNET_PSHM_NODES=2 PST_PLUGIN_DIR="$work/lacking" ./hand-par
