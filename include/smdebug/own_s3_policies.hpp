// For files that use S3 with transports or credentials of their own, in the compiled form: the bodies of the templates
// that the library instantiates for its own only.  Header-only it changes nothing.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/s3_storage.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/bounded_calls.tpp>
#include <smdebug/s3/call/impl/call_window.tpp>
#include <smdebug/s3/call/impl/client.tpp>
#include <smdebug/s3/credentials/impl/default_credentials.tpp>
#include <smdebug/s3/credentials/impl/instance_keys.tpp>
#include <smdebug/s3/credentials/impl/s3_credentials.tpp>
#include <smdebug/s3/impl/s3_storage.tpp>
#include <smdebug/s3/object/impl/multipart_upload.tpp>
#include <smdebug/s3/object/impl/object_reader.tpp>
#include <smdebug/s3/object/impl/s3_output.tpp>

namespace smdebug {
inline namespace v1 {

// What the library has is not made again.
extern template class s3::detail::client<curl_transport, s3_credentials<curl_transport>>;
extern template class s3::detail::multipart_upload<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
extern template class detail::s3_output<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
extern template class s3_storage<>;

}  // namespace v1
}  // namespace smdebug
#endif
