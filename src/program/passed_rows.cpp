#include <program/passed_rows.hpp>

#include <smdebug/batch/reduction_row.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

void add_notes(row_spool& to, const std::string& key, const smdebug::detail::passed_records& notes) {
    reduction_row row{.worker = key};
    const auto begin = [&](byte_range record) {
        row.step = static_cast<step_number>(record.offset);
        row.mode_step = static_cast<step_number>(record.length);
    };
    notes.for_each(
        [&](byte_range record, byte_view bytes) {
            begin(record);
            row.name.clear();
            row.dtype.clear();
            row.shape = std::string{as_text(bytes)};
            row.reductions = {};
            to.add(row);
        },
        [&](byte_range record, const smdebug::detail::passed_tensor& tensor) {
            begin(record);
            row.name = tensor.name;
            row.dtype = std::to_string(static_cast<unsigned>(tensor.type));
            row.shape = shape_text(tensor.shape);
            row.reductions = tensor.reductions;
            to.add(row);
        });
}

namespace {

// The extents of a shape's text.
shape_type shape_of_text(std::string_view text) {
    shape_type shape;
    while (!text.empty()) {
        std::size_t extent = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), extent).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        shape.push_back(extent);
        text.remove_prefix(text.empty() ? 0 : 1);
    }
    return shape;
}

}  // namespace

std::shared_ptr<const file_notes> notes_of(row_spool& rows) {
    struct notes_so_far {
        std::shared_ptr<smdebug::detail::passed_records> notes = std::make_shared<smdebug::detail::passed_records>();
        step_number last_small = -1;
        step_number last_large = -1;
    };
    std::map<std::string, notes_so_far, std::less<>> all;
    rows.for_each([&](const reduction_row& row) {
        auto& [notes, last_small, last_large] = all[row.worker];
        // Two parts may have read one file.
        step_number& last = row.dtype.empty() ? last_small : last_large;
        if (row.step <= last) {
            return;
        }
        last = row.step;
        const byte_range record{static_cast<std::uint64_t>(row.step), static_cast<std::uint64_t>(row.mode_step)};
        if (row.dtype.empty()) {
            notes->add(record, as_bytes(*row.shape));
            return;
        }
        unsigned type = 0;
        std::from_chars(row.dtype.data(), row.dtype.data() + row.dtype.size(), type);
        notes->add(record, smdebug::detail::passed_tensor{.name = row.name,
                                                          .type = dtype_from_code(type),
                                                          .shape = shape_of_text(*row.shape),
                                                          .reductions = row.reductions});
    });
    auto made = std::make_shared<file_notes>();
    for (auto& [key, so_far] : all) {
        made->emplace(key, std::move(so_far.notes));
    }
    return made;
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
