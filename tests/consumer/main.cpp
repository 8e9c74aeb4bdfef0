// A user's program: includes everything but S3, keeps a run in memory and reads it, and is told what a bucket takes.
#include <smdebug/smdebug.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

bool says_what_s3_takes(const std::function<void()>& open) {
    try {
        open();
    } catch (const smd::unsupported& refused) {
        std::printf("%s\n", refused.what());
        const std::string text = refused.what();
        return text.find("<smdebug/s3.hpp>") != std::string::npos && text.find("smdebug::s3") != std::string::npos;
    }
    return false;
}

}  // namespace

int main() {
    smd::memory_storage kept;
    {
        smd::basic_hook<smd::memory_storage> hook(kept, {.include_collections = {"losses"}});
        for (int step = 0; step < 3; ++step) {
            hook.save_tensor("loss", std::vector<float>{static_cast<float>(step)});
            hook.end_step();
        }
        hook.close();
    }
    const smd::memory_trial run(kept);
    std::printf("smdebug %d.%d.%d: %zu tensors\n", SMDEBUG_VERSION_MAJOR, SMDEBUG_VERSION_MINOR, SMDEBUG_VERSION_PATCH,
                run.tensor_names().size());
    const bool told = says_what_s3_takes([] { static_cast<void>(smd::create_trial("s3://bucket/run")); }) &&
                      says_what_s3_takes([] { const smd::hook hook({.out_dir = "s3://bucket/run"}); });
    return told && run.tensor_names() == std::vector<std::string>{"loss"} ? 0 : 1;
}
