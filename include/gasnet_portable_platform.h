/*
 * gasnet_portable_platform.h: names for the compiler, operating system and
 * processor that a translation unit is compiled by and for. Preprocessor
 * only; usable alone, from C and C++. A name that says yes is 1, otherwise
 * it is undefined, so both #if and #ifdef work.
 */
#ifndef GASNET_PORTABLE_PLATFORM_H
#define GASNET_PORTABLE_PLATFORM_H

#define PSI_PLATFORM_TEXT_(x) #x
#define PSI_PLATFORM_TEXT(x)  PSI_PLATFORM_TEXT_(x)

/* Versions as one number that compares as the three do. */
#define PLATFORM_COMPILER_VERSION_INT(major, minor, patch) \
	(((major) * 1000 + (minor)) * 1000 + (patch))

/* Compiler. Those that pretend to be GNU or Clang come first. */
#if defined(__NVCOMPILER)
#define PLATFORM_COMPILER_NVHPC      1
#define PLATFORM_COMPILER_FAMILYNAME NVHPC
#define PLATFORM_COMPILER_FAMILYID   20
#define PSI_PLATFORM_MAJOR           __NVCOMPILER_MAJOR__
#define PSI_PLATFORM_MINOR           __NVCOMPILER_MINOR__
#define PSI_PLATFORM_PATCH           __NVCOMPILER_PATCHLEVEL__
#elif defined(__PGI)
#define PLATFORM_COMPILER_PGI        1
#define PLATFORM_COMPILER_FAMILYNAME PGI
#define PLATFORM_COMPILER_FAMILYID   3
#define PSI_PLATFORM_MAJOR           __PGIC__
#define PSI_PLATFORM_MINOR           __PGIC_MINOR__
#define PSI_PLATFORM_PATCH           __PGIC_PATCHLEVEL__
#elif defined(_CRAYC)
#define PLATFORM_COMPILER_CRAY       1
#define PLATFORM_COMPILER_FAMILYNAME CRAY
#define PLATFORM_COMPILER_FAMILYID   4
#define PSI_PLATFORM_MAJOR           _RELEASE_MAJOR
#define PSI_PLATFORM_MINOR           _RELEASE_MINOR
#define PSI_PLATFORM_PATCH           0
#elif defined(__INTEL_LLVM_COMPILER)
#define PLATFORM_COMPILER_INTEL      1
#define PLATFORM_COMPILER_FAMILYNAME INTEL
#define PLATFORM_COMPILER_FAMILYID   2
#define PSI_PLATFORM_MAJOR           (__INTEL_LLVM_COMPILER / 10000)
#define PSI_PLATFORM_MINOR           (__INTEL_LLVM_COMPILER / 100 % 100)
#define PSI_PLATFORM_PATCH           (__INTEL_LLVM_COMPILER % 100)
#elif defined(__INTEL_COMPILER)
#define PLATFORM_COMPILER_INTEL      1
#define PLATFORM_COMPILER_FAMILYNAME INTEL
#define PLATFORM_COMPILER_FAMILYID   2
#define PSI_PLATFORM_MAJOR           (__INTEL_COMPILER / 100)
#define PSI_PLATFORM_MINOR           (__INTEL_COMPILER / 10 % 10)
#define PSI_PLATFORM_PATCH           (__INTEL_COMPILER % 10)
#elif defined(__ibmxl__)
#define PLATFORM_COMPILER_XLC        1
#define PLATFORM_COMPILER_FAMILYNAME XLC
#define PLATFORM_COMPILER_FAMILYID   5
#define PSI_PLATFORM_MAJOR           __ibmxl_version__
#define PSI_PLATFORM_MINOR           __ibmxl_release__
#define PSI_PLATFORM_PATCH           __ibmxl_modification__
#elif defined(__clang__)
#define PLATFORM_COMPILER_CLANG      1
#define PLATFORM_COMPILER_FAMILYNAME CLANG
#define PLATFORM_COMPILER_FAMILYID   19
#define PSI_PLATFORM_MAJOR           __clang_major__
#define PSI_PLATFORM_MINOR           __clang_minor__
#define PSI_PLATFORM_PATCH           __clang_patchlevel__
#elif defined(__GNUC__)
#define PLATFORM_COMPILER_GNU        1
#define PLATFORM_COMPILER_FAMILYNAME GNU
#define PLATFORM_COMPILER_FAMILYID   1
#define PSI_PLATFORM_MAJOR           __GNUC__
#define PSI_PLATFORM_MINOR           __GNUC_MINOR__
#define PSI_PLATFORM_PATCH           __GNUC_PATCHLEVEL__
#else
#define PLATFORM_COMPILER_UNKNOWN    1
#define PLATFORM_COMPILER_FAMILYNAME UNKNOWN
#define PLATFORM_COMPILER_FAMILYID   9999
#define PSI_PLATFORM_MAJOR           0
#define PSI_PLATFORM_MINOR           0
#define PSI_PLATFORM_PATCH           0
#endif

