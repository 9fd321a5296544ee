// dispatch_table.h: prototypes and table of the instruction set SMX_ISA_NAME.
// Included by dispatch.c once for each.
#define SMX_KERNEL(result, name, parameters, arguments) result SMX_FN(name) parameters;
#include "build/kernels.def"
#define SMX_KERNEL(result, name, parameters, arguments) SMX_FN(name),
static const kernel_table SMX_JOIN(table_, SMX_ISA_NAME) = {
    SMX_STRING(SMX_ISA_NAME),
#include "build/kernels.def"
};
#undef SMX_ISA_NAME
