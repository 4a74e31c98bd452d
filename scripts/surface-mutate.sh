# surface-check --mutate [PATTERN]; sourced. For each function that conformance programs call, they
# are compiled again with the call replaced by nothing (its value by zero, its arguments not
# evaluated), and run; a function whose absence no program notices is listed. A whole run takes many
# minutes. tests/data/surface-noops names the functions that may have no effect at all.
. "$tree/scripts/surface-tested.sh" >/dev/null 2>&1
pattern=${1:-.}
ranks=${SURFACE_RANKS:-3}

# build PROGRAM FILE [MUTATION HEADER]
build()
{
	compiler="$cc -std=gnu11"
	case $2 in *.cc) compiler=$cxx ;; esac
	set -- "$1" "$2" ${3:+-include "$3"}
	program=$1 file=$2
	shift 2
	$compiler -w -O1 -D_GNU_SOURCE -DGASNET_PAR -I"$tree" $includes "$@" -c "$file" \
		-o "$program.o" &&
	$cc -std=gnu11 -w -O1 -D_GNU_SOURCE -DGASNET_PAR -I"$tree" $includes "$@" \
		"$program.o" -x c "$tree"/tests/lib/*.c -x none \
		"$build/libgasnet-smp-par.a" -lpthread -lm -lstdc++ -o "$program"
}

# run PROGRAM SECONDS
run()
{
	(cd "$work" && CHECK_LEVEL=quick GASNET_PSHM_NODES=$ranks PT_DEADLINE=$2 \
		timeout -k 2 $(($2 + 2)) "$1") >"$work/out" 2>&1 </dev/null
}

# The programs that pass as they are, with the time they take; those that take longest come last.
mkdir "$work/plain"
for file in "$tree"/tests/conformance/*.c "$tree"/tests/conformance/*.cc; do
	program=$work/plain/$(basename "$file" | tr . _)
	build "$program" "$file" 2>/dev/null || continue
	began=$(date +%s%N)
	if run "$program" 20; then
		echo "$((($(date +%s%N) - began) / 1000000)) $file"
	else
		echo "surface-check: $file does not pass by itself and is left out" >&2
	fi
done | sort -n >"$work/baseline"
while read -r took file; do
	calls_of "$file" | sort -u >"$work/calls.$(basename "$file")"
done <"$work/baseline"

# mutation NAME KIND: a header that takes the calls away
mutation()
{
	echo '#include <gasnet.h>'
	echo '#include <gasnet_tools.h>'
	echo "#undef $1"
	case $2:$1 in
	macro:*BLOCKUNTIL) echo "#define $1(...) do { } while (0)" ;;
	macro:*Commit*_v2) echo "#define $1(...) ((int)0)" ;;
	macro:*Commit*) echo "#define $1(...) ((void)0)" ;;
	macro:*) echo "#define $1(...) ((int)0)" ;;
	*:gex_TM_TranslateRankToEP)
		echo 'static inline gex_EP_Location_t psi_none(void)'
		echo '{ gex_EP_Location_t none = {0, 0}; return none; }'
		echo "#define $1(...) psi_none()"
		;;
	*) echo "#define $1(...) ((__typeof__($1(__VA_ARGS__)))0)" ;;
	esac
}

# noticed NAME KIND: does some program fail without it?
noticed()
{
	mutation "$1" "$2" >"$work/mutation.h"
	while read -r took file; do
		grep -qx "$1" "$work/calls.$(basename "$file")" || continue
		build "$work/mutant" "$file" "$work/mutation.h" 2>"$work/build.log" || {
			head -5 "$work/build.log" >&2
			continue
		}
		run "$work/mutant" $((took * 4 / 1000 + 2)) || return 0
	done <"$work/baseline"
	return 1
}

survivors=0 total=0
while IFS=, read -r name kind header area; do
	case $kind in function | macro) ;; *) continue ;; esac
	echo "$name" | awk "!/$pattern/ { exit 1 }" || continue
	grep -qx "$name" "$work/present" && grep -qx "$name" "$work/called" || continue
	! grep -q "^$name:" "$tree/tests/data/surface-noops" || continue
	total=$((total + 1))
	if ! noticed "$name" "$kind" </dev/null; then
		echo "$area	$name"
		survivors=$((survivors + 1))
	fi
done <"$work/demanded"
echo "$total functions taken away, $survivors not missed by any program"
[ "$survivors" -eq 0 ]
