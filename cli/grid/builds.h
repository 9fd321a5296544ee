// builds.h: which build of seqmix computed a result, and whether builds compute the same.
#ifndef CLI_GRID_BUILDS_H
#define CLI_GRID_BUILDS_H

#include <stddef.h>

// 16 hexadecimal digits: a hash of the sources (of the library and of what judges), of the compiler and of
// its flags.
const char *build_name(void);

// Leaves in FOLDER/builds what this build is and the digest of its self-check on this machine, unless it is
// there already. What cannot be written is not said: results matter more.
void builds_leave(const char *folder);

// What is known of a build in FOLDER/builds: words for people, its sources, and its self-check where all of
// its machines agree ("" where they do not, or none is known).
typedef struct {
    char name[17], sources[40], compiler[120], check[17];
    int machines, differing;
} build_facts;
void builds_find(const char *folder, const char *name, build_facts *facts);

// The builds that were at work in FOLDER, at most so many: how many they are.
size_t builds_list(const char *folder, char names[][17], size_t most);

// Is the program in this file of this build?
int build_is_of(const char *program);

#endif
