#include <smdebug/trial/basic_trial.hpp>

#include <smdebug/archive.hpp>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/s3.hpp>

using namespace smdebug;

TEST_CASE("create_trial: a directory, with or without its scheme") {
    const std::string path = std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp";
    const trial run = create_trial(path, {.range = {2, 5}});
    CHECK(run.name() == "torch_mlp");
    CHECK(run.path() == path);
    CHECK(run.steps() == std::vector<step_number>{2, 3});
    CHECK(create_trial("file://" + path).steps().size() == 4);
    CHECK(create_trial(path + "/", {.name = "mine"}).name() == "mine");
}

TEST_CASE("create_trial: ~ is the home folder, as for hooks") {
    const smdebug_test::environment_variable home{"HOME", std::string{SMDEBUG_TEST_DATA} + "/golden"};
    CHECK(create_trial("~/torch_mlp").path() == std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp");
    CHECK(local_trial{"~/torch_mlp/"}.steps().size() == 4);
    CHECK(local_trial{"file://" + std::string{SMDEBUG_TEST_DATA} + "/golden/torch_mlp"}.steps().size() == 4);
}

TEST_CASE("create_trial: a path that cannot be opened is an error that names it") {
    CHECK_THROWS_AS(static_cast<void>(create_trial("gs://runs/a.tar.gz")), value_error);
    CHECK_THROWS_AS(static_cast<void>(create_trial("/no/such/folder")), not_found);
    const not_found thrown = smdebug_test::caught<not_found>([&] { return create_trial("runs/a.zip"); });
    CHECK(thrown.where() == "runs/a.zip");
}

TEST_CASE("create_trial: errors about a run in S3 name it and the cause, but no keys") {
    // Nothing listens on port 1 of the loopback interface.
    storage_options storage{.s3 = {.region = "eu-central-1",
                                   .endpoint = "http://127.0.0.1:1",
                                   .keys = s3::access_keys{.id = "FAKEKEYID", .secret = "fakesecret"}}};
    storage.s3.retry.most_attempts = 2;
    storage.s3.retry.first_pause = std::chrono::milliseconds{1};
    const unavailable thrown =
        smdebug_test::caught<unavailable>([&] { return create_trial("s3://bucket/some/run", {}, storage); });
    const std::string text = thrown.what();
    CAPTURE(text);
    CHECK(thrown.where().starts_with("s3://bucket/some/run"));
    CHECK(text.find("s3://bucket/some/run") != std::string::npos);
    CHECK(text.find("http://127.0.0.1:1") != std::string::npos);
    CHECK(text.find("2 attempts") != std::string::npos);
    CHECK(text.find("FAKEKEYID") == std::string::npos);
    CHECK(text.find("fakesecret") == std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(create_trial("s3://", {}, storage)), value_error);
    storage.s3.endpoint = "127.0.0.1:1";
    CHECK_THROWS_AS(static_cast<void>(create_trial("s3://bucket/run", {}, storage)), value_error);
}

TEST_CASE("create_trial: a program that cannot read a log or checkpoints names the header to include") {
    const smdebug_test::temporary_folder place;
    const auto said = [](const std::string& path) {
        try {
            smdebug::detail::refuse_other_data(path, any_storage{local_storage{path}});
        } catch (const unsupported& refused) {
            CHECK(refused.where() == path);
            return std::string{refused.message()};
        }
        return std::string{};
    };
    const std::string way_out = "): include <smdebug/formats.hpp> in one of its files";
    for (const std::string name :
         {"log/train/events.out.tfevents.1", "model/a.safetensors", "npz/a.npz", "npy/a.npy"}) {
        CAPTURE(name);
        const std::string file = place.path() + "/" + name;
        const std::string folder = place.path() + "/" + name.substr(0, name.find('/'));
        std::filesystem::create_directories(std::filesystem::path{file}.parent_path());
        std::ofstream{file} << "what a program wrote";
        CHECK(said(folder).ends_with(folder + " (" + name.substr(name.find('/') + 1) + way_out));
        CHECK(said(file).ends_with(file + " (" + file + way_out));
        CHECK_THROWS_AS(static_cast<void>(create_trial(folder, {}, {.formats = {.as = data_format::smdebug}})),
                        not_found);
    }
    std::filesystem::create_directories(place.path() + "/other");
    std::ofstream{place.path() + "/other/a.txt"} << "a text";
    CHECK(said(place.path() + "/other").empty());
    CHECK_THROWS_AS(static_cast<void>(create_trial(place.path() + "/other")), not_found);
}
