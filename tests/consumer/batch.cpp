// A user's program that stores results in a database, and merges it.
#include <smdebug/batch/merge_databases.hpp>
#include <smdebug/batch/results_database.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

int main() {
    for (const char* const file : {"consumer.db", "consumer_all.db"}) {
        std::filesystem::remove(file);
    }
    smdebug::run_result result;
    result.run = {.path = "runs/a", .version = "1"};
    {
        smdebug::results_database database{"consumer.db"};
        database.write(result, "all rules");
    }
    const std::vector<std::string> sources{"consumer.db"};
    const smdebug::merge_result merged = smdebug::merge_databases(sources, "consumer_all.db");
    const smdebug::results_database all{"consumer_all.db"};
    std::printf("%zu run, %zu done\n", merged.runs, all.done_count());
    return merged.runs == 1 && all.is_done(result.run, "all rules") ? 0 : 1;
}
