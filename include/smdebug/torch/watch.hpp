// Weights, biases, gradients and buffers of a module of libtorch, saved at the steps at which a hook wants them.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_door.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/torch/tensor.hpp>

#include <ATen/core/grad_mode.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/pimpl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// When a torch_watch takes gradients.
enum class torch_gradients : std::uint8_t {
    at_step,       ///< at step(): what .grad() has then, the sum over all passes since zero_grad()
    as_they_come,  ///< in the backward pass, by autograd's hooks, as the Python package does: those of the last pass
};

struct torch_watch_options {
    /// What names begin with; if empty, the class of the module, "Sequential" for a torch::nn::Sequential.
    std::string name = {};
    torch_gradients gradients = torch_gradients::at_step;
    /// Offers buffers, too, such as the running mean of a batch norm: "Sequential_1.running_mean".  No standard
    /// collection holds any: include_regex = {"running_"}, or a collection of yours, selects them.
    bool buffers = false;
};

namespace detail {

/// "Sequential" for "torch::nn::SequentialImpl", "net" for "(anonymous namespace)::net".
[[nodiscard]] inline std::string class_name_of(const torch::nn::Module& module) {
    std::string name = module.name();
    name.resize(std::min(name.size(), name.find('<')));
    if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) {
        name.erase(0, colon + 2);
    }
    constexpr std::string_view suffix = "Impl";
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
        name.resize(name.size() - suffix.size());
    }
    return name;
}

/// A tensor on its way from a device into pinned memory, behind what the device has been given to do so far.
struct arriving_tensor {
    at::Tensor place;
    late_elements late;
};

/// Begins the transfer.  Counts its bytes in `under_way` until what waits for them is destroyed.
[[nodiscard]] inline arriving_tensor begin_transfer(const at::Tensor& tensor,
                                                    const std::shared_ptr<std::atomic<std::size_t>>& under_way) {
    const at::NoGradGuard no_gradients;
    const at::Tensor plain = tensor.detach().resolve_conj().resolve_neg();
    arriving_tensor arriving;
    const std::size_t bytes = plain.nbytes();
    if (plain.is_cpu()) {  // tests: nothing is on its way
        arriving.place = plain.clone(at::MemoryFormat::Contiguous);
        arriving.late.wait = [] {};
    } else {
        arriving.place = at::empty(plain.sizes(), at::TensorOptions(plain.scalar_type()).pinned_memory(true));
        arriving.place.copy_(plain, /*non_blocking=*/true);
        const auto arrived = std::make_shared<c10::Event>(plain.device().type());
        arrived->record(c10::impl::VirtualGuardImpl{plain.device().type()}.getStream(plain.device()));
        arriving.late.wait = [arrived] {
            while (!arrived->query()) {
                std::this_thread::sleep_for(std::chrono::microseconds{50});
            }
        };
    }
    *under_way += bytes;
    arriving.late.owner =
        std::shared_ptr<const void>{new at::Tensor{arriving.place}, [under_way, bytes](const void* held) {
                                        delete static_cast<const at::Tensor*>(held);
                                        *under_way -= bytes;
                                    }};
    return arriving;
}

/// What a torch_watch does; the hooks that it gives to autograd share it, and may outlive the watch.
class torch_watcher : public std::enable_shared_from_this<torch_watcher> {
public:
    using far_test = bool (*)(const at::Tensor&);

    torch_watcher(hook_base& saves, const torch::nn::Module& module, torch_watch_options options, far_test is_far)
        : door_(saves), options_(std::move(options)), is_far_(is_far) {
        if (options_.name.empty()) {
            options_.name = class_name_of(module);
        }
    }

