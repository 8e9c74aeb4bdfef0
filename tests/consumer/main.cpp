// A user's program: includes everything but S3 and archives, keeps a run in memory and reads it, gets the errors that
// name the components for a bucket and an archive, and tests a storage.
#include <smdebug/formats/checkpoints/npz_directory.hpp>
#include <smdebug/smdebug.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

bool says_what_it_takes(const std::string& component, const std::function<void()>& open) {
    try {
        open();
    } catch (const smd::unsupported& refused) {
        std::printf("%s\n", refused.what());
        const std::string text = refused.what();
        return text.find("<smdebug/" + component + ".hpp>") != std::string::npos &&
               (component == "formats" || text.find("smdebug::" + component) != std::string::npos);
    }
    return false;
}

bool conforms() {
    const auto empty = [] {
        smd::memory_storage store;
        return smd::testing::storage_under_test<smd::memory_storage>{
            .store = store,
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, smd::as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
    };
    try {
        smd::testing::check_storage_conformance([&](const smd::testing::object_map& objects) {
            const auto place = empty();
            for (const auto& [key, content] : objects) {
                place.write(key, content);
            }
            return place.store;
        });
        smd::testing::check_removal_conformance(empty);
    } catch (const std::exception& failed) {
        std::printf("%s\n", failed.what());
        return false;
    }
    return true;
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
    std::filesystem::create_directories("logs");
    std::ofstream{"logs/events.out.tfevents.1"} << "a log of TensorBoard";
    const bool told = says_what_it_takes("s3", [] { static_cast<void>(smd::create_trial("s3://bucket/run")); }) &&
                      says_what_it_takes("s3", [] { const smd::hook hook({.out_dir = "s3://bucket/run"}); }) &&
                      says_what_it_takes("archive", [] { static_cast<void>(smd::create_trial("run.tar.gz")); }) &&
                      says_what_it_takes("archive",
                                         [] {
                                             smd::memory_storage folder;
                                             folder.write("a", smd::as_bytes("PK\x03\x04 and so on"));
                                             static_cast<void>(smd::formats::detail::read_npz_directory(folder, "a"));
                                         }) &&
                      says_what_it_takes("formats", [] { static_cast<void>(smd::create_trial("logs")); }) &&
                      smd::open_storage("/proc/self/exe").place() == smd::place_kind::file;  // not an archive by name
    return told && conforms() && run.tensor_names() == std::vector<std::string>{"loss"} ? 0 : 1;
}
