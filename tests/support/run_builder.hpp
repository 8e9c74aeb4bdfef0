// Writes small runs for tests and benchmarks: index, event and collections files in the Python package's layout.
// Not for golden tests: the reference's files must come from the reference.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

/// A tensor to write.
struct written_tensor {
    std::string name;
    smdebug::dtype type = smdebug::dtype::float32;
    smdebug::shape_type shape;
    std::vector<std::byte> content = {};
    std::vector<std::string_view> strings = {};  ///< of dtype::string, instead of content
};

template <class T>
written_tensor tensor_of(std::string name, const std::vector<T>& values, smdebug::shape_type shape) {
    const auto bytes = std::as_bytes(std::span{values});
    return {std::move(name), smdebug::dtype_of_v<T>, std::move(shape), {bytes.begin(), bytes.end()}};
}
template <class T>
written_tensor tensor_of(std::string name, const std::vector<T>& values) {
    return tensor_of(std::move(name), values, smdebug::shape_type{values.size()});
}

struct written_shape {
    std::string name;
    std::string original_name;
    smdebug::shape_type extents;
};

/// One index file and its event file.
struct written_step {
    smdebug::step_number step = 0;
    std::vector<written_tensor> tensors = {};
    smdebug::mode mode = smdebug::mode::train;
    smdebug::step_number mode_step = -1;  ///< the global step if negative
    std::string worker = "worker_0";
    std::vector<written_shape> shapes = {};
    smdebug::record::footer_kind footers = smdebug::record::footer_kind::package_constant;
};

/// The records of a step's tensors, one after another, and the place of each.
struct event_bytes {
    std::vector<std::byte> bytes;
    std::vector<smdebug::byte_range> places;
};

inline event_bytes encode_events(const written_step& step) {
    using namespace smdebug;
    event_bytes out;
    const std::string mode_step = std::to_string(step.mode_step < 0 ? step.step : step.mode_step);
    const std::string mode = std::to_string(static_cast<int>(step.mode));
    const std::vector<smdebug::detail::wire::plugin_data> plugins{{"mode_step", mode_step}, {"mode", mode}};
    for (const written_tensor& tensor : step.tensors) {
        smdebug::detail::wire::value_fields value;
        value.tag = tensor.name;
        value.tensor = smdebug::detail::wire::tensor_fields{.type = tensor.type,
                                                            .shape = {.extents = tensor.shape, .dim_name = tensor.name},
                                                            .content = tensor.content,
                                                            .strings = tensor.strings};
        value.plugins = plugins;
        const auto payload = smdebug::detail::wire::to_bytes(
            {.wall_time = 1.5, .step = step.step, .file_version = {}, .values = std::span{&value, 1}});
        const std::size_t begin = out.bytes.size();
        record::append_record(out.bytes, payload, step.footers);
        out.places.push_back({begin, out.bytes.size() - begin});
    }
    return out;
}

/// The text of an index file, as json.dumps writes it.
inline std::string index_text(const written_step& step, const std::vector<smdebug::byte_range>& places,
                              std::string_view event_file) {
    std::string text = "{\"meta\": {\"mode\": \"" + std::string{name_of(step.mode)} +
                       "\", \"mode_step\": " + std::to_string(step.mode_step < 0 ? step.step : step.mode_step) +
                       ", \"event_file_name\": ";
    smdebug::append_json_string(text, event_file);
    text += "}, \"tensor_payload\": [";
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
        text += i == 0 ? "{\"tensorname\": " : ", {\"tensorname\": ";
        smdebug::append_json_string(text, step.tensors[i].name);
        text += ", \"start_idx\": " + std::to_string(places[i].offset) +
                ", \"length\": " + std::to_string(places[i].length) + "}";
    }
    text += "], \"shape_payload\": [";
    for (std::size_t i = 0; i < step.shapes.size(); ++i) {
        text += i == 0 ? "{\"tensorname\": " : ", {\"tensorname\": ";
        smdebug::append_json_string(text, step.shapes[i].name);
        text += ", \"originalname\": ";
        smdebug::append_json_string(text, step.shapes[i].original_name);
        text += ", \"shape\": [";
        for (std::size_t j = 0; j < step.shapes[i].extents.size(); ++j) {
            text += (j == 0 ? "" : ", ") + std::to_string(step.shapes[i].extents[j]);
        }
        text += "]}";
    }
    return text + "]}";
}

/// Writes a run into a storage, piece by piece.
template <class Storage>
class run_builder {
public:
    explicit run_builder(Storage& store) : store_(store) {}

    /// Collections files for `workers`; `groups` maps a collection's name to its tensors.
    run_builder& collections(const std::vector<std::string>& workers = {"worker_0"},
                             const std::map<std::string, std::vector<std::string>>& groups = {}) {
        std::string text = "{\"collections\": {";
        for (const auto& [name, tensors] : groups) {
            text += text.ends_with('{') ? "" : ", ";
            smdebug::append_json_string(text, name);
            text += ": {\"name\": ";
            smdebug::append_json_string(text, name);
            text += ", \"tensor_names\": [";
            for (const std::string& tensor : tensors) {
                text += text.ends_with('[') ? "" : ", ";
                smdebug::append_json_string(text, tensor);
            }
            text += "]}";
        }
        text += "}, \"_meta\": {\"num_workers\": " + std::to_string(workers.size()) + "}}";
        for (const std::string& worker : workers) {
            put(smdebug::detail::locations::collections_key(worker), text);
        }
        return *this;
    }

    /// A step of one worker: events first, then the index.
    run_builder& step(const written_step& step) {
        const std::string event_file = smdebug::detail::locations::event_key(step.step, step.worker);
        const event_bytes events = encode_events(step);
        store_.write(event_file, events.bytes);
        put(smdebug::detail::locations::index_key(step.step, step.worker), index_text(step, events.places, event_file));
        return *this;
    }

    run_builder& end() { return put(std::string{smdebug::detail::locations::end_of_job}, "end"); }

    run_builder& put(std::string_view key, std::string_view content) {
        store_.write(key, smdebug::as_bytes(content));
        return *this;
    }

private:
    Storage& store_;
};

}  // namespace smdebug_test
