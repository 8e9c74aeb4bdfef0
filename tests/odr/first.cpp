// Two translation units that include everything must link: a function or variable in a header that is not inline shows
// here as "multiple definition".
#include <smdebug/s3.hpp>
#include <smdebug/smdebug.hpp>

int second();  // in second.cpp

int main() { return second(); }
