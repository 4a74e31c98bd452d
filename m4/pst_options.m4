# The --enable options that shape all compilation, and what follows from them.

# Decides CFLAGS before AC_PROG_CC would; what the user gave always wins.
AC_DEFUN([PST_OPTIONS], [
	AC_ARG_ENABLE([debug], [AS_HELP_STRING([--enable-debug],
		[assertions on, no optimisation])], [], [enable_debug=no])
	AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror],
		[a warning fails the build])], [], [enable_werror=no])
	AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers=LIST],
		[build with -fsanitize=LIST: address,undefined or thread])],
		[], [enable_sanitizers=no])
	AC_ARG_ENABLE([delays], [AS_HELP_STRING([--enable-delays],
		[random delays between the steps of the protocols, for stress tests])],
		[], [enable_delays=no])
	AS_IF([test "x$enable_delays" = xyes], [PST_DELAYS_FLAG=-DPSI_DELAYS], [PST_DELAYS_FLAG=])
	AS_IF([test "x$enable_debug" = xyes],
		[: ${CFLAGS="-g -O0"} ${CXXFLAGS="-g -O0"}
		PST_DEBUG=1 PST_NDEBUG_FLAG=],
		[: ${CFLAGS="-g -O2"} ${CXXFLAGS="-g -O2"}
		PST_DEBUG=0 PST_NDEBUG_FLAG=-DNDEBUG])
	AC_SUBST([PST_DEBUG])
	AC_SUBST([PST_NDEBUG_FLAG])
	AC_SUBST([PST_DELAYS_FLAG])
	AM_CONDITIONAL([DELAYS], [test "x$enable_delays" = xyes])
	AC_DEFINE_UNQUOTED([PST_DEBUG], [$PST_DEBUG],
		[1 when internal assertions are compiled in])
])

# PST_TRY_CFLAGS(FLAGS, IF-TAKEN, IF-NOT): does the compiler take these without a complaint?
AC_DEFUN([PST_TRY_CFLAGS], [
	pst_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS -Werror $1"
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int pst_probe; ]])], [$2], [$3])
	CFLAGS=$pst_saved_cflags
])

# PST_WARNINGS(LIST): into PST_WARN_CFLAGS, the whole list at once or flag by flag.
AC_DEFUN([PST_WARNINGS], [
	AC_MSG_CHECKING([for the strict set of warnings])
	pst_want="m4_normalize([$1])"
	PST_WARN_CFLAGS=
	pst_left=
	PST_TRY_CFLAGS([$pst_want], [PST_WARN_CFLAGS=$pst_want], [
		for pst_flag in $pst_want; do
			PST_TRY_CFLAGS([$pst_flag],
				[PST_WARN_CFLAGS="$PST_WARN_CFLAGS $pst_flag"],
				[pst_left="$pst_left $pst_flag"])
		done])
	AS_IF([test "x$pst_left" = x], [AC_MSG_RESULT([all])], [AC_MSG_RESULT([without$pst_left])])
	AS_IF([test "x$enable_werror" = xyes], [PST_WARN_CFLAGS="$PST_WARN_CFLAGS -Werror"])
	AC_SUBST([PST_WARN_CFLAGS])
])

# Into PST_SANITIZE_FLAGS, for compiling and for linking; clients of the archives need them too.
AC_DEFUN([PST_SANITIZERS], [
	PST_SANITIZE_FLAGS=
	AS_CASE([$enable_sanitizers],
		[no], [],
		[yes], [AC_MSG_ERROR([--enable-sanitizers wants a list: address,undefined or thread])],
		[PST_SANITIZE_FLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer"
		AS_CASE([$enable_sanitizers], [*undefined*],
			[PST_SANITIZE_FLAGS="$PST_SANITIZE_FLAGS -fno-sanitize-recover=undefined"])
		AC_MSG_CHECKING([whether the compiler links with $PST_SANITIZE_FLAGS])
		pst_saved_cflags=$CFLAGS
		CFLAGS="$CFLAGS $PST_SANITIZE_FLAGS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])], [
			AC_MSG_RESULT([no])
			AC_MSG_ERROR([no runtime for --enable-sanitizers=$enable_sanitizers; for clang install libclang-rt-dev])])
		CFLAGS=$pst_saved_cflags])
	AC_SUBST([PST_SANITIZE_FLAGS])
	AC_SUBST([enable_sanitizers])
	# what a test's time budget is multiplied by in this kind of build
	AS_CASE([$enable_sanitizers,$enable_debug],
		[*thread*], [PST_TEST_FACTOR=5], [*address*], [PST_TEST_FACTOR=3],
		[*,yes], [PST_TEST_FACTOR=2], [PST_TEST_FACTOR=1])
	AC_SUBST([PST_TEST_FACTOR])
	AC_DEFINE_UNQUOTED([PST_SANITIZER_LIST], ["$enable_sanitizers"],
		[what --enable-sanitizers said, or no])
])

# The reader by which a unit test judges the JSON that is written.
AC_DEFUN([PST_CHECK_JANSSON], [
	have_jansson=no
	AC_MSG_CHECKING([for jansson, which unit tests read JSON with])
	pst_saved_libs=$LIBS
	LIBS="-ljansson $LIBS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <jansson.h>]], [[return json_null() == NULL;]])],
		[have_jansson=yes])
	LIBS=$pst_saved_libs
	AC_MSG_RESULT([$have_jansson])
	AM_CONDITIONAL([HAVE_JANSSON], [test "x$have_jansson" = xyes])
])

