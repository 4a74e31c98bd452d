#include <gasnetex.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	gex_Client_t client; gex_EP_t ep; gex_TM_t tm;
	if (gex_Client_Init(&client, &ep, &tm, "HELLO", &argc, &argv, 0)) return 1;
	printf("hello from rank %u of %u\n", gex_TM_QueryRank(tm), gex_TM_QuerySize(tm));
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* gasnet_exit by one ends all */
	gasnet_exit(0);
}
