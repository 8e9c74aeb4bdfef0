// Every truncation and every flipped bit of every file of a small run of each kind: the result is right, or an error or
// a problem of the library reports the damage; wrong answers are possible only for bytes that the format does not protect.
// docs/limits.md names those bytes: keep both in step.
#define SMDEBUG_TEST_COUNT_ALLOCATIONS
#include "damage/outcomes.hpp"

#include "support/archive_builder.hpp"
#include "support/checkpoint_files.hpp"
#include "support/log_builder.hpp"
#include "support/run_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"
#include "support/torch_files.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/kept_index.hpp>
#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/verify.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

// --- runs -----------------------------------------------------------------------------------------------------------

enum class saved { values, reductions };

[[nodiscard]] file_texts files_of(const memory_storage& store) {
    file_texts files;
    for (const std::string& key : store.list("", "")) {
        files[key] = as_text(store.read(key).view());
    }
    return files;
}

[[nodiscard]] file_texts small_run(record::footer_kind footers, saved what = saved::values) {
    memory_storage store;
    std::vector<written_tensor> tensors{tensor_of<float>("w", {1, 2, 3}), tensor_of<double>("loss", {0.5}, {})};
    if (what == saved::reductions) {
        tensors = {tensor_of<double>(reduction_tensor_name("w", {.what = reduction::l2}), {3.5}, {}),
                   tensor_of<double>(reduction_tensor_name("w", {.what = reduction::mean, .abs = true}), {2}, {})};
    }
    run_builder{store}
        .collections({"worker_0"}, {{"losses", {"loss"}}})
        .step({.step = 3,
               .tensors = std::move(tensors),
               .mode_step = 1,
               .shapes = {{.name = "s", .original_name = "o", .extents = {4, 5}}},
               .footers = footers})
        .end();
    return files_of(store);
}

[[nodiscard]] memory_storage stored_files(const file_texts& files) {
    memory_storage store{"run"};
    for (const auto& [key, content] : files) {
        store.write(key, as_bytes(content));
    }
    return store;
}

[[nodiscard]] facts asked(any_storage store, std::vector<std::string>& problems,
                          damage_policy policy = damage_policy::fail) {
    const trial run{std::move(store),
                    {.poll_interval = 1ms, .missing_event_file_retry_limit = 0, .damaged_index = policy}};
    facts all = everything_of(run);
    for (const auto& problem : run.problems()) {
        problems.push_back(problem.where + problem.what);
    }
    return all;
}

[[nodiscard]] asking of_run(damage_policy policy) {
    return [policy](const file_texts& files, std::vector<std::string>& problems) {
        return asked(any_storage{stored_files(files)}, problems, policy);
    };
}

/// Answers of a run that is verified before it is read.
[[nodiscard]] facts of_verified_run(const file_texts& files, std::vector<std::string>& problems) {
    const any_storage store{stored_files(files)};
    const facts all = asked(store, problems);
    for (const inconsistency& each : verify_run(trial{store, {.poll_interval = 1ms}})) {
        throw corrupt_data(each.what, {.where = each.file});
    }
    return all;
}

const std::string index_key = "index/000000000/000000000003_worker_0.json";
const std::string event_key = "events/000000000003/000000000003_worker_0.tfevents";
const std::string collections_key = "collections/000000000/worker_0_collections.json";
const std::string end_key = "training_job_end.ts";

[[nodiscard]] bool everywhere(std::size_t) { return true; }

/// Whether a byte of an event file belongs to a payload.
[[nodiscard]] std::function<bool(std::size_t)> in_payloads(const std::string& file) {
    std::vector<byte_range> payloads;
    for (std::size_t place = 0; place < file.size();) {
        const auto length = load_le<std::uint64_t>(as_bytes(file).data() + place);
        payloads.push_back({place + 12, length});
        place += static_cast<std::size_t>(length) + 16;
    }
    return [payloads](std::size_t offset) {
        return std::any_of(payloads.begin(), payloads.end(), [&](const byte_range& each) {
            return each.offset <= offset && offset < each.offset + each.length;
        });
    };
}

// --- data of other tools --------------------------------------------------------------------------------------------

/// One hour later, when no file counts as unfinished any more.
[[nodiscard]] std::chrono::system_clock::time_point later() { return std::chrono::system_clock::now() + 1h; }

[[nodiscard]] facts of_logs(const file_texts& files, std::vector<std::string>& problems) {
    const any_storage store{stored_files(files)};
    return asked(as_run(store, tensorboard_source{store, {.now = later}}), problems);
}

[[nodiscard]] facts of_events(const file_texts& files, std::vector<std::string>& problems) {
    const any_storage store{stored_files(files)};
    return asked(as_run(store, event_file_source{store, {.is_over = true}}), problems);
}

