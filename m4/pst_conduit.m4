# PST_CONDUIT(NAME, PROBE, [KIND]): one transport. PROBE, the text of NAME-conduit/configure.m4, sets
# pst_conduit_have to yes, or leaves no and says why in pst_conduit_reason; --disable-NAME decides
# before it is asked. One of KIND plugin is opened at run time; the others are part of the library.
# Programs link an archive of each that is built, and find its headers and package files.
AC_DEFUN([PST_CONDUIT], [
	AC_ARG_ENABLE([$1], [AS_HELP_STRING([--disable-$1], [leave the $1 conduit out])],
		[], [enable_$1=auto])
	pst_conduit_have=no
	pst_conduit_reason='--disable-$1 was given'
	AS_IF([test "x$enable_$1" != xno], [
		pst_conduit_reason='its configure.m4 gave no reason'
		$2])
	AC_MSG_CHECKING([whether the $1 conduit is built])
	AS_IF([test "x$pst_conduit_have" = xyes],
		[AC_MSG_RESULT([yes])
		pst_conduit_$1=yes
		PST_CONDUITS="${PST_CONDUITS}${PST_CONDUITS:+ }$1"
		m4_if([$3], [plugin], [],
			[PST_CONDUIT_LIST="${PST_CONDUIT_LIST}${PST_CONDUIT_LIST:+ }X($1)"])],
		[AC_MSG_RESULT([no: $pst_conduit_reason])
		pst_conduit_$1="no ($pst_conduit_reason)"
		AS_IF([test "x$enable_$1" = xyes],
			[AC_MSG_ERROR([--enable-$1 was given, but: $pst_conduit_reason])])])
	AC_DEFINE_UNQUOTED([PST_CONDUIT_]m4_toupper([$1]), ["$pst_conduit_$1"],
		[whether the $1 conduit is built, and if not why])
	AM_CONDITIONAL([CONDUIT_]m4_toupper([$1]), [test "x$pst_conduit_have" = xyes])
])

# After the last one: the list from which the runtime learns of conduits; and the files that programs
# are given of each conduit and mode, with the rules that make them (include/package/conduit.mk.in).
AC_DEFUN([PST_CONDUITS_DONE], [
	AS_IF([test "x$PST_CONDUIT_LIST" = x],
		[AC_MSG_ERROR([no conduit is left to build; smp: $pst_conduit_smp])])
	AC_SUBST([PST_CONDUIT_LIST])
	AC_SUBST([PST_CONDUITS])
	for pst_conduit in $PST_CONDUITS; do
		PST_CONDUIT_HEADERS="$PST_CONDUIT_HEADERS include/$pst_conduit-conduit/gasnet_conduit.h \
			include/$pst_conduit-conduit/gasnet_core.h"
		for pst_mode in seq parsync par; do
			PST_MODE_OBJECTS="$PST_MODE_OBJECTS mode-$pst_conduit-$pst_mode.o"
			PST_CONDUIT_ARCHIVES="$PST_CONDUIT_ARCHIVES libgasnet-$pst_conduit-$pst_mode.a"
			PST_CONDUIT_FRAGMENTS="$PST_CONDUIT_FRAGMENTS include/package/$pst_conduit-$pst_mode.mak"
			PST_CONDUIT_PACKAGES="$PST_CONDUIT_PACKAGES include/package/gasnet-$pst_conduit-$pst_mode.pc"
			sed "s/@conduit@/$pst_conduit/g; s/@mode@/$pst_mode/g
				s/@MODE@/`echo $pst_mode | tr a-z A-Z`/g" "$srcdir/include/package/conduit.mk.in"
		done
	done >conduit.mk
	PST_CONDUIT_RULES=conduit.mk
	AC_SUBST_FILE([PST_CONDUIT_RULES])
	AC_SUBST([PST_CONDUIT_HEADERS])
	AC_SUBST([PST_MODE_OBJECTS])
	AC_SUBST([PST_CONDUIT_ARCHIVES])
	AC_SUBST([PST_CONDUIT_FRAGMENTS])
	AC_SUBST([PST_CONDUIT_PACKAGES])
	AC_CONFIG_COMMANDS([conduits], [
		for pst_conduit in $pst_conduits; do
			AS_MKDIR_P([include/$pst_conduit-conduit])
			for pst_header in gasnet_conduit gasnet_core; do
				sed "s/@conduit@/$pst_conduit/g
					s/@CONDUIT@/`echo $pst_conduit | tr a-z A-Z`/g" \
					"$srcdir/include/package/$pst_header.h.in" \
					>"include/$pst_conduit-conduit/$pst_header.h"
			done
		done], [pst_conduits='$PST_CONDUITS'])
])

AC_DEFUN([PST_SUMMARY], [
	AS_IF([test "x$enable_debug" = xyes], [pst_kind=debug], [pst_kind=optimised])
	AS_IF([test "x$enable_werror" = xyes], [pst_warn='strict set, errors'],
		[pst_warn='strict set, shown'])
	AS_IF([test "x$enable_shared" = xyes], [pst_libs='libpenstock.so, archives'],
		[pst_libs='archives only'])
	AS_IF([test "x$have_check" = xyes], [pst_tests=yes],
		[pst_tests='no (Check was not found: make check will fail)'])
	cat <<EOF

Penstock $PACKAGE_VERSION
  prefix         $prefix
  host           $host
  compiler       $CC $CFLAGS
  build          $pst_kind
  warnings       $pst_warn
  sanitizers     $enable_sanitizers
  libraries      $pst_libs
  unit tests     $pst_tests
  smp conduit    $pst_conduit_smp
  ibv conduit    $pst_conduit_ibv
  ofi conduit    $pst_conduit_ofi
  PMIx           $pst_pmix
  libpng         $have_png

EOF
])