    void begin(const torch::nn::Module& module) {
        names_of_modules_[&module] = options_.name;
        for (const auto& each : module.named_children()) {
            each.value()->apply([&](const std::string& path,
                                    const torch::nn::Module& inner) { names_of_modules_.try_emplace(&inner, path); },
                                each.key());
        }
        for (const auto& each : module.named_parameters()) {
            add(options_.name + "_" + each.key(), each.value(), true);
        }
        if (options_.buffers) {
            for (const auto& each : module.named_buffers()) {
                add(options_.name + "_" + each.key(), each.value(), false);
            }
        }
    }

    ~torch_watcher() {
        for (const entry& each : entries_) {
            door_.release(each.values.name);
        }
    }

    torch_watcher(const torch_watcher&) = delete;
    torch_watcher& operator=(const torch_watcher&) = delete;

    void let_go() noexcept {
        for (const entry& each : entries_) {
            try {
                if (const at::Tensor tensor = each.lock(); each.autograd_hook && tensor.defined()) {
                    tensor.remove_hook(*each.autograd_hook);
                }
            } catch (...) {  // it finds this object gone, and does nothing
            }
        }
    }

    [[nodiscard]] bool anything_due() const { return door_.anything_due(); }

    void step() {
        const std::scoped_lock lock{guard_};
        exception_collector failure;
        if (door_.anything_due()) {
            std::size_t gone = 0;
            for (entry& each : entries_) {
                const at::Tensor tensor = each.lock();
                if (!tensor.defined()) {
                    ++gone;
                    continue;
                }
                failure.attempt([&] { save(each.values, tensor); });
                if (each.is_parameter) {
                    failure.attempt([&] { save_gradient(each, tensor); });
                }
            }
            failure.attempt([&] { save_numbers(); });
            if (gone != 0) {
                say_once("the module \"" + options_.name +
                         "\" was destroyed before its watch: " + std::to_string(gone) + " of its " +
                         std::to_string(entries_.size()) + " tensors are no longer saved");
            }
        } else if (!far_.empty() || !pending_.empty()) {  // the step was abandoned
            forget_numbers();
        }
        failure.attempt([&] {
            if (failed_) {
                std::rethrow_exception(std::exchange(failed_, nullptr));
            }
        });
        failure.rethrow();
    }

    /// Saves a tensor of this step, such as an output of a module, if it is due.
    void save_named(const std::string& name, const at::Tensor& tensor) {
        const std::scoped_lock lock{guard_};
        named one{.name = name};
        save(one, tensor);
    }

    /// "0" for a part of the watched module, its class for any other.
    [[nodiscard]] std::string name_of(const torch::nn::Module& module) const {
        const auto found = names_of_modules_.find(&module);
        return found == names_of_modules_.end() ? class_name_of(module) : found->second;
    }

private:
    // A tensor's name, and its place among the hook's names once it was needed.
    struct named {
        std::string name;
        hook_door::place place = {};
    };
    // A gradient that came in the backward pass.
    struct come_gradient {
        step_number step = -1;
        at::Tensor values = {};                      // where these are due
        std::optional<tensor_numbers> numbers = {};  // where only numbers are
        std::optional<std::size_t> far = {};         // a place in far_, likewise
        shape_type extents = {};
    };
    using weak_tensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
    struct entry {
        weak_tensor tensor;
        bool is_parameter;
        named values;
        named gradient = {};
        std::optional<unsigned> autograd_hook = {};
        come_gradient come = {};

        [[nodiscard]] at::Tensor lock() const { return at::Tensor{tensor.lock()}; }
    };
    // A tensor whose numbers are being computed on its device.
    struct pending_numbers {
        std::string name;
        shape_type extents;
        std::size_t far;
        step_number step;
    };

