// team.h: a team of threads that shares the pieces of an operation: what a caller lends to a run
// (include/seqmix/parallel.h).
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include <seqmix/parallel.h>

typedef struct smx_team smx_team;

// A team of `threads`, the caller's own counted; they wait for work until close. NULL where no second one
// can be had. Separate teams may work at the same time; one team is for one caller at a time.
smx_team *smx_team_open(int threads);
void smx_team_close(smx_team *team); // NULL allowed
// The hook: `pool` is a team, or NULL: one piece after another. After a fork the child's threads are gone:
// it works alone.
void smx_team_for(void *pool, size_t n, smx_piece piece, void *context);

#endif
