/* Lists of 0 to 16 handler parameters, their names, and distinct values for them. */
#ifndef PT_ARGS_H
#define PT_ARGS_H

#define PT_PARAMS0
#define PT_PARAMS1  , gex_AM_Arg_t a0
#define PT_PARAMS2  PT_PARAMS1, gex_AM_Arg_t a1
#define PT_PARAMS3  PT_PARAMS2, gex_AM_Arg_t a2
#define PT_PARAMS4  PT_PARAMS3, gex_AM_Arg_t a3
#define PT_PARAMS5  PT_PARAMS4, gex_AM_Arg_t a4
#define PT_PARAMS6  PT_PARAMS5, gex_AM_Arg_t a5
#define PT_PARAMS7  PT_PARAMS6, gex_AM_Arg_t a6
#define PT_PARAMS8  PT_PARAMS7, gex_AM_Arg_t a7
#define PT_PARAMS9  PT_PARAMS8, gex_AM_Arg_t a8
#define PT_PARAMS10 PT_PARAMS9, gex_AM_Arg_t a9
#define PT_PARAMS11 PT_PARAMS10, gex_AM_Arg_t a10
#define PT_PARAMS12 PT_PARAMS11, gex_AM_Arg_t a11
#define PT_PARAMS13 PT_PARAMS12, gex_AM_Arg_t a12
#define PT_PARAMS14 PT_PARAMS13, gex_AM_Arg_t a13
#define PT_PARAMS15 PT_PARAMS14, gex_AM_Arg_t a14
#define PT_PARAMS16 PT_PARAMS15, gex_AM_Arg_t a15

#define PT_NAMES0
#define PT_NAMES1  , a0
#define PT_NAMES2  PT_NAMES1, a1
#define PT_NAMES3  PT_NAMES2, a2
#define PT_NAMES4  PT_NAMES3, a3
#define PT_NAMES5  PT_NAMES4, a4
#define PT_NAMES6  PT_NAMES5, a5
#define PT_NAMES7  PT_NAMES6, a6
#define PT_NAMES8  PT_NAMES7, a7
#define PT_NAMES9  PT_NAMES8, a8
#define PT_NAMES10 PT_NAMES9, a9
#define PT_NAMES11 PT_NAMES10, a10
#define PT_NAMES12 PT_NAMES11, a11
#define PT_NAMES13 PT_NAMES12, a12
#define PT_NAMES14 PT_NAMES13, a13
#define PT_NAMES15 PT_NAMES14, a14
#define PT_NAMES16 PT_NAMES15, a15

/* Argument i of message key: any bit pattern, all distinct within a message. */
static inline gex_AM_Arg_t
pt_arg(uint32_t key, unsigned i)
{
	uint32_t bits = (key * 16 + i) * 0x9e3779b1u;

	return (gex_AM_Arg_t)(bits ^ (bits >> 15));
}

#define PT_VALS0(key)
#define PT_VALS1(key)  , pt_arg(key, 0)
#define PT_VALS2(key)  PT_VALS1(key), pt_arg(key, 1)
#define PT_VALS3(key)  PT_VALS2(key), pt_arg(key, 2)
#define PT_VALS4(key)  PT_VALS3(key), pt_arg(key, 3)
#define PT_VALS5(key)  PT_VALS4(key), pt_arg(key, 4)
#define PT_VALS6(key)  PT_VALS5(key), pt_arg(key, 5)
#define PT_VALS7(key)  PT_VALS6(key), pt_arg(key, 6)
#define PT_VALS8(key)  PT_VALS7(key), pt_arg(key, 7)
#define PT_VALS9(key)  PT_VALS8(key), pt_arg(key, 8)
#define PT_VALS10(key) PT_VALS9(key), pt_arg(key, 9)
#define PT_VALS11(key) PT_VALS10(key), pt_arg(key, 10)
#define PT_VALS12(key) PT_VALS11(key), pt_arg(key, 11)
#define PT_VALS13(key) PT_VALS12(key), pt_arg(key, 12)
#define PT_VALS14(key) PT_VALS13(key), pt_arg(key, 13)
#define PT_VALS15(key) PT_VALS14(key), pt_arg(key, 14)
#define PT_VALS16(key) PT_VALS15(key), pt_arg(key, 15)

/* Call something that may be a macro with a list that is one. */
#define PT_CALL(name, ...) name(__VA_ARGS__)

#define PT_EACH(X)                                                                                 \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

#endif