    void add(std::string name, const at::Tensor& tensor, bool is_parameter) {
        if (!tensor.defined()) {
            return;
        }
        const void* const impl = tensor.unsafeGetTensorImpl();
        if (const void* const owner = door_.claim(name, impl); owner == impl) {
            return;  // shared, or watched already: saved once
        } else if (owner != nullptr) {
            throw value_error("another watch of this hook saves \"" + name +
                                  "\" of another module: give this one a name, {.name = \"decoder\"}",
                              {.tensor = name});
        }
        entries_.push_back({.tensor = weak_tensor{tensor.getIntrusivePtr()},
                            .is_parameter = is_parameter,
                            .values = {.name = std::move(name)}});
        entry& made = entries_.back();
        if (!is_parameter) {
            return;
        }
        made.gradient.name = "gradient/" + made.values.name;
        if (options_.gradients == torch_gradients::as_they_come && tensor.requires_grad()) {
            made.autograd_hook =
                tensor.register_hook([weak = weak_from_this(), at = entries_.size() - 1](const at::Tensor& gradient) {
                    if (const auto self = weak.lock()) {
                        self->gradient_came(at, gradient);
                    }
                });
        }
    }

    [[nodiscard]] bool due(named& one) {
        if (!one.place.known()) {
            one.place = door_.place_of(one.name);
        }
        return door_.due(one.place, one.name);
    }

    // Whether it can be saved; if not, says so once.
    [[nodiscard]] bool can_be_saved(const named& one, const at::Tensor& tensor) {
        const std::string why = torch_refusal(tensor);
        if (!why.empty()) {
            say_once("the tensor \"" + one.name + "\" " + why);
        }
        return why.empty();
    }

    void save(named& one, const at::Tensor& tensor) {
        if (!due(one) || !can_be_saved(one, tensor)) {
            return;
        }
        if (!is_far_(tensor)) {
            save_values(one, tensor);
        } else if (const auto due_alone = door_.numbers_alone(one.name)) {
            pending_.push_back({one.name, shape_of_torch(tensor), far_.add(tensor, *due_alone), door_.hook().step()});
        } else if (const std::size_t pool = door_.hook().options().background.pool_bytes;
                   pool != 0 && *under_way_ + tensor.nbytes() <= pool) {
            const arriving_tensor arriving = begin_transfer(tensor, under_way_);
            const shape_type extents = shape_of_torch(tensor);
            door_.save(one.name,
                       {.type = dtype_of_torch(tensor.scalar_type()),
                        .shape = extents,
                        .bytes = {static_cast<const std::byte*>(arriving.place.data_ptr()), arriving.place.nbytes()},
                        .strings = {}},
                       {}, &arriving.late);
        } else {
            save_values(one, tensor);
        }
    }

    void save_values(const named& one, const at::Tensor& tensor) {
        const auto version = [&] { return tensor.is_inference() ? 0U : static_cast<unsigned>(tensor._version()); };
        const unsigned before = version();
        const tensor_adapter<at::Tensor> adapter{tensor, one.name};
        door_.save(one.name, adapter.view());
        if (version() != before) {
            say_once("the tensor \"" + one.name + "\" was changed by another thread while it was saved at step " +
                     std::to_string(door_.hook().step()) +
                     ": what is saved may be half of each; save it where no thread trains");
        }
    }

    void save_gradient(entry& each, const at::Tensor& parameter) {
        if (!each.autograd_hook) {
            if (const at::Tensor& gradient = parameter.grad(); gradient.defined()) {
                save(each.gradient, gradient);
            }
            return;
        }
        const come_gradient come = std::exchange(each.come, {});
        if (come.step != door_.hook().step()) {
            return;  // none came, or that of a step that was abandoned
        }
        if (come.numbers) {
            door_.save_numbers(each.gradient.name, come.extents, *come.numbers);
        } else if (come.far) {
            pending_.push_back({each.gradient.name, come.extents, *come.far, come.step});
        } else {
            save(each.gradient, come.values);
        }
    }

    // On the thread of the backward pass.  An exception here would end that: step() throws it.
    void gradient_came(std::size_t at, const at::Tensor& gradient) noexcept {
        try {
            const std::scoped_lock lock{guard_};
            try {
                take_gradient(entries_[at], gradient);
            } catch (...) {
                failed_ = failed_ ? failed_ : std::current_exception();
            }
        } catch (...) {  // no lock: the gradient is missing, the training is not
        }
    }

