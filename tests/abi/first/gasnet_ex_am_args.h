/*
 * gasnet_ex_am_args.h: the argument lists of the active message families.
 *
 * Each family has one function per argument count, 0 to 16, all made from one
 * pattern. For a count m there are
 *     PSI_AM_PARAMS_m   the parameters, each with its leading comma
 *     PSI_AM_PASS_m     the same as arguments
 *     PSI_AM_PACK_m     a declaration of psi_args, which points to m values
 * and PSI_AM_COUNT_f(...) counts the arguments behind f fixed ones, which are
 * counted along so that the list is never empty.
 */
#ifndef GASNET_EX_AM_ARGS_H
#define GASNET_EX_AM_ARGS_H

#include "gasnet_ex_port.h"

typedef int32_t gex_AM_Arg_t;

#define PSI_AM_MAX_ARGS 16

/* One use of the pattern per argument count. */
#define PSI_AM_EACH_COUNT(pattern) \
	pattern(0) pattern(1) pattern(2) pattern(3) pattern(4) pattern(5) \
	pattern(6) pattern(7) pattern(8) pattern(9) pattern(10) pattern(11) \
	pattern(12) pattern(13) pattern(14) pattern(15) pattern(16)

#define PSI_AM_PARAMS_0
#define PSI_AM_PARAMS_1 , gex_AM_Arg_t a0
#define PSI_AM_PARAMS_2 PSI_AM_PARAMS_1, gex_AM_Arg_t a1
#define PSI_AM_PARAMS_3 PSI_AM_PARAMS_2, gex_AM_Arg_t a2
#define PSI_AM_PARAMS_4 PSI_AM_PARAMS_3, gex_AM_Arg_t a3
#define PSI_AM_PARAMS_5 PSI_AM_PARAMS_4, gex_AM_Arg_t a4
#define PSI_AM_PARAMS_6 PSI_AM_PARAMS_5, gex_AM_Arg_t a5
#define PSI_AM_PARAMS_7 PSI_AM_PARAMS_6, gex_AM_Arg_t a6
#define PSI_AM_PARAMS_8 PSI_AM_PARAMS_7, gex_AM_Arg_t a7
#define PSI_AM_PARAMS_9 PSI_AM_PARAMS_8, gex_AM_Arg_t a8
#define PSI_AM_PARAMS_10 PSI_AM_PARAMS_9, gex_AM_Arg_t a9
#define PSI_AM_PARAMS_11 PSI_AM_PARAMS_10, gex_AM_Arg_t a10
#define PSI_AM_PARAMS_12 PSI_AM_PARAMS_11, gex_AM_Arg_t a11
#define PSI_AM_PARAMS_13 PSI_AM_PARAMS_12, gex_AM_Arg_t a12
#define PSI_AM_PARAMS_14 PSI_AM_PARAMS_13, gex_AM_Arg_t a13
#define PSI_AM_PARAMS_15 PSI_AM_PARAMS_14, gex_AM_Arg_t a14
#define PSI_AM_PARAMS_16 PSI_AM_PARAMS_15, gex_AM_Arg_t a15

#define PSI_AM_PASS_0
#define PSI_AM_PASS_1 , a0
#define PSI_AM_PASS_2 PSI_AM_PASS_1, a1
#define PSI_AM_PASS_3 PSI_AM_PASS_2, a2
#define PSI_AM_PASS_4 PSI_AM_PASS_3, a3
#define PSI_AM_PASS_5 PSI_AM_PASS_4, a4
#define PSI_AM_PASS_6 PSI_AM_PASS_5, a5
#define PSI_AM_PASS_7 PSI_AM_PASS_6, a6
#define PSI_AM_PASS_8 PSI_AM_PASS_7, a7
#define PSI_AM_PASS_9 PSI_AM_PASS_8, a8
#define PSI_AM_PASS_10 PSI_AM_PASS_9, a9
#define PSI_AM_PASS_11 PSI_AM_PASS_10, a10
#define PSI_AM_PASS_12 PSI_AM_PASS_11, a11
#define PSI_AM_PASS_13 PSI_AM_PASS_12, a12
#define PSI_AM_PASS_14 PSI_AM_PASS_13, a13
#define PSI_AM_PASS_15 PSI_AM_PASS_14, a14
#define PSI_AM_PASS_16 PSI_AM_PASS_15, a15

