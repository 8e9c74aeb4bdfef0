#include "support/environment_variable.hpp"
#include "support/test.hpp"

#include <program/shard.hpp>
#include <smdebug/core/error.hpp>

namespace smd = smdebug;

namespace {

using variables = std::map<std::string, std::string, std::less<>>;

std::optional<smd::run_shard> shard_in(const variables& set) {
    const auto variable = [&](const char* name) -> std::optional<std::string> {
        const auto place = set.find(name);
        return place == set.end() ? std::nullopt : std::optional{place->second};
    };
    return smd::shard_of_array(variable);
}

std::string path_of(std::size_t run) { return "s3://bucket/jobs/2024/job-" + std::to_string(run); }

variables slurm(const char* id, const char* count, const char* first, const char* step = "1") {
    return {{"SLURM_ARRAY_TASK_ID", id},
            {"SLURM_ARRAY_TASK_COUNT", count},
            {"SLURM_ARRAY_TASK_MIN", first},
            {"SLURM_ARRAY_TASK_STEP", step}};
}

}  // namespace

TEST_CASE("a shard is written from 1/N to N/N") {
    CHECK(smd::parse_shard("1/4") == smd::run_shard{1, 4});
    CHECK(smd::parse_shard("4/4") == smd::run_shard{4, 4});
    CHECK(smd::parse_shard("1/1") == smd::run_shard{1, 1});
    for (const std::string_view wrong : {"", "/", "1", "1/", "/4", "a/4", "1/b", "1/4/2", " 1/4", "1/4 ", "-1/4",
                                         "+1/4", "1.0/4", "1/99999999999999999999"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH_AS(static_cast<void>(smd::parse_shard(wrong)), doctest::Contains("is written I/N"),
                             smd::value_error);
    }
    for (const std::string_view none : {"0/4", "5/4", "0/0", "1/0"}) {
        CAPTURE(none);
        CHECK_THROWS_WITH_AS(static_cast<void>(smd::parse_shard(none)), doctest::Contains("counted from 1"),
                             smd::value_error);
    }
}

TEST_CASE("every run is in one shard, and shards are even") {
    constexpr std::size_t runs = 10'000;
    for (const std::uint64_t count : {1U, 2U, 3U, 7U, 64U}) {
        std::array<std::size_t, 64> sizes{};
        for (std::size_t run = 0; run < runs; ++run) {
            std::size_t homes = 0;
            for (std::uint64_t index = 1; index <= count; ++index) {
                if (smd::run_shard{index, count}.has(path_of(run))) {
                    ++homes;
                    ++sizes[index - 1];
                }
            }
            REQUIRE(homes == 1);
        }
        const double even = static_cast<double>(runs) / static_cast<double>(count);
        for (std::uint64_t index = 0; index < count; ++index) {
            CAPTURE(count);
            CHECK(static_cast<double>(sizes[index]) > even * 0.6);
            CHECK(static_cast<double>(sizes[index]) < even * 1.4);
        }
    }
}

TEST_CASE("a run's shard depends on its path alone, and is that of every version of the library") {
    CHECK(smd::run_shard{1, 4}.has("runs/a") == smd::run_shard{1, 4}.has("runs/a/"));
    const auto home = [](std::string_view path) {
        std::uint64_t index = 1;
        while (!smd::run_shard{index, 1000}.has(path)) {
            ++index;
        }
        return index;
    };
    CHECK(home("runs/a") == home("runs/a//"));
    CHECK(home("runs/a") != home("runs/b"));
    CHECK(home("") == 343);
    CHECK(home("runs/a") == 864);
    CHECK(home("s3://bucket/\xc3\xa4") == 28);
}

TEST_CASE("a job of Slurm's arrays has the shard of its number") {
    CHECK(shard_in({}) == std::nullopt);
    CHECK(shard_in(slurm("0", "4", "0")) == smd::run_shard{1, 4});
    CHECK(shard_in(slurm("3", "4", "0")) == smd::run_shard{4, 4});
    CHECK(shard_in(slurm("1", "4", "1")) == smd::run_shard{1, 4});
    CHECK(shard_in(slurm("30", "4", "10", "10")) == smd::run_shard{3, 4});
    CHECK(shard_in(slurm("7", "1", "7")) == smd::run_shard{1, 1});
    variables no_step = slurm("2", "4", "1");
    no_step.erase("SLURM_ARRAY_TASK_STEP");
    CHECK(shard_in(no_step) == smd::run_shard{2, 4});

    // 1,2,7
    CHECK_THROWS_WITH_AS(shard_in(slurm("7", "3", "1")), doctest::Contains("has gaps"), smd::value_error);
    CHECK_THROWS_WITH_AS(shard_in(slurm("2", "3", "1", "3")), doctest::Contains("has gaps"), smd::value_error);
    CHECK_THROWS_WITH_AS(shard_in(slurm("1", "3", "2")), doctest::Contains("has gaps"), smd::value_error);
    CHECK_THROWS_WITH_AS(shard_in(slurm("1", "4", "1", "0")), doctest::Contains("has gaps"), smd::value_error);
    CHECK_THROWS_WITH_AS(shard_in(slurm("x", "4", "1")), doctest::Contains("SLURM_ARRAY_TASK_ID is no number: 'x'"),
                         smd::value_error);
    CHECK_THROWS_WITH_AS(shard_in({{"SLURM_ARRAY_TASK_ID", "1"}}),
                         doctest::Contains("SLURM_ARRAY_TASK_COUNT is not set"), smd::value_error);
}

TEST_CASE("a job of AWS Batch's arrays, too, which are counted from 0") {
    const auto batch = [](const char* index, const char* size) {
        return variables{{"AWS_BATCH_JOB_ARRAY_INDEX", index}, {"AWS_BATCH_JOB_ARRAY_SIZE", size}};
    };
    CHECK(shard_in(batch("0", "10")) == smd::run_shard{1, 10});
    CHECK(shard_in(batch("9", "10")) == smd::run_shard{10, 10});
    CHECK_THROWS_WITH_AS(shard_in(batch("10", "10")), doctest::Contains("counts from 0"), smd::value_error);
    CHECK_THROWS_WITH_AS(shard_in({{"AWS_BATCH_JOB_ARRAY_INDEX", "1"}}),
                         doctest::Contains("AWS_BATCH_JOB_ARRAY_SIZE is not set"), smd::value_error);
}

TEST_CASE("'array' is the shard of the job that the process is") {
    const smdebug_test::environment_variable no_slurm{"SLURM_ARRAY_TASK_ID", {}};
    {
        const smdebug_test::environment_variable none{"AWS_BATCH_JOB_ARRAY_INDEX", {}};
        CHECK_THROWS_WITH_AS(static_cast<void>(smd::parse_shard("array")),
                             doctest::Contains("is for a job of an array"), smd::value_error);
    }
    const smdebug_test::environment_variable index{"AWS_BATCH_JOB_ARRAY_INDEX", "2"};
    const smdebug_test::environment_variable size{"AWS_BATCH_JOB_ARRAY_SIZE", "5"};
    CHECK(smd::parse_shard("array") == smd::run_shard{3, 5});
}
