// A user's program that takes its arguments as the program smdebug does.
#include <smdebug/cli/arguments.hpp>

int main() { return 0; }