# libpng, with which the example heat2d draws. Called after PST_CHECK_LIBRARY, which finds pkg-config. The link
# test refuses a library of another machine in cross builds.
AC_DEFUN([PST_CHECK_PNG], [
	AC_ARG_ENABLE([png], [AS_HELP_STRING([--disable-png],
		[build the example heat2d without libpng, so that it does not draw])], [],
		[enable_png=yes])
	AC_ARG_VAR([PNG_CFLAGS], [how to compile with libpng])
	AC_ARG_VAR([PNG_LIBS], [how to link with libpng])
	AS_IF([test "x$PNG_LIBS" = x && test "x$PKG_CONFIG" != x &&
			$PKG_CONFIG --exists 'libpng >= 1.6' 2>/dev/null],
		[PNG_CFLAGS=$($PKG_CONFIG --cflags libpng)
		PNG_LIBS=$($PKG_CONFIG --libs libpng)])
	have_png=no
	AC_MSG_CHECKING([for libpng, which the example heat2d draws with])
	AS_IF([test "x$enable_png" != xno && test "x$PNG_LIBS" != x], [
		pst_saved_cflags=$CFLAGS pst_saved_libs=$LIBS
		CFLAGS="$CFLAGS $PNG_CFLAGS" LIBS="$PNG_LIBS $LIBS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <png.h>]],
			[[png_image image; return png_image_write_to_file(&image, "", 0, "", 0, NULL);]])],
			[have_png=yes])
		CFLAGS=$pst_saved_cflags LIBS=$pst_saved_libs])
	AC_MSG_RESULT([$have_png])
	AS_IF([test "x$have_png" = xyes], [HEAT2D_PNG_CPPFLAGS="-DHEAT2D_PNG $PNG_CFLAGS"
		HEAT2D_PNG_LIBS=$PNG_LIBS])
	AC_SUBST([HEAT2D_PNG_CPPFLAGS])
	AC_SUBST([HEAT2D_PNG_LIBS])
])

# The unit test framework. The link test refuses a library of another machine in cross builds.
AC_DEFUN([PST_CHECK_LIBRARY], [
	AC_PATH_TOOL([PKG_CONFIG], [pkg-config])
	have_check=no
	AS_IF([test "x$CHECK_LIBS" = x && test "x$PKG_CONFIG" != x &&
			$PKG_CONFIG --exists 'check >= 0.15' 2>/dev/null],
		[CHECK_CFLAGS=$($PKG_CONFIG --cflags check)
		CHECK_LIBS=$($PKG_CONFIG --libs check)])
	AC_MSG_CHECKING([for Check, the unit test framework])
	AS_IF([test "x$CHECK_LIBS" != x], [
		pst_saved_cflags=$CFLAGS pst_saved_libs=$LIBS
		CFLAGS="$CFLAGS $CHECK_CFLAGS" LIBS="$CHECK_LIBS $LIBS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <check.h>]],
			[[return srunner_create(NULL) != NULL;]])], [have_check=yes])
		CFLAGS=$pst_saved_cflags LIBS=$pst_saved_libs])
	AC_MSG_RESULT([$have_check])
	AC_ARG_VAR([CHECK_CFLAGS], [how to compile with Check])
	AC_ARG_VAR([CHECK_LIBS], [how to link with Check])
	AM_CONDITIONAL([HAVE_CHECK], [test "x$have_check" = xyes])
])

# PMIx, by which Open MPI and Slurm start jobs: its header alone, since a job opens the library when it
# starts. Called after PST_CHECK_LIBRARY, which finds pkg-config.
AC_DEFUN([PST_CHECK_PMIX], [
	AC_ARG_ENABLE([pmix], [AS_HELP_STRING([--disable-pmix],
		[leave out the start by process managers that speak PMIx])], [], [enable_pmix=yes])
	AC_ARG_VAR([PMIX_CPPFLAGS], [how to find pmix.h])
	AS_IF([test "x$PMIX_CPPFLAGS" = x && test "x$PKG_CONFIG" != x &&
			$PKG_CONFIG --exists pmix 2>/dev/null],
		[PMIX_CPPFLAGS=$($PKG_CONFIG --cflags-only-I pmix | sed 's/-I/-isystem /g')])
	have_pmix=no
	AC_MSG_CHECKING([for pmix.h])
	AS_IF([test "x$enable_pmix" = xno], [pst_pmix='no (--disable-pmix)'], [
		pst_saved_cppflags=$CPPFLAGS
		CPPFLAGS="$CPPFLAGS $PMIX_CPPFLAGS"
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <pmix.h>]],
			[[pmix_proc_t self; return PMIx_Init(&self, NULL, 0);]])], [have_pmix=yes])
		CPPFLAGS=$pst_saved_cppflags
		pst_pmix="$have_pmix"
		AS_IF([test "x$have_pmix" = xno], [pst_pmix='no (pmix.h was not found)'])])
	AC_MSG_RESULT([$have_pmix])
	AM_CONDITIONAL([HAVE_PMIX], [test "x$have_pmix" = xyes])
])
