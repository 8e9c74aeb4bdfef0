/* The interface for C, from C. */
#include <smdebug/smdebug.h>

int main(void) { return smd_abi_version() == SMDEBUG_C_ABI ? 0 : 1; }