    void take_gradient(entry& each, const at::Tensor& gradient) {
        if (!door_.is_open() || !door_.anything_due() || !due(each.gradient) ||
            !can_be_saved(each.gradient, gradient)) {
            return;
        }
        each.come = {.step = door_.hook().step()};
        const auto due_alone = door_.numbers_alone(each.gradient.name);
        if (!due_alone) {
            each.come.values = gradient;
            return;
        }
        each.come.extents = shape_of_torch(gradient);
        if (is_far_(gradient)) {
            each.come.far = far_.add(gradient, *due_alone);
        } else {
            const tensor_adapter<at::Tensor> adapter{gradient, each.gradient.name};
            each.come.numbers = door_.compute(adapter.view(), *due_alone);
        }
    }

    // Fetches what was computed on devices in this step, and saves it.
    void save_numbers() {
        if (far_.empty()) {
            return;
        }
        const std::vector<pending_numbers> pending = std::exchange(pending_, {});
        const std::vector<tensor_numbers> numbers = far_.fetch();
        for (const pending_numbers& each : pending) {
            if (each.step == door_.hook().step()) {
                door_.save_numbers(each.name, each.extents, numbers[each.far]);
            }
        }
    }

    void forget_numbers() noexcept {
        far_.clear();
        pending_.clear();
        for (entry& each : entries_) {
            each.come = {};
        }
    }

    void say_once(const std::string& sentence) {
        if (std::find(said_.begin(), said_.end(), sentence) == said_.end()) {
            said_.push_back(sentence);
            door_.say(sentence);
        }
    }

    hook_door door_;
    torch_watch_options options_;
    far_test is_far_;
    std::mutex guard_;  // of what follows: gradients come on autograd's threads
    std::vector<entry> entries_;
    std::unordered_map<const torch::nn::Module*, std::string> names_of_modules_;
    device_numbers far_;
    std::vector<pending_numbers> pending_;
    std::shared_ptr<std::atomic<std::size_t>> under_way_ = std::make_shared<std::atomic<std::size_t>>(0);
    std::exception_ptr failed_;
    std::vector<std::string> said_;
};

template <class Watched>
[[nodiscard]] auto& module_in(Watched& module) noexcept {
    if constexpr (std::is_base_of_v<torch::nn::Module, std::remove_const_t<Watched>>) {
        return module;
    } else {
        return *module;  // a ModuleHolder, such as torch::nn::Linear, or a std::shared_ptr
    }
}

}  // namespace detail

/// Saves the weights, biases and gradients of a module at the steps at which the hook wants them, under the names that
/// the Python package gives them: "Sequential_0.weight", "gradient/Sequential_0.weight".
/// ```
/// smd::torch_watch watch{hook, net};
/// for (...) {
///     ...; loss.backward();
///     watch.step();        // between backward() and the optimizer's step: weights as the forward pass had them
///     optimizer.step();
///     hook.end_step();
/// }
/// ```
/// A parameter that the module has several times, or that another watch of the hook has, is saved once.  Modules and
/// parameters that are registered later are not seen: make the watch when the module is complete.
///
/// What cannot be saved costs a sentence and nothing else: a sparse gradient, a tensor that another thread changes
/// while it is saved, a module that was destroyed, are each reported once, to the hook's on_note or else on standard
/// error; the other tensors are saved.
/// Errors:  of the constructor: value_error where another watch of this hook saves another tensor under one of the
///          names.  Of step(): what the hook throws, also in the backward pass; value_error if the hook was destroyed;
///          unsupported in a forked child.  An exception of the training's own in its backward pass: call
///          hook.abandon_step(), and the gradients that came are dropped.
/// Threads: as a hook; gradients that come on autograd's threads are locked.
/// Borrows: the hook.  Of the module only weak references to its tensors are kept.
/// Cost:    some nanoseconds a step at which nothing is due.  On devices, numbers are queued and fetched by one
///          transfer at step(), which waits for the device; values go to pinned memory and from there to the file
///          without a wait, if the hook has a background and nothing else needs them.
class torch_watch {
public:
    /// `module`: a torch::nn::Module, or what holds one, such as torch::nn::Linear or a std::shared_ptr.
    template <class Watched>
    torch_watch(hook_base& saves, const Watched& module, torch_watch_options options = {},
                detail::torch_watcher::far_test is_far = detail::lies_far)
        : watcher_(
              std::make_shared<detail::torch_watcher>(saves, detail::module_in(module), std::move(options), is_far)) {
        try {
            watcher_->begin(detail::module_in(module));
        } catch (...) {
            watcher_->let_go();
            throw;
        }
    }
    torch_watch(const torch_watch&) = delete;
    torch_watch& operator=(const torch_watch&) = delete;
    ~torch_watch() { watcher_->let_go(); }