[[nodiscard]] facts of_checkpoints(const file_texts& files, std::vector<std::string>& problems) {
    const any_storage store{stored_files(files)};
    return asked(checkpoint_source{store, {.now = later}}.run(), problems);
}

[[nodiscard]] std::string two_floats() { return proto::raw(1.5F) + proto::raw(-2.0F); }

[[nodiscard]] std::string small_npy() {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    header.resize(117, ' ');
    return npy_of(header + "\n") + two_floats();
}

// --- archives -------------------------------------------------------------------------------------------------------

/// The files of an archive: a run of the same files returns the same answers.
[[nodiscard]] facts of_archive(const file_texts& files, std::vector<std::string>& problems) {
    const archive_storage open{stored_files(files), "a"};
    problems = open.damage();
    facts all;
    for (const std::string& key : open.list("", "")) {
        note(all, key, [&] { return std::string{as_text(open.read(key).view())}; });
    }
    return all;
}

/// The same for a compressed one: its content is inflated and read before its checksum, so only the damage is queried.
[[nodiscard]] facts of_packed_archive(const file_texts& files, std::vector<std::string>& problems) {
    facts all = of_archive(files, problems);
    return problems.empty() ? all : facts{};
}

}  // namespace

TEST_CASE("damage: a run, whose payloads have checksums") {
    const file_texts files = small_run(record::footer_kind::checksum);
    REQUIRE(files.size() == 4);
    for (const damage_policy policy : {damage_policy::fail, damage_policy::skip}) {
        const std::string kind = policy == damage_policy::fail ? "run" : "run, damage skipped";
        damage_everywhere(kind, files, {.key = event_key}, of_run(policy));
        damage_everywhere(kind, files, {.key = index_key, .unprotected = everywhere}, of_run(policy));
        damage_everywhere(kind, files, {.key = collections_key, .unprotected = everywhere}, of_run(policy));
        damage_everywhere(kind, files, {.key = end_key, .matters = false}, of_run(policy));
    }
}

TEST_CASE("damage: a run that is verified") {
    const file_texts files = small_run(record::footer_kind::checksum);
    damage_everywhere("verified run", files, {.key = event_key}, of_verified_run);
    // A shape saved without its tensor has nothing else to be compared with.
    const std::size_t shapes = files.at(index_key).find("shape_payload");
    damage_everywhere("verified run", files,
                      {.key = index_key, .unprotected = [&](std::size_t offset) { return offset > shapes; }},
                      of_verified_run);
    damage_everywhere("verified run", files, {.key = collections_key}, of_verified_run);
}

TEST_CASE("damage: a run as the Python package writes it, whose payloads nothing protects") {
    const file_texts files = small_run(record::footer_kind::package_constant);
    damage_everywhere("the package's run", files, {.key = event_key, .unprotected = in_payloads(files.at(event_key))},
                      of_run(damage_policy::fail));
}

TEST_CASE("damage: a run of saved reductions only") {
    const file_texts files = small_run(record::footer_kind::checksum, saved::reductions);
    damage_everywhere("reductions", files, {.key = event_key}, of_run(damage_policy::fail));
    damage_everywhere("reductions", files, {.key = index_key, .unprotected = everywhere}, of_run(damage_policy::fail));
}

TEST_CASE("damage: event files without their index") {
    file_texts files = small_run(record::footer_kind::checksum);
    files.erase(index_key);
    damage_everywhere("event files", files, {.key = event_key, .may_be_short = true}, of_events);
}

TEST_CASE("damage: logs of TensorBoard") {
    const file_texts files{
        {"events.out.tfevents.1.host",
         log_head() + log_record(1, {scalar_value("loss", 3)}) +
             log_record(2, {logged_tensor("w", "", 1, {2}, two_floats()), text_value("note", "abc")}) +
             log_record(3, {histogram_value("h", 0, 1, 2, 1, 1, {0.5, 1}, {1, 1})})}};
    damage_everywhere("logs", files, {.key = files.begin()->first, .may_be_short = true}, of_logs);
}