#define PSI_AM_LIST_1 a0
#define PSI_AM_LIST_2 PSI_AM_LIST_1, a1
#define PSI_AM_LIST_3 PSI_AM_LIST_2, a2
#define PSI_AM_LIST_4 PSI_AM_LIST_3, a3
#define PSI_AM_LIST_5 PSI_AM_LIST_4, a4
#define PSI_AM_LIST_6 PSI_AM_LIST_5, a5
#define PSI_AM_LIST_7 PSI_AM_LIST_6, a6
#define PSI_AM_LIST_8 PSI_AM_LIST_7, a7
#define PSI_AM_LIST_9 PSI_AM_LIST_8, a8
#define PSI_AM_LIST_10 PSI_AM_LIST_9, a9
#define PSI_AM_LIST_11 PSI_AM_LIST_10, a10
#define PSI_AM_LIST_12 PSI_AM_LIST_11, a11
#define PSI_AM_LIST_13 PSI_AM_LIST_12, a12
#define PSI_AM_LIST_14 PSI_AM_LIST_13, a13
#define PSI_AM_LIST_15 PSI_AM_LIST_14, a14
#define PSI_AM_LIST_16 PSI_AM_LIST_15, a15

#define PSI_AM_PACK_0 const gex_AM_Arg_t *const psi_args = NULL
#define PSI_AM_ARRAY(m) const gex_AM_Arg_t psi_args[m] = {PSI_AM_LIST_##m}
#define PSI_AM_PACK_1 PSI_AM_ARRAY(1)
#define PSI_AM_PACK_2 PSI_AM_ARRAY(2)
#define PSI_AM_PACK_3 PSI_AM_ARRAY(3)
#define PSI_AM_PACK_4 PSI_AM_ARRAY(4)
#define PSI_AM_PACK_5 PSI_AM_ARRAY(5)
#define PSI_AM_PACK_6 PSI_AM_ARRAY(6)
#define PSI_AM_PACK_7 PSI_AM_ARRAY(7)
#define PSI_AM_PACK_8 PSI_AM_ARRAY(8)
#define PSI_AM_PACK_9 PSI_AM_ARRAY(9)
#define PSI_AM_PACK_10 PSI_AM_ARRAY(10)
#define PSI_AM_PACK_11 PSI_AM_ARRAY(11)
#define PSI_AM_PACK_12 PSI_AM_ARRAY(12)
#define PSI_AM_PACK_13 PSI_AM_ARRAY(13)
#define PSI_AM_PACK_14 PSI_AM_ARRAY(14)
#define PSI_AM_PACK_15 PSI_AM_ARRAY(15)
#define PSI_AM_PACK_16 PSI_AM_ARRAY(16)

/* The 25th of its arguments: with k given, the table's entry 25 - k. */
#define PSI_AM_PICK(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, \
	p17, p18, p19, p20, p21, p22, p23, p24, entry, ...) entry

#define PSI_AM_COUNT_3(...) \
	PSI_AM_PICK(__VA_ARGS__, _too_many, _too_many, _too_many, _too_many, _too_many, 16, \
		    15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, _too_few, \
		    _too_few, _)
#define PSI_AM_COUNT_4(...) \
	PSI_AM_PICK(__VA_ARGS__, _too_many, _too_many, _too_many, _too_many, 16, 15, 14, 13, \
		    12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, _too_few, _too_few, _too_few, \
		    _)
#define PSI_AM_COUNT_5(...) \
	PSI_AM_PICK(__VA_ARGS__, _too_many, _too_many, _too_many, 16, 15, 14, 13, 12, 11, \
		    10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, _too_few, _too_few, _too_few, \
		    _too_few, _)
#define PSI_AM_COUNT_6(...) \
	PSI_AM_PICK(__VA_ARGS__, _too_many, _too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, \
		    6, 5, 4, 3, 2, 1, 0, _too_few, _too_few, _too_few, _too_few, _too_few, \
		    _)
#define PSI_AM_COUNT_7(...) \
	PSI_AM_PICK(__VA_ARGS__, _too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, \
		    2, 1, 0, _too_few, _too_few, _too_few, _too_few, _too_few, _too_few, _)
#define PSI_AM_COUNT_8(...) \
	PSI_AM_PICK(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, \
		    _too_few, _too_few, _too_few, _too_few, _too_few, _too_few, _too_few, _)

#endif