/* The same by language, and a number that tells compiler and language apart. */
#if defined(__cplusplus)
#define PLATFORM_COMPILER_CXX_LANGLVL __cplusplus
#define PLATFORM_COMPILER_ID          (10000 + PLATFORM_COMPILER_FAMILYID)
#define PSI_PLATFORM_LANGUAGE         "C++"
#if defined(PLATFORM_COMPILER_NVHPC)
#define PLATFORM_COMPILER_NVHPC_CXX 1
#elif defined(PLATFORM_COMPILER_PGI)
#define PLATFORM_COMPILER_PGI_CXX 1
#elif defined(PLATFORM_COMPILER_CRAY)
#define PLATFORM_COMPILER_CRAY_CXX 1
#elif defined(PLATFORM_COMPILER_INTEL)
#define PLATFORM_COMPILER_INTEL_CXX 1
#elif defined(PLATFORM_COMPILER_XLC)
#define PLATFORM_COMPILER_XLC_CXX 1
#elif defined(PLATFORM_COMPILER_CLANG)
#define PLATFORM_COMPILER_CLANG_CXX 1
#elif defined(PLATFORM_COMPILER_GNU)
#define PLATFORM_COMPILER_GNU_CXX 1
#endif
#else
#if defined(__STDC_VERSION__)
#define PLATFORM_COMPILER_C_LANGLVL __STDC_VERSION__
#else
#define PLATFORM_COMPILER_C_LANGLVL 199000L
#endif
#define PLATFORM_COMPILER_ID  PLATFORM_COMPILER_FAMILYID
#define PSI_PLATFORM_LANGUAGE "C"
#if defined(PLATFORM_COMPILER_NVHPC)
#define PLATFORM_COMPILER_NVHPC_C 1
#elif defined(PLATFORM_COMPILER_PGI)
#define PLATFORM_COMPILER_PGI_C 1
#elif defined(PLATFORM_COMPILER_CRAY)
#define PLATFORM_COMPILER_CRAY_C 1
#elif defined(PLATFORM_COMPILER_INTEL)
#define PLATFORM_COMPILER_INTEL_C 1
#elif defined(PLATFORM_COMPILER_XLC)
#define PLATFORM_COMPILER_XLC_C 1
#elif defined(PLATFORM_COMPILER_CLANG)
#define PLATFORM_COMPILER_CLANG_C 1
#elif defined(PLATFORM_COMPILER_GNU)
#define PLATFORM_COMPILER_GNU_C 1
#endif
#endif

#define PLATFORM_COMPILER_VERSION \
	PLATFORM_COMPILER_VERSION_INT(PSI_PLATFORM_MAJOR, PSI_PLATFORM_MINOR, PSI_PLATFORM_PATCH)
#if defined(PLATFORM_COMPILER_INTEL)
#define PLATFORM_COMPILER_VERSION_STR __VERSION__
#else
#define PLATFORM_COMPILER_VERSION_STR         \
	PSI_PLATFORM_TEXT(PSI_PLATFORM_MAJOR) \
	"." PSI_PLATFORM_TEXT(PSI_PLATFORM_MINOR) "." PSI_PLATFORM_TEXT(PSI_PLATFORM_PATCH)
