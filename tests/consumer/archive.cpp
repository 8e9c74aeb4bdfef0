// A user's program of two files: this one includes archives; the other opens by path.
#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>

#include <cstdio>
#include <string>

std::string opened(const std::string& path);  // in by_path.cpp

int main() {
    try {
        static_cast<void>(opened("nowhere.tar.gz"));
    } catch (const smdebug::not_found& missing) {
        std::printf("%s\n", missing.what());
        return 0;
    }
    return 1;
}
