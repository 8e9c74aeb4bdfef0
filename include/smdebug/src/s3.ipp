// A part of <smdebug/s3_src.hpp>: the bodies of S3 and HTTP.
#pragma once

#include <smdebug/http/impl/curl_engine.ipp>
#include <smdebug/http/impl/curl_transfer.ipp>
#include <smdebug/http/impl/message.ipp>
#include <smdebug/s3/call/impl/call.ipp>
#include <smdebug/s3/call/impl/digest.ipp>
#include <smdebug/s3/call/impl/endpoint.ipp>
#include <smdebug/s3/call/impl/retry_decision.ipp>
#include <smdebug/s3/call/impl/signature.ipp>
#include <smdebug/s3/credentials/impl/keys_answer.ipp>
#include <smdebug/s3/credentials/impl/metadata_exchange.ipp>
#include <smdebug/s3/credentials/impl/profile.ipp>
#include <smdebug/s3/impl/opened.ipp>
#include <smdebug/s3/object/impl/failure.ipp>
#include <smdebug/s3/s3_storage.hpp>

namespace smdebug::inline v1 {

template class s3::detail::client<curl_transport, s3_credentials<curl_transport>>;
template class s3::detail::multipart_upload<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
template class detail::s3_output<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
template class s3_storage<>;

}  // namespace smdebug::inline v1