    /// Saves what is due in the hook's current step, which hook.end_step() ends.
    void step() { watcher_->step(); }

    /// Calls module.forward(inputs...), and saves inputs and outputs where they are due: "fc1_input_0",
    /// "fc1_output_0" for a part of the watched module, "Sequential_output_0" for that itself,
    /// "CrossEntropyLoss_output_0" for a module that is no part of it.  Of a torch::nn::Sequential also those of its
    /// members.  libtorch has no forward hooks: what a module calls in its own forward() is not seen; call this there.
    template <class Watched, class... Inputs>
    auto forward(Watched&& module, Inputs&&... inputs) {
        auto& called = detail::module_in(module);
        using called_type = std::remove_cvref_t<decltype(called)>;
        if (!watcher_->anything_due()) {
            return called.forward(std::forward<Inputs>(inputs)...);
        }
        const std::string name = watcher_->name_of(called);
        std::size_t number = 0;
        (save_all(name + "_input_", number, inputs), ...);
        if constexpr (std::is_base_of_v<torch::nn::SequentialImpl, called_type>) {
            return saved_output(name, forward_members(called, inputs...));
        } else {
            return saved_output(name, called.forward(std::forward<Inputs>(inputs)...));
        }
    }

private:
    template <class... Inputs>
    [[nodiscard]] at::Tensor forward_members(torch::nn::SequentialImpl& members, const Inputs&... inputs) {
        at::Tensor output;
        bool is_first = true;
        for (torch::nn::AnyModule& member : members) {
            const std::string name = watcher_->name_of(*member.ptr());
            std::size_t number = 0;
            if (std::exchange(is_first, false)) {
                (save_all(name + "_input_", number, inputs), ...);
                output = saved_output(name, member.forward(inputs...));
            } else {
                save_all(name + "_input_", number, output);
                output = saved_output(name, member.forward(output));
            }
        }
        return output;
    }

    template <class Output>
    [[nodiscard]] Output saved_output(const std::string& name, Output output) {
        std::size_t number = 0;
        save_all(name + "_output_", number, output);
        return output;
    }

    // The tensors in a value, numbered: of tuples and lists each.
    template <class Value>
    void save_all(const std::string& name, std::size_t& number, const Value& value) {
        if constexpr (std::is_same_v<Value, at::Tensor>) {
            if (value.defined()) {
                watcher_->save_named(name + std::to_string(number), value);
            }
            ++number;
        } else if constexpr (requires { std::tuple_size<Value>::value; }) {
            std::apply([&](const auto&... each) { (save_all(name, number, each), ...); }, value);
        } else if constexpr (std::is_same_v<Value, std::vector<at::Tensor>>) {
            for (const at::Tensor& each : value) {
                save_all(name, number, each);
            }
        }
    }

    std::shared_ptr<detail::torch_watcher> watcher_;
};

}  // namespace smdebug::inline v1
