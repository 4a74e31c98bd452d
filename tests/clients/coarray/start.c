/* Start and end, images and teams. */
#include "inside.h"

enum { TEAMS_DEEP = 8 };

static gex_TM_t teams[TEAMS_DEEP];
static int teams_entered;

void
give_up(const char *what)
{
	fprintf(stderr, "coarray, image %u of the job: %s\n",
	        (unsigned)gex_System_QueryJobRank() + 1, what);
	gasnet_exit(2);
}

/* The main program is Fortran's: there are no argc and argv to be had. */
void
caf_init_(void)
{
	gex_Client_t client;
	gex_EP_t endpoint;
	gex_Segment_t segment;

#if !GASNET_NULL_ARGV_OK
#error "this library has to be given argc and argv"
#endif
	if (gex_Client_Init(&client, &endpoint, &teams[0], "COARRAY", NULL, NULL, 0) != GASNET_OK)
		abort();
	if (gex_Segment_Attach(&segment, teams[0], SEGMENT_BYTES) != GASNET_OK)
		give_up("no segment");
	memory_start(teams[0]);
	atomics_start(teams[0]);
	caf_sync_all_();
}

void
caf_stop_(const int32_t *code)
{
	gex_Event_Wait(gex_Coll_BarrierNB(teams[0], 0));
	gasnet_exit(*code);
}

void
caf_error_stop_(const char *text, size_t text_length)
{
	fprintf(stderr, "ERROR STOP %.*s\n", (int)text_length, text);
	gasnet_exit(1);
}

int32_t
caf_this_image_(void)
{
	return (int32_t)gex_TM_QueryRank(team_current()) + 1;
}

int32_t
caf_num_images_(void)
{
	return (int32_t)gex_TM_QuerySize(team_current());
}

gex_TM_t
team_current(void)
{
	return teams[teams_entered];
}

gex_Rank_t
team_jobrank(int32_t image)
{
	if (image < 1 || image > caf_num_images_())
		give_up("there is no such image");
	return gex_TM_TranslateRankToJobrank(team_current(), (gex_Rank_t)image - 1);
}

/* Images are numbered in the new team as in the current one. */
void
caf_form_team_(const int32_t *team_number, int64_t *team)
{
	gex_TM_t made;
	size_t scratch_bytes = gex_TM_Split(&made, team_current(), *team_number, caf_this_image_(),
	                                    NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
	void *scratch = memory_take(scratch_bytes);

	gex_TM_Split(&made, team_current(), *team_number, caf_this_image_(), scratch, scratch_bytes,
	             0);
	*team = (int64_t)(intptr_t)made;
}

void
caf_change_team_(const int64_t *team)
{
	if (teams_entered + 1 == TEAMS_DEEP)
		give_up("too many teams inside each other");
	teams[++teams_entered] = (gex_TM_t)(intptr_t)*team;
	caf_sync_all_();
}

/* The team is not used again: a program that changes to it once more would need a reference. */
void
caf_end_team_(void)
{
	gex_Memvec_t scratch;

	if (teams_entered == 0)
		give_up("end team without change team");
	caf_sync_all_();
	gex_TM_Destroy(teams[teams_entered--], &scratch, GEX_FLAG_GLOBALLY_QUIESCED);
	caf_sync_all_();
}
