#include <c/handle.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_door.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/tensor/strided_tensor.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::c {
namespace {

class hook_handle final : public handle_of<handle_kind::hook, hook> {
public:
    // A caller of C that frees without closing means what an exception means in C++: the run can be resumed.
    ~hook_handle() override {
        if (opened) {
            smdebug::detail::hook_door{*opened}.close_unfinished();
        }
    }

    bool closed = false;
};

template <class Call>
smd_status with(smd_hook* given, const char* function, Call&& call) noexcept {
    return handle::guard<hook_handle>(given, function, [&](hook_handle& held) {
        held.closed ? throw unsupported("the hook is closed: make another one, for another run") : call(held.get());
    });
}

hook_options options_from(const char* given) {
    return given == nullptr ? hook_options_from_json_file()
           : is_json(given) ? hook_options_from_json(as_bytes(given), "options")
                            : hook_options_from_json_file(std::string{given});
}

void refuse_negative(std::span<const std::int64_t> numbers, const char* name, const char* what_to_do) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] < 0) {
            throw value_error(std::string{name} + "[" + std::to_string(i) + "] is " + std::to_string(numbers[i]) +
                              ": " + what_to_do);
        }
    }
}

std::span<const std::size_t> shape_of(int rank, const std::int64_t* shape) {
    if (rank < 0) {
        throw value_error("the rank " + std::to_string(rank) + " is negative: it is the number of extents in shape");
    }
    if (rank > 0 && shape == nullptr) {
        throw value_error("shape is null: it must have " + std::to_string(rank) + " extents, as the rank says");
    }
    refuse_negative({shape, static_cast<std::size_t>(rank)}, "shape", "an extent is 0 or more");
    // Signed and unsigned integers of one size may alias.
    return {reinterpret_cast<const std::size_t*>(shape), static_cast<std::size_t>(rank)};
}

// The bytes of that many elements.  Errors: value_error if there can be no such memory.
byte_view bytes_of(dtype type, std::span<const std::size_t> shape, const void* data) {
    const auto count = element_count(shape);
    if (!count || *count > std::numeric_limits<std::ptrdiff_t>::max() / size_of(type)) {
        throw value_error("shape has more elements than memory could hold");
    }
    if (data == nullptr && *count != 0) {
        throw value_error("data is null: it must point to the " + std::to_string(*count) + " elements of the tensor");
    }
    return {static_cast<const std::byte*>(data), *count * size_of(type)};
}

bool save(hook& to, std::string_view name, const tensor_view& dense, const std::int64_t* strides) {
    const std::span<const std::int64_t> given{strides, strides != nullptr ? dense.shape.size() : 0};
    refuse_negative(given, "strides", "strides are 0 or more: copy the elements, or pass them in the other order");
    const bool wanted = to.should_save(name, collection_names{});  // quicker than to offer a tensor that is not due
    if (!wanted || strides == nullptr) {
        return wanted && to.save_tensor(name, dense);
    }
    const strided_tensor elements{dense.type, {dense.shape.begin(), dense.shape.end()}, given, dense.bytes.data()};
    return to.save_tensor(name, elements.view());
}

bool save_digest(hook& to, std::string_view name, std::span<const std::size_t> shape, std::int64_t digest) {
    if (!to.should_save(name, collection_names{})) {
        return false;
    }
    const smdebug::detail::hook_door door{to};
    if (const auto due = door.numbers_alone(name); due && due->reductions.empty()) {
        return door.save_numbers(name, shape, {.digest = digest});
    }
    throw unsupported("more than the digest of \"" + std::string{name} +
                      "\" is due at this step: save the tensor by smd_hook_save(), or name its collection in "
                      "\"digests\" alone");
}

}  // namespace
}  // namespace smdebug::inline v1::c

using namespace smdebug;
using namespace smdebug::c;

smd_status smd_hook_open(const char* options, smd_hook** hook) {
    return smd_hook_open_worker(options, nullptr, nullptr, 1, 0, -1, hook);
}

smd_status smd_hook_open_worker(const char* options, const char* out_dir, const char* worker, int64_t num_workers,
                                int resume, int64_t init_step, smd_hook** hook) {
    return handle::make<hook_handle>(hook, "smd_hook_open", [&](hook_handle& made) {
        hook_options all = options_from(options);
        all.out_dir = out_dir != nullptr ? out_dir : all.out_dir;
        all.worker = worker != nullptr ? worker : all.worker;
        all.num_workers = num_workers;
        all.existing = resume != 0 ? existing_run::resume : existing_run::refuse;
        all.init_step = init_step < 0 ? std::nullopt : std::optional<step_number>{init_step};
        made.opened.emplace(all);
    });
}

smd_status smd_hook_set_mode(smd_hook* hook, smd_mode mode) {
    return with(hook, __func__, [&](auto& to) { to.set_mode(mode_of(mode)); });
}

smd_status smd_hook_step(smd_hook* hook, int64_t* step, int64_t* mode_step) {
    return with(hook, __func__, [&](auto& from) {
        store(from.step(), step);
        store(from.mode_step(), mode_step);
    });
}

smd_status smd_hook_set_step(smd_hook* hook, int64_t step, int64_t mode_step) {
    return with(hook, __func__, [&](auto& to) {
        to.set_step(step, mode_step < 0 ? std::nullopt : std::optional<step_number>{mode_step});
    });
}

smd_status smd_hook_should_save(smd_hook* hook, const char* name, int* wanted) {
    return with(hook, __func__,
                [&](auto& to) { place(wanted, "wanted") = to.should_save(text(name, "name")) ? 1 : 0; });
}

smd_status smd_hook_save(smd_hook* hook, const char* name, smd_dtype dtype, int rank, const int64_t* shape,
                         const int64_t* strides, const void* data, int* saved) {
    return with(hook, __func__, [&](auto& to) {
        const std::string_view called = text(name, "name");
        const smdebug::dtype type = dtype_of(dtype);
        const std::span<const std::size_t> extents = shape_of(rank, shape);
        store(save(to, called, {type, extents, bytes_of(type, extents, data), {}}, strides), saved);
    });
}

smd_status smd_hook_save_scalar(smd_hook* hook, const char* name, double value) {
    return with(hook, __func__, [&](auto& to) { to.save_scalar(text(name, "name"), value); });
}

smd_status smd_hook_save_digest(smd_hook* hook, const char* name, int rank, const int64_t* shape, int64_t digest,
                                int* saved) {
    return with(hook, __func__,
                [&](auto& to) { store(save_digest(to, text(name, "name"), shape_of(rank, shape), digest), saved); });
}

smd_status smd_hook_end_step(smd_hook* hook) {
    return with(hook, __func__, [](auto& to) { to.end_step(); });
}

smd_status smd_hook_abandon_step(smd_hook* hook) {
    return with(hook, __func__, [](auto& to) { to.abandon_step(); });
}

smd_status smd_hook_close(smd_hook* hook) {
    return handle::guard<hook_handle>(hook, __func__, [](hook_handle& held) {
        held.get().close();
        held.closed = true;
    });
}