TEST_CASE("damage: checkpoints") {
    const file_texts tensors{
        {"checkpoint-5/model.safetensors", safetensors_of(R"({"__metadata__":{"format":"pt"},)"
                                                          R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})") +
                                               two_floats()}};
    damage_everywhere("safetensors", tensors, {.key = tensors.begin()->first, .unprotected = everywhere},
                      of_checkpoints);
    const std::string list = "checkpoint-5/model.safetensors.index.json";
    const file_texts shards{{"checkpoint-5/model-00001-of-00001.safetensors", tensors.begin()->second},
                            {list, R"({"metadata":{},"weight_map":{"w":"model-00001-of-00001.safetensors"}})"}};
    damage_everywhere("safetensors in parts", shards, {.key = list}, of_checkpoints);  // it decides what is read
    const file_texts array{{"step_5.npy", small_npy()}};
    damage_everywhere("npy", array, {.key = "step_5.npy", .unprotected = everywhere}, of_checkpoints);
    for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
        const file_texts arrays{{"step_5.npz", zip_of(file_texts{{"w.npy", small_npy()}}, method)}};
        damage_everywhere(method == 0 ? "npz, stored" : "npz, packed", arrays, {.key = "step_5.npz"}, of_checkpoints);
    }
    namespace p = smdebug_test::pickled;
    const std::string object =
        p::dictionary({{"w", p::vector("0", 2)}, {"v", p::tensor(p::storage("FloatStorage", "0", 2), 0, {2}, {0})}});
    const file_texts stream{{"step_5.pt", p::torch_stream(object, {{"0", 2, two_floats()}})}};
    damage_everywhere("pt, stream", stream, {.key = "step_5.pt", .unprotected = everywhere}, of_checkpoints);
    const file_texts zip{{"step_5.pt", p::torch_zip(object, {{"0", two_floats()}})}};
    damage_everywhere("pt, zip", zip, {.key = "step_5.pt", .unprotected = everywhere}, of_checkpoints);
    const file_texts packed{{"step_5.pt", p::torch_zip(object, {{"0", two_floats()}}, 8)}};
    damage_everywhere("pt, packed zip", packed, {.key = "step_5.pt", .unprotected = everywhere}, of_checkpoints);
}

TEST_CASE("damage: archives of a run") {
    const file_texts run = small_run(record::footer_kind::checksum);
    const std::string tar = tar_of(run);
    const auto in_members = [&](std::size_t offset) {  // in a tar, nothing protects the members' content
        return std::any_of(run.begin(), run.end(), [&](const auto& each) {
            const std::size_t place = tar.rfind(each.second);
            return place <= offset && offset < place + each.second.size();
        });
    };
    damage_everywhere("tar", {{"a", tar}}, {.key = "a", .unprotected = in_members}, of_archive);
    damage_everywhere("tar.gz", {{"a", gzip_of(tar)}}, {.key = "a"}, of_packed_archive);
    damage_everywhere("tar.gz of members", {{"a", gzip_of(tar, 2000)}}, {.key = "a"}, of_packed_archive);
    damage_everywhere("tar.zst", {{"a", zstd_of(tar)}}, {.key = "a"}, of_packed_archive);
    damage_everywhere("zip", {{"a", zip_of(run)}}, {.key = "a"}, of_archive);
    damage_everywhere("zip, stored", {{"a", zip_of(run, 0)}}, {.key = "a"}, of_archive);
}

TEST_CASE("damage: an index beside an archive") {
    using namespace smdebug::archive::detail;
    const std::shared_ptr<const codec> unpacks = deflate_codec(deflate_wrap::gzip);
    const archive_identity identity{.size = 900, .version = "tag 1", .hash_of_ends = 77};
    std::string content(40'000, '\0');
    std::mt19937 random{7};
    for (char& one : content) {
        one = static_cast<char>(random() % 50);
    }
    const auto decoder = unpacks->begin(stored(gzip_of(content)), nullptr);
    std::vector<std::byte> out(content.size());
    kept_index made{.of = identity, .kind = "tar.gz"};
    made.members.members.emplace("events/0.tfevents", member{.where = {512, 1000}, .size = 1000});
    made.spans.push_back({.begin = 0, .length = 1500, .sum = 4, .point = decoder->point()});
    REQUIRE(decoder->decode(out, 200) > 200);
    made.spans.push_back({.begin = 1500, .length = 3500, .sum = 5, .point = decoder->point()});
    REQUIRE(made.spans[1].point != nullptr);
    const auto ask = [&](const file_texts& files, std::vector<std::string>& problems) {
        facts all;
        const auto read = read_index(stored(files.at("a.smdx")), identity, "tar.gz", unpacks, {});
        if (!read) {
            problems.emplace_back("no index of this archive");
            return all;
        }
        for (const auto& [key, file] : read->members.members) {
            all[key] = std::to_string(file.where.offset) + "+" + std::to_string(file.where.length) + " " +
                       std::to_string(file.size) + " " + file.why;
        }
        for (std::size_t i = 0; i < read->spans.size(); ++i) {
            const auto& span = read->spans[i];
            const auto point = span.point == nullptr ? span.point : span.point->loaded(span.point);
            const auto written = point == nullptr ? std::vector<std::byte>{} : point->written();
            all["span " + std::to_string(i)] = point == nullptr
                                                   ? "!damaged point"
                                                   : std::to_string(span.begin) + "+" + std::to_string(span.length) +
                                                         " " + std::to_string(span.sum) + std::string{as_text(written)};
        }
        return all;
    };
    damage_everywhere(".smdx", {{"a.smdx", std::string{as_text(written(made))}}}, {.key = "a.smdx"}, ask);
}
