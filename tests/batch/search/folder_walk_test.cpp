#include <smdebug/batch/search/folder_walk.hpp>

#include "support/few_descriptors.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using detail::found_place;
using texts = std::vector<std::string>;

namespace {

void make_run(const temporary_folder& folder, const std::string& path) {
    folder.write(path + "/index/000000000/000000000000_worker_0.json", "{}");
    folder.write(path + "/events/000000000000/000000000000_worker_0.tfevents", "");
}

// Paths below `root`; "?" before errors.
texts walked(const std::string& root) {
    detail::folder_walk walk{root};
    texts all;
    while (const std::optional<found_place> found = walk.next()) {
        const std::string below = found->path == root ? "." : found->path.substr(root.size() + 1);
        all.push_back((found->what == found_place::kind::error ? "?" : "") + below);
        CHECK((found->what == found_place::kind::archive) == below.ends_with(".tar"));
    }
    return all;
}

}  // namespace

TEST_CASE("folder_walk: all runs and archives, in byte order of their paths, hidden ones, too") {
    const temporary_folder folder;
    for (const char* run : {"a", "a-b", "a.b", "x/r", "x-1", "x/q/deep/er", ".hidden/run", "with blank", "new\nline",
                            "[a]*", "\xC3\xA4", "~"}) {
        make_run(folder, run);
    }
    folder.write("x.tar", "");
    folder.write("x/b.tar", "");
    folder.write("x/notes.txt", "");
    folder.write("nothing/in/it", "");
    texts wanted{".hidden/run", "[a]*",        "a",   "a-b",     "a.b",   "new\nline", "with blank",
                 "x-1",         "x/q/deep/er", "x/r", "x/b.tar", "x.tar", "\xC3\xA4",  "~"};
    std::sort(wanted.begin(), wanted.end());
    CHECK(walked(folder.path()) == wanted);
    CHECK(walked(folder.path() + "/nothing") == texts{});
    CHECK(walked(folder.path() + "/none") == texts{});
}

TEST_CASE("folder_walk: a run is not gone into, nor is the folder itself where it is one") {
    const temporary_folder folder;
    make_run(folder, "a");
    make_run(folder, "a/copy");
    folder.write("a/old.tar", "");
    CHECK(walked(folder.path()) == texts{"a"});
    CHECK(walked(folder.path() + "/a") == texts{"."});
}

TEST_CASE("folder_walk: links come last, a folder once, and circles end") {
    const temporary_folder folder;
    const temporary_folder other;
    make_run(other, "far");
    make_run(folder, "x/run");
    make_run(folder, "z");
    const auto link = [&](const std::string& to, const std::string& name) {
        std::filesystem::create_directory_symlink(to, folder.path() + "/" + name);
    };
    link("x/run", "a-latest");
    link("..", "x/up");
    link(".", "x/self");
    link("../..", "x/far-up");
    link("nowhere", "broken");
    link(other.path(), "elsewhere");
    link(other.path(), "twice");
    link("loop2", "loop1");
    link("loop1", "loop2");
    link(folder.path(), "x/round");
    // Links that lead nowhere may have led to runs.
    CHECK(walked(folder.path()) == texts{"?broken", "?loop1", "?loop2", "x/run", "z", "elsewhere/far"});
}

TEST_CASE("folder_walk: a maze of links ends") {
    const temporary_folder folder;
    for (int i = 0; i < 20; ++i) {
        const std::string below = "m" + std::to_string(i);
        std::filesystem::create_directories(folder.path() + "/" + below);
        for (const char* name : {"/l", "/r"}) {
            std::filesystem::create_directory_symlink("../m" + std::to_string((i + 1) % 20),
                                                      folder.path() + "/" + below + name);
        }
    }
    make_run(folder, "m7/run");
    CHECK(walked(folder.path()) == texts{"m7/run"});
}

