# Finds a GASNet whose author knew nothing of CMake, by its tree and its Makefile fragments.
#
#   GASNet_ROOT_DIR    prefix of the installation
#   GASNet_CONDUIT     a conduit that it has; without one, the first that is found
#   GASNet_THREADING   seq, par or parsync (default par)
#
# Sets GASNet_FOUND, GASNet_CONDUITS, GASNet_THREADINGS, GASNet_INCLUDE_DIRS, GASNet_DEFINITIONS,
# GASNet_LIBRARIES, and makes the target GASNet::GASNet.

set(GASNet_ROOT_DIR "" CACHE PATH "Prefix of GASNet")
set(GASNet_CONDUIT "" CACHE STRING "Conduit of GASNet")
set(GASNet_THREADING "par" CACHE STRING "Thread mode of GASNet")

find_path(GASNet_INCLUDE_DIR gasnet.h PATHS "${GASNet_ROOT_DIR}" PATH_SUFFIXES include
	NO_DEFAULT_PATH)

# What is there.
file(GLOB _gasnet_directories RELATIVE "${GASNet_INCLUDE_DIR}" "${GASNet_INCLUDE_DIR}/*-conduit")
string(REPLACE "-conduit" "" GASNet_CONDUITS "${_gasnet_directories}")
if(NOT GASNet_CONDUIT AND GASNet_CONDUITS)
	list(GET GASNet_CONDUITS 0 GASNet_CONDUIT)
endif()
set(_gasnet_directory "${GASNet_INCLUDE_DIR}/${GASNet_CONDUIT}-conduit")
file(GLOB _gasnet_fragments RELATIVE "${_gasnet_directory}"
	"${_gasnet_directory}/${GASNet_CONDUIT}-*.mak")
string(REGEX REPLACE "[a-z]+-([a-z]+)\\.mak" "\\1" GASNet_THREADINGS "${_gasnet_fragments}")
set(_gasnet_fragment "${_gasnet_directory}/${GASNet_CONDUIT}-${GASNet_THREADING}.mak")

# The value of a variable of the fragment, as make sees it: a list of words.
find_program(GASNet_MAKE_PROGRAM NAMES gmake make)
function(_gasnet_read variable result)
	file(WRITE "${CMAKE_BINARY_DIR}/gasnet-print.mk"
		"include ${_gasnet_fragment}\nprint:\n\t@echo $(${variable})\n")
	execute_process(COMMAND "${GASNet_MAKE_PROGRAM}" -s -f "${CMAKE_BINARY_DIR}/gasnet-print.mk"
		"GASNET_PREFIX=${GASNet_ROOT_DIR}" print
		OUTPUT_VARIABLE text RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
	if(NOT status EQUAL 0)
		message(FATAL_ERROR "${_gasnet_fragment} does not give ${variable}")
	endif()
	separate_arguments(words UNIX_COMMAND "${text}")
	set(${result} "${words}" PARENT_SCOPE)
endfunction()

# Takes the words with a prefix out of a list, without their prefix.
function(_gasnet_pick result prefix)
	set(picked ${ARGN})
	list(FILTER picked INCLUDE REGEX "^${prefix}")
	list(TRANSFORM picked REPLACE "^${prefix}" "")
	set(${result} "${picked}" PARENT_SCOPE)
endfunction()

if(EXISTS "${_gasnet_fragment}")
	_gasnet_read(GASNET_CPPFLAGS _gasnet_cppflags)
	_gasnet_pick(GASNet_INCLUDE_DIRS "-I" ${_gasnet_cppflags})
	_gasnet_pick(GASNet_DEFINITIONS "-D" ${_gasnet_cppflags})
	_gasnet_read(GASNET_MISC_CFLAGS _gasnet_cflags)
	_gasnet_read(GASNET_LIBS _gasnet_libs)
	_gasnet_pick(_gasnet_library_dirs "-L" ${_gasnet_libs})
	_gasnet_pick(_gasnet_names "-l" ${_gasnet_libs})
	list(POP_FRONT _gasnet_names _gasnet_name)
	find_library(GASNet_LIBRARY ${_gasnet_name} PATHS ${_gasnet_library_dirs} NO_DEFAULT_PATH)
	set(GASNet_LIBRARIES "${GASNet_LIBRARY}" ${_gasnet_names})
endif()

include(FindPackageHandleStandardArgs)
set(_gasnet_found "conduits: ${GASNet_CONDUITS}, thread modes: ${GASNet_THREADINGS}")
string(REPLACE ";" " " _gasnet_found "${_gasnet_found}")
find_package_handle_standard_args(GASNet
	REQUIRED_VARS GASNet_LIBRARY GASNet_INCLUDE_DIRS GASNet_DEFINITIONS GASNet_INCLUDE_DIR
	REASON_FAILURE_MESSAGE "${_gasnet_found}")
if(GASNet_FOUND AND NOT TARGET GASNet::GASNet)
	add_library(GASNet::GASNet UNKNOWN IMPORTED)
	set_target_properties(GASNet::GASNet PROPERTIES
		IMPORTED_LOCATION "${GASNet_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${GASNet_INCLUDE_DIRS}"
		INTERFACE_COMPILE_DEFINITIONS "${GASNet_DEFINITIONS}"
		INTERFACE_COMPILE_OPTIONS "${_gasnet_cflags}"
		INTERFACE_LINK_OPTIONS "${_gasnet_cflags}"
		INTERFACE_LINK_LIBRARIES "${_gasnet_names}")
endif()
