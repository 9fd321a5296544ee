// stack.h: blocks of their own: mixers=a,b gives each block its mixer, block1.key=value one of them a value.
// For this folder only, in this order.
#ifndef SMX_SETTINGS_STACK_H
#define SMX_SETTINGS_STACK_H

#include "config.h"
#include "pairs.h"

// The keys of single blocks that stand in this text become keys of the config.
int stack_open_keys(config *c, config_span text, smx_error *error);
// `mixers` is read: defaults and recipes are those of the first that is listed.
int stack_take_first(config *c, smx_error *error);
// Each block gets its mixer and its settings.
int stack_open(config *c, smx_error *error);
void stack_free(config *c);

#endif
