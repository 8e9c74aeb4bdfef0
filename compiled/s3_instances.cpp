// The instantiation of s3_storage that files in the compiled form find in the library.
#include <smdebug/own_s3_policies.hpp>

#include <smdebug/s3/s3_storage.hpp>

namespace smdebug {
inline namespace v1 {

template class s3::detail::client<curl_transport, s3_credentials<curl_transport>>;
template class s3::detail::multipart_upload<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
template class detail::s3_output<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
template class s3_storage<>;

}  // namespace v1
}  // namespace smdebug