TEST_CASE("folder_walk: a folder that cannot be read is an error, and the rest goes on") {
    const temporary_folder folder;
    make_run(folder, "a");
    make_run(folder, "b");
    make_run(folder, "c");
    detail::folder_walk walk{folder.path()};
    CHECK(walk.next()->path == folder.path() + "/a");
    std::optional<found_place> second;
    without_descriptors([&] {
        if (!second) {
            second = walk.next();
        }
    });
    REQUIRE(second);
    CHECK(second->what == found_place::kind::error);
    CHECK(second->path == folder.path() + "/b");
    CHECK(second->error.find("/b: Too many open files") != std::string::npos);
    const auto third = walk.next();
    REQUIRE(third);
    CHECK(third->path == folder.path() + "/c");
    CHECK_FALSE(walk.next());
}

TEST_CASE("folder_walk: a path that is too long for the system is an error") {
    const temporary_folder folder;
    const std::string name(250, 'd');
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    for (int i = 0; i < 18; ++i) {
        std::filesystem::create_directory(name);
        std::filesystem::current_path(name);
    }
    std::filesystem::current_path(before);
    detail::folder_walk walk{folder.path()};
    const auto found = walk.next();
    REQUIRE(found);
    CHECK(found->what == found_place::kind::error);
    CHECK(found->error.find("more than the system takes") != std::string::npos);
    CHECK_FALSE(walk.next());
}

TEST_CASE("folder_walk: behind runs come folders with logs or checkpoints, whole; what lies beside is counted") {
    const temporary_folder folder;
    make_run(folder, "a/run");
    folder.write("a/logs/train/events.out.tfevents.1.host", "");
    folder.write("a/logs/validation/events.out.tfevents.2.host", "");
    folder.write("b/ckpt/model.safetensors", "");
    folder.write("b/ckpt/optimizer.pt", "");
    folder.write("c.tar.xz", "");
    folder.write("a/old.tar.bz2", "");
    folder.write("a/w.npy", "");
    folder.write("d/only.pt", "");
    folder.write("e/readme.txt", "");
    folder.write("f/events.out.tfevents.3.host", "");
    folder.write("f/code.tar", "");
    const auto found = [&](const std::string& below) { return walked(folder.path() + below); };
    CHECK(found("") == texts{"a/run", "f/code.tar", "a/logs", "b", "d", "f"});
    CHECK(found("/b") == texts{});  // the folder itself is one
    CHECK(found("/a/logs") == texts{});
    detail::folder_walk walk{folder.path()};
    while (walk.next()) {
    }
    CHECK(walk.left_out() == detail::left_out_files{{".npy", 1}, {".tar.bz2", 1}, {".tar.xz", 1}});
}

TEST_CASE("folder_walk: a log is whole, whatever else lies below its folder") {
    const temporary_folder folder;
    make_run(folder, "run");
    folder.write("a/events.out.tfevents.1", "");
    folder.write("a/eval/events.out.tfevents.2", "");
    folder.write("a/export/model.tar", "");
    folder.write("b/train/events.out.tfevents.1", "");
    folder.write("b/validation/events.out.tfevents.2", "");
    make_run(folder, "b/export/run");
    folder.write("c/TRAIN/000000000000_worker_0.tfevents", "");
    folder.write("test/events.out.tfevents.1", "");
    CHECK(walked(folder.path()) == texts{"a/export/model.tar", "b/export/run", "run", "a", "b", "c", "test"});
    CHECK(walked(folder.path() + "/a") == texts{"export/model.tar", "."});
    detail::folder_walk walk{folder.path()};
    while (walk.next()) {
    }
    CHECK(walk.left_out().empty());
}

TEST_CASE("folder_walk: resource forks and marks of TensorFlow's profiler are no logs and no checkpoints") {
    const temporary_folder folder;
    make_run(folder, "run");
    for (const char* file : {"__MACOSX/log/._events.out.tfevents.1", "p/events.out.tfevents.1.profile-empty",
                             "c/._model.safetensors", "c/._x.pt"}) {
        folder.write(file, "");
    }
    CHECK(walked(folder.path()) == texts{"run"});
    detail::folder_walk walk{folder.path()};
    while (walk.next()) {
    }
    CHECK(walk.left_out().empty());
}
