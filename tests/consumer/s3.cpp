// A user's program of two files: this one includes S3; the other opens by path.
#include <smdebug/s3.hpp>

#include <cstdio>
#include <string>

std::string opened(const std::string& path);  // in by_path.cpp

int main() {
    const std::string name = opened("s3://bucket/run");
    std::printf("%s\n", name.c_str());
    return name.find("s3://bucket/run") != std::string::npos ? 0 : 1;
}