#endif
#define PLATFORM_COMPILER_IDSTR                         \
	PSI_PLATFORM_TEXT(PLATFORM_COMPILER_FAMILYNAME) \
	" " PSI_PLATFORM_LANGUAGE " " PLATFORM_COMPILER_VERSION_STR

#define PLATFORM_COMPILER_VERSION_GT(major, minor, patch) \
	(PLATFORM_COMPILER_VERSION > PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_GE(major, minor, patch) \
	(PLATFORM_COMPILER_VERSION >= PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_EQ(major, minor, patch) \
	(PLATFORM_COMPILER_VERSION == PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_LE(major, minor, patch) \
	(PLATFORM_COMPILER_VERSION <= PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_LT(major, minor, patch) \
	(PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(major, minor, patch))

/* Operating system. */
#if defined(__CYGWIN__)
#define PLATFORM_OS_CYGWIN     1
#define PLATFORM_OS_FAMILYNAME CYGWIN
#elif defined(__linux__)
#define PLATFORM_OS_LINUX      1
#define PLATFORM_OS_FAMILYNAME LINUX
#if defined(__CRAYXT_COMPUTE_LINUX_TARGET)
#define PLATFORM_OS_CNL           1
#define PLATFORM_OS_SUBFAMILYNAME CNL
#elif defined(PSI_PLATFORM_IS_WSL)
#define PLATFORM_OS_WSL           1
#define PLATFORM_OS_SUBFAMILYNAME WSL
#endif
#elif defined(__APPLE__) && defined(__MACH__)
#define PLATFORM_OS_DARWIN     1
#define PLATFORM_OS_FAMILYNAME DARWIN
#elif defined(__FreeBSD__)
#define PLATFORM_OS_FREEBSD    1
#define PLATFORM_OS_FAMILYNAME FREEBSD
#elif defined(__sun)
#define PLATFORM_OS_SOLARIS    1
#define PLATFORM_OS_FAMILYNAME SOLARIS
#else
#define PLATFORM_OS_UNKNOWN    1
#define PLATFORM_OS_FAMILYNAME UNKNOWN
#endif

/* Processor. */
#if defined(__x86_64__) || defined(__amd64)
#define PLATFORM_ARCH_X86_64     1
#define PLATFORM_ARCH_FAMILYNAME X86_64
#elif defined(__i386__) || defined(__i386)
#define PLATFORM_ARCH_X86        1
#define PLATFORM_ARCH_FAMILYNAME X86
#elif defined(__aarch64__)
#define PLATFORM_ARCH_AARCH64    1
#define PLATFORM_ARCH_FAMILYNAME AARCH64
#elif defined(__arm__)
#define PLATFORM_ARCH_ARM        1
#define PLATFORM_ARCH_FAMILYNAME ARM
#elif defined(__powerpc__) || defined(__ppc__)
#define PLATFORM_ARCH_POWERPC    1
#define PLATFORM_ARCH_FAMILYNAME POWERPC
#elif defined(__riscv)
#define PLATFORM_ARCH_RISCV      1
#define PLATFORM_ARCH_FAMILYNAME RISCV
#else
#define PLATFORM_ARCH_UNKNOWN    1
#define PLATFORM_ARCH_FAMILYNAME UNKNOWN
#endif

/* Width of a pointer. */
#if defined(__SIZEOF_POINTER__)
#if __SIZEOF_POINTER__ == 8
#define PLATFORM_ARCH_64 1
#else
#define PLATFORM_ARCH_32 1
#endif
#elif defined(_LP64) || defined(__LP64__)
#define PLATFORM_ARCH_64 1
#else
#define PLATFORM_ARCH_32 1
#endif

/* Order of the bytes of a number. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PLATFORM_ARCH_BIG_ENDIAN 1
#else
#define PLATFORM_ARCH_LITTLE_ENDIAN 1
#endif
#elif defined(__BIG_ENDIAN__) || defined(_BIG_ENDIAN)
#define PLATFORM_ARCH_BIG_ENDIAN 1
#else
#define PLATFORM_ARCH_LITTLE_ENDIAN 1
#endif

#endif
