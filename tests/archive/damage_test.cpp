// Every truncation, and many flipped bits, of small archives of each kind: the content read is right, or an error of
// the library says why not, or the archive's damage is reported.
#include <smdebug/archive/archive_storage.hpp>

#include "support/archive_builder.hpp"
#include "support/sanitized.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using objects = std::map<std::string, std::string>;

namespace {

const objects& members() {
    static const objects some{{"collections/000000000/worker_0_collections.json", "{\"loss\": 1}"},
                              {"events/000000000000/000000000000_worker_0.tfevents", std::string(1500, 'e') + "end"},
                              {"index/000000000/000000000000_worker_0.json", "{\"meta\": {}}"},
                              {"training_job_end.ts", ""}};
    return some;
}

struct counts {
    int right = 0;     // every member has its original bytes
    int told = 0;      // an error, or reported damage
    int in_place = 0;  // a byte of a member's content, which a tar does not protect
};

void look(const std::string& archive, const std::string& kind, bool unprotected, counts& count) {
    memory_storage store;
    store.write("a", as_bytes(archive));
    try {
        const archive_storage open{store, "a"};
        bool is_told = !open.damage().empty();
        int differing = 0;
        std::size_t seen = 0;
        for (const std::string& key : open.list("", "")) {
            const auto original = members().find(key);
            try {
                const byte_buffer bytes = open.read(key);
                if (original != members().end()) {
                    ++seen;
                    differing += as_text(bytes.view()) == original->second ? 0 : 1;
                }
            } catch (const error&) {
                is_told = true;
                seen += original != members().end() ? 1U : 0U;
            }
        }
        if (is_told) {
            ++count.told;
        } else if (differing == 0 && seen == members().size()) {
            ++count.right;
        } else {
            CHECK_MESSAGE((unprotected && differing <= 1 && seen == members().size()), kind);
            ++count.in_place;
        }
    } catch (const error&) {
        ++count.told;
    }
}

}  // namespace

TEST_CASE("archives: every truncation and 10,000 flipped bits of each kind; a tenth of the bits under sanitizers") {
    constexpr int bits = sanitized ? 1'000 : 10'000;
    const std::string tar = tar_of(members());
    for (const auto& [kind, archive] : objects{{"tar", tar},
                                               {"tar.gz", gzip_of(tar)},
                                               {"tar.gz of members", gzip_of(tar, 1000)},
                                               {"tar.zst", zstd_of(tar)},
                                               {"zip", zip_of(members())},
                                               {"zip, stored", zip_of(members(), 0)}}) {
        CAPTURE(kind);
        counts cut;
        for (std::size_t length = 0; length < archive.size(); ++length) {
            look(archive.substr(0, length), kind, false, cut);
        }
        CHECK(cut.in_place == 0);
        CHECK(cut.right <= 1024);  // only a tar without the last of its two empty blocks
        counts flipped;
        std::mt19937 random{5};
        for (int i = 0; i < bits; ++i) {
            std::string wrong = archive;
            const std::size_t bit = random() % (wrong.size() * 8);
            wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
            look(wrong, kind, kind == "tar", flipped);
        }
        CHECK(flipped.told > 0);
        MESSAGE(kind, ": ", archive.size(), " truncations: ", cut.right, " right, ", cut.told, " reported; ", bits,
                " bits: ", flipped.right, " right, ", flipped.told, " reported, ", flipped.in_place,
                " in a member's own bytes");
    }
}
