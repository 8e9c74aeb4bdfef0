#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <deque>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

namespace smd = smdebug;
using smd::detail::with_rank;
using smdebug_test::environment_variable;

namespace {

using setting = std::pair<const char*, const char*>;

/// Takes every launcher's variables away, and sets these.
class launched {
public:
    launched(std::initializer_list<setting> set) {
        for (const char* const name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
                                       "SLURM_PROCID", "SLURM_NTASKS", "RANK", "WORLD_SIZE"}) {
            all_.emplace_back(name, std::nullopt);
        }
        for (const auto& [name, value] : set) {
            all_.emplace_back(name, value);
        }
    }
    ~launched() {
        while (!all_.empty()) {
            all_.pop_back();  // backwards, so that what was there comes back
        }
    }
    launched(const launched&) = delete;
    launched& operator=(const launched&) = delete;

private:
    std::deque<environment_variable> all_;
};

}  // namespace

TEST_CASE("with_rank: the first launcher that says a rank and how many there are names the worker") {
    struct row {
        std::initializer_list<setting> set;
        std::string worker;
        std::int64_t workers;
        std::string from;
    };
    for (const row& each :
         {row{{}, "worker_0", 1, ""},
          row{{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}}, "worker_3", 8, "OMPI_COMM_WORLD_RANK"},
          row{{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "worker_0", 2, "PMI_RANK"},
          row{{{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}, "worker_1", 2, "SLURM_PROCID"},
          row{{{"RANK", "11"}, {"WORLD_SIZE", "16"}}, "worker_11", 16, "RANK"},
          row{{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}},
              "worker_0",
              1,
              ""},  // one task is no reason to look on
          row{{{"RANK", "3"}}, "worker_0", 1, ""}, row{{{"RANK", "3"}, {"WORLD_SIZE", "3"}}, "worker_0", 1, ""},
          row{{{"RANK", "-1"}, {"WORLD_SIZE", "3"}}, "worker_0", 1, ""},
          row{{{"RANK", "1x"}, {"WORLD_SIZE", "3"}}, "worker_0", 1, ""}}) {
        const launched by{each.set};
        const smd::hook_options found = with_rank({});
        CHECK(found.worker == each.worker);
        CHECK(found.num_workers == each.workers);
        REQUIRE(found.notes.size() == (each.from.empty() ? 0U : 1U));
        CHECK((each.from.empty() || found.notes[0].find(each.from + " says") != std::string::npos));
    }
}

TEST_CASE("with_rank: nothing is guessed where a worker is named; a number of workers stays as it is set") {
    const launched by{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}};
    CHECK(with_rank({.worker = "w", .num_workers = 2}).worker == "w");
    CHECK(with_rank({.worker = "w"}).num_workers == 1);
    CHECK(with_rank({.num_workers = 4}).worker == "worker_3");
    CHECK(with_rank({.num_workers = 4}).num_workers == 4);
}

TEST_CASE("a hook without a worker's name writes as the launcher's rank, and says so once") {
    const launched by{{"RANK", "1"}, {"WORLD_SIZE", "2"}};
    smd::memory_storage store;
    std::vector<std::string> notes;
    smd::basic_hook<smd::memory_storage> hook{store,
                                              {.save_config = {.save_interval = 1},
                                               .save_all = true,
                                               .include_workers = smd::include_workers::all,
                                               .on_note = [&](const std::string& note) { notes.push_back(note); }}};
    CHECK(hook.options().worker == "worker_1");
    hook.save_tensor("w", 1.0F);
    hook.end_step();
    hook.close();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "this process is worker_1 of 2, as RANK says; hook_options::worker sets another name");
    CHECK(store.size("collections/000000000/worker_1_collections.json"));
}

TEST_CASE("two hooks of one name in one folder: the message says how ranks are set") {
    const launched by{};
    const smdebug_test::temporary_folder folder;
    const smd::hook_options options{.out_dir = folder.path() + "/run"};
    const smd::hook first{options};
    const smd::unavailable refused = smdebug_test::caught<smd::unavailable>([&] { const smd::hook second{options}; });
    CHECK(refused.code() == smd::error_code::in_use);
    const std::string said = refused.what();
    CHECK(said.find("num_workers") != std::string::npos);
    CHECK(said.find("include_workers::all") != std::string::npos);
}
