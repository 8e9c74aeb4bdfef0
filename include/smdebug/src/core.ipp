// A part of <smdebug/src.hpp>: the bodies of bytes, records, messages, elements, reductions, index files, actions.
#pragma once

#include <smdebug/actions/impl/run_command.ipp>
#include <smdebug/actions/impl/status_file.ipp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/impl/error.ipp>
#include <smdebug/core/impl/json_document.ipp>
#include <smdebug/core/impl/json_text.ipp>
#include <smdebug/core/impl/printable_text.ipp>
#include <smdebug/index/impl/collections_file.ipp>
#include <smdebug/index/impl/index_file.ipp>
#include <smdebug/index/impl/locations.ipp>
#include <smdebug/index/impl/regex.ipp>
#include <smdebug/record/impl/payload_check.ipp>
#include <smdebug/reduce/impl/allclose.ipp>
#include <smdebug/reduce/impl/element_differences.ipp>
#include <smdebug/reduce/impl/element_walks.ipp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/s3/impl/credentials.ipp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/impl/event_decoder.ipp>
#include <smdebug/tensor/impl/event_decoder.tpp>
#include <smdebug/tensor/impl/proto_decoder.ipp>
#include <smdebug/tensor/impl/tensor_value.ipp>

#include <span>
#include <vector>

namespace smdebug::inline v1 {

#ifdef _GLIBCXX_DEBUG
const int detail::compiled_form_built_with_GLIBCXX_DEBUG = 1;
#else
const int detail::compiled_form_built_without_GLIBCXX_DEBUG = 1;
#endif
constinit thread_local int detail::header_only_files_do_not_link_with_those_that_use_smdebug_compiled = 0;

template result<std::vector<double>> quantiles<>(const tensor_view&, std::span<const double>, quantile_options);

template class event_decoder<crc_check::full>;
template class event_decoder<crc_check::length_only>;
template class event_decoder<crc_check::none>;

}  // namespace smdebug::inline v1
