// The instantiations that files in the compiled form find in the library, of the templates whose bodies they do not see.
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/impl/event_decoder.tpp>
#include <smdebug/trial/basic_trial.hpp>

#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {

template result<std::vector<double>> quantiles<>(const tensor_view&, std::span<const double>, quantile_options);

template class detail::basic_folder_follower<>;

template trial::trial(local_storage, trial_options, event_decoder<>, default_kernel);
template trial::trial(memory_storage, trial_options, event_decoder<>, default_kernel);

template class event_decoder<crc_check::full>;
template class event_decoder<crc_check::length_only>;
template class event_decoder<crc_check::none>;

}  // namespace v1
}  // namespace smdebug
