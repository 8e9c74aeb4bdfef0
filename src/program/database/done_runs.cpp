#include <program/database/done_runs.hpp>

#include <smdebug/core/bytes.hpp>

#include <array>

namespace smdebug::inline v1::detail::sqlite {

run_hash hash_of_run(std::string_view path, std::string_view version, std::string_view question) {
    // The hash of the hashes, so that no text runs into its neighbour.
    const auto half = [&](std::uint64_t seed) {
        std::array<std::byte, 3 * sizeof(std::uint64_t)> parts{};
        store_le(parts.data(), content_hash(as_bytes(path), seed));
        store_le(parts.data() + sizeof(std::uint64_t), content_hash(as_bytes(version), seed));
        store_le(parts.data() + 2 * sizeof(std::uint64_t), content_hash(as_bytes(question), seed));
        return content_hash(parts, seed);
    };
    const run_hash hash{half(0x736d6462), half(0x9e3779b97f4a7c15)};
    return hash == run_hash{} ? run_hash{0, 1} : hash;
}

void done_runs::reserve(std::size_t count) {
    const std::size_t slots = count + count / 2 + 16;
    if (slots > slots_.size()) {
        resize(slots);
    }
}

void done_runs::make_room() {
    if (size_ + 1 > slots_.size() / 5 * 4) {
        resize(slots_.size() + slots_.size() / 2 + 16);
    }
}

void done_runs::insert(run_hash run) {
    make_room();
    run_hash& slot = slots_[place_of(run)];
    size_ += slot == run ? 0U : 1U;
    slot = run;
}

void done_runs::erase(run_hash run) noexcept {
    if (!contains(run)) {
        return;
    }
    // What stands behind the gap moves into it, unless its probe begins behind the gap.
    std::size_t gap = place_of(run);
    for (std::size_t next = after(gap); slots_[next] != run_hash{}; next = after(next)) {
        const std::size_t home = home_of(slots_[next]);
        const bool begins_behind = gap < next ? home > gap && home <= next : home > gap || home <= next;
        if (!begins_behind) {
            slots_[gap] = slots_[next];
            gap = next;
        }
    }
    slots_[gap] = {};
    --size_;
}

std::size_t done_runs::place_of(run_hash run) const noexcept {
    std::size_t place = home_of(run);
    while (slots_[place] != run_hash{} && slots_[place] != run) {
        place = after(place);
    }
    return place;
}

void done_runs::resize(std::size_t slots) {
    std::vector<run_hash> old(slots);
    old.swap(slots_);
    for (const run_hash run : old) {
        if (run != run_hash{}) {
            slots_[place_of(run)] = run;
        }
    }
}

}  // namespace smdebug::inline v1::detail::sqlite
