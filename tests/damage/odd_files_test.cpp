// Pipes, sockets, devices and folders in place of every file of a run: an error of the library, or treated as absent;
// never read, and never waited for.
#include "damage/outcomes.hpp"

#include "support/archive_builder.hpp"
#include "support/checkpoint_files.hpp"
#include "support/log_builder.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/formats.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// Ends the program by a signal if a call blocks.
class time_limit {
public:
    time_limit() { ::alarm(60); }
    time_limit(const time_limit&) = delete;
    time_limit& operator=(const time_limit&) = delete;
    ~time_limit() { ::alarm(0); }
};

const std::vector<std::string> odd_kinds{"pipe", "socket", "/dev/zero", "/dev/tty", "pipe behind a link", "folder"};

/// Replaces a file.
void put_odd(const std::string& kind, const temporary_folder& folder, const std::string& key) {
    const fs::path place = folder.path() + "/" + key;
    fs::create_directories(place.parent_path());
    fs::remove_all(place);
    if (kind == "folder") {
        fs::create_directory(place);
    } else if (kind == "pipe") {
        REQUIRE(::mkfifo(place.c_str(), 0600) == 0);
    } else if (kind == "socket") {
        REQUIRE(::mknod(place.c_str(), S_IFSOCK | 0600, 0) == 0);
    } else if (kind.starts_with('/')) {
        fs::create_symlink(kind, place);
    } else {
        const std::string pipe = place.string() + ".pipe";
        REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
        fs::create_symlink(pipe, place);
    }
}

void write_run(const temporary_folder& folder) {
    local_storage store{folder.path()};
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("w", {1})}})
        .step({.step = 1, .tensors = {tensor_of<float>("w", {2})}})
        .end();
}

/// All answers of a run; with "!" the error from opening it.
[[nodiscard]] facts asked(const std::string& path, damage_policy policy = damage_policy::fail) {
    facts all;
    note(all, "opened", [&] {
        all.merge(everything_of(
            create_trial(path, {.poll_interval = 1ms, .missing_event_file_retry_limit = 0, .damaged_index = policy})));
        return std::string{"yes"};
    });
    return all;
}

[[nodiscard]] bool is_error(const std::string& answer) { return answer.starts_with('!'); }

}  // namespace

TEST_CASE("odd files: in the place of a run's") {
    const time_limit limit;
    const temporary_folder whole;
    write_run(whole);
    const facts intact = asked(whole.path());
    REQUIRE(intact.at("opened") == "yes");
    REQUIRE(intact.contains("value w@1/worker_0"));
    for (const std::string& kind : odd_kinds) {
        CAPTURE(kind);
        const auto with = [&](const std::string& key, damage_policy policy) {
            const temporary_folder folder;
            write_run(folder);
            put_odd(kind, folder, key);
            return asked(folder.path(), policy);
        };
        const std::string index = smdebug::detail::locations::index_key(1, "worker_0");
        const facts skipped = with(index, damage_policy::skip);
        CHECK(skipped.at("opened") == "yes");
        CHECK(skipped.at("value w@0/worker_0") == intact.at("value w@0/worker_0"));
        CHECK_FALSE(skipped.contains("step 1"));

        const facts without = with(smdebug::detail::locations::event_key(1, "worker_0"), damage_policy::fail);
        CHECK(without.at("opened") == "yes");
        CHECK(is_error(without.at("value w@1/worker_0")));
        CHECK(without.at("value w@0/worker_0") == intact.at("value w@0/worker_0"));

        CHECK(
            is_error(with(smdebug::detail::locations::collections_key("worker_0"), damage_policy::fail).at("opened")));
        CHECK(with(std::string{smdebug::detail::locations::end_of_job}, damage_policy::fail).at("opened") == "yes");
    }
}

TEST_CASE("odd files: in the place of logs, checkpoints, archives and what lies beside them") {
    const time_limit limit;
    const std::string log = log_head() + log_record(4, {scalar_value("loss", 2)});
    const std::string weights = safetensors_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
    for (const std::string& kind : odd_kinds) {
        CAPTURE(kind);
        {
            const temporary_folder folder;
            folder.write("events.out.tfevents.1", log);
            put_odd(kind, folder, "events.out.tfevents.2");
            const facts got = asked(folder.path());
            CHECK((is_error(got.at("opened")) || got.contains("value loss@4/worker_0")));
        }
        for (const std::string key : {"step_6.safetensors", "step_6.npy", "step_6.npz", "step_6.pt"}) {
            CAPTURE(key);
            const temporary_folder folder;
            folder.write("step_5.safetensors", weights);
            put_odd(kind, folder, key);
            const facts got = asked(folder.path());
            CHECK((is_error(got.at("opened")) || got.contains("step 5")));
            CHECK_FALSE(got.contains("step 6"));
            CHECK(is_error(asked(folder.path() + "/" + key).at("opened")));
        }
        for (const std::string key : {"a.tar", "a.tar.gz", "a.zip"}) {
            CAPTURE(key);
            const temporary_folder folder;
            put_odd(kind, folder, key);
            CHECK(is_error(asked(folder.path() + "/" + key).at("opened")));
        }
        const temporary_folder run;
        write_run(run);
        file_texts files;
        const local_storage store{run.path()};
        for (const std::string& each : store.list("", "")) {
            files[each] = as_text(store.read(each).view());
        }
        files["filler"] = std::string(std::size_t{2} << 20U, 'x');
        std::string tar = tar_of(files);
        const temporary_folder folder;
        folder.write("a.tar.gz", gzip_of(tar, std::string::npos, 0));
        put_odd(kind, folder, "a.tar.gz.smdx");
        CHECK(asked(folder.path() + "/a.tar.gz").contains("value w@1/worker_0"));
    }
}
