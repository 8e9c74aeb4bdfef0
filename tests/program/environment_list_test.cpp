#include <program/environment_list.hpp>

#include "support/test.hpp"

#include <regex>

// Each variable that the library and the program read is listed, or is not for the user to set.
TEST_CASE("environment_list: lists each variable that the sources name, and no other") {
    std::set<std::string> told;
    const std::regex name{"[A-Za-z_0-9]+"};
    for (const auto& entry : smdebug::cli::detail::environment_list) {
        const std::string names{entry.names};
        for (std::sregex_iterator it{names.begin(), names.end(), name}; it != std::sregex_iterator{}; ++it) {
            CHECK_MESSAGE(told.insert(it->str()).second, it->str() << " is listed twice");
        }
        CHECK_FALSE(entry.meaning.empty());
    }
    const std::set<std::string> not_told{"HOME",  // as everywhere
                                         "OMPI_COMM_WORLD_SIZE",
                                         "PMI_SIZE",
                                         "SLURM_STEP_NUM_TASKS",  // mpirun and srun set them
                                         "OMPI_COMM_WORLD_RANK",
                                         "PMI_RANK",
                                         "SLURM_PROCID",
                                         "SLURM_NTASKS",  // likewise, for hooks
                                         "AWS_WEB_IDENTITY_TOKEN_FILE",
                                         "AWS_ROLE_ARN",               // refused, with a message that names them
                                         "SMDEBUG_CONFIG_FILE_PATH"};  // of hooks, which the program has none of
    std::set<std::string> named;
    const std::regex quoted{"\"((AWS|SMDEBUG|SLURM|OMPI|PMI)_[A-Z0-9_]+|HOME|XDG_CONFIG_HOME|COLUMNS)\""};
    for (const char* const folder : {"include/smdebug", "src"}) {
        const std::filesystem::path root = std::filesystem::path{SMDEBUG_TEST_DATA} / "../..";
        for (const auto& file : std::filesystem::recursive_directory_iterator{root / folder}) {
            if (!file.is_regular_file() || file.path().filename() == "environment_list.hpp") {
                continue;
            }
            std::ifstream in{file.path()};
            const std::string text{std::istreambuf_iterator<char>{in}, {}};
            for (std::sregex_iterator it{text.begin(), text.end(), quoted}; it != std::sregex_iterator{}; ++it) {
                named.insert((*it)[1].str());
            }
        }
    }
    REQUIRE(named.size() > 20);
    for (const std::string& each : named) {
        CHECK_MESSAGE(told.count(each) + not_told.count(each) == 1, each);
    }
    for (const std::string& each : told) {
        const bool is_curls = each.ends_with("_proxy");
        CHECK_MESSAGE((is_curls || named.count(each) == 1), each << " is listed, but never read");
    }
}
