// A kernel of your own: what computes the reductions.
// This one lets the library's scalar kernel compute and measures how long it takes; a kernel for a GPU would have the
// same two calls.
// Usage: custom_kernel RUN
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/smdebug.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

namespace smd = smdebug;

class timed_kernel {
public:
    // Computes at least the reductions in `wanted`, says in the answer's `computed` which ones it has, and gives
    // status::unsupported for dtypes that have none.  Const calls may run on many threads: hence the atomics.
    [[nodiscard]] smd::result<smd::reduction_values> reduce(const smd::tensor_view& tensor,
                                                            smd::reduction_set wanted) const {
        const auto start = std::chrono::steady_clock::now();
        auto values = inner_.reduce(tensor, wanted);
        const auto taken = std::chrono::steady_clock::now() - start;
        seen_->nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
        seen_->elements += tensor.count();
        return values;
    }

    [[nodiscard]] std::string name() const { return "timed(" + inner_.name() + ")"; }

    [[nodiscard]] std::int64_t nanoseconds() const noexcept { return seen_->nanoseconds; }
    [[nodiscard]] std::uint64_t elements() const noexcept { return seen_->elements; }

private:
    struct counters {
        std::atomic<std::int64_t> nanoseconds{0};
        std::atomic<std::uint64_t> elements{0};
    };
    smd::scalar_kernel inner_;
    std::shared_ptr<counters> seen_ = std::make_shared<counters>();  // copies of a kernel count together
};
static_assert(smd::reduction_kernel<timed_kernel>);

using timed_trial = smd::basic_trial<smd::local_storage, smd::event_decoder<>, timed_kernel>;

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: custom_kernel RUN\n";
        return 2;
    }
    try {
        const timed_kernel kernel;
        const timed_trial trial{smd::local_storage{arguments[1]}, {}, {}, kernel};
        const smd::local_trial reference{arguments[1]};  // with the library's SIMD kernel
        std::size_t compared = 0;
        std::size_t different = 0;
        for (const std::string& name : trial.tensor_names()) {
            for (const smd::step_number step : trial.tensor(name).steps()) {
                const auto mine = trial.tensor(name).find_reduction(step, smd::reduction::l2);
                const auto theirs = reference.tensor(name).find_reduction(step, smd::reduction::l2);
                compared += mine && theirs ? 1U : 0U;
                different += mine && theirs && !(*mine == *theirs) ? 1U : 0U;
            }
        }
        std::cout << kernel.name() << ": " << compared << " l2 norms of " << kernel.elements() << " elements in "
                  << kernel.nanoseconds() << " ns, " << different << " differ from the SIMD kernel's\n";
        return compared > 0 && kernel.elements() > 0 && different == 0 ? 0 : 1;
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
        return 1;
    }
}
