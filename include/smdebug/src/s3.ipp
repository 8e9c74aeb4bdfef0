// A part of <smdebug/s3_src.hpp>: the bodies of S3 and HTTP.
#pragma once

#include <smdebug/actions/impl/post_finding.ipp>
#include <smdebug/http/impl/curl_easy.ipp>
#include <smdebug/http/impl/curl_engine.ipp>
#include <smdebug/http/impl/curl_multi.ipp>
#include <smdebug/http/impl/curl_transfer.ipp>
#include <smdebug/http/impl/curl_transport.ipp>
#include <smdebug/http/impl/inbox.ipp>
#include <smdebug/http/impl/message.ipp>
#include <smdebug/http/impl/response_builder.ipp>
#include <smdebug/s3/call/impl/back_off.ipp>
#include <smdebug/s3/call/impl/call_window.ipp>
#include <smdebug/s3/call/impl/content_range.ipp>
#include <smdebug/s3/call/impl/digest.ipp>
#include <smdebug/s3/call/impl/endpoint.ipp>
#include <smdebug/s3/call/impl/error_answer.ipp>
#include <smdebug/s3/call/impl/http_date.ipp>
#include <smdebug/s3/call/impl/percent_encoding.ipp>
#include <smdebug/s3/call/impl/same_service.ipp>
#include <smdebug/s3/call/impl/signature.ipp>
#include <smdebug/s3/call/impl/verdict.ipp>
#include <smdebug/s3/call/impl/xml_document.ipp>
#include <smdebug/s3/credentials/impl/aws_settings.ipp>
#include <smdebug/s3/credentials/impl/configured_keys.ipp>
#include <smdebug/s3/credentials/impl/container_keys.ipp>
#include <smdebug/s3/credentials/impl/environment.ipp>
#include <smdebug/s3/credentials/impl/instance_keys.ipp>
#include <smdebug/s3/credentials/impl/iso_time.ipp>
#include <smdebug/s3/credentials/impl/keys_answer.ipp>
#include <smdebug/s3/credentials/impl/metadata_exchange.ipp>
#include <smdebug/s3/credentials/impl/profile.ipp>
#include <smdebug/s3/credentials/impl/profile_file.ipp>
#include <smdebug/s3/credentials/impl/refreshed_keys.ipp>
#include <smdebug/s3/impl/credentials.ipp>
#include <smdebug/s3/impl/location.ipp>
#include <smdebug/s3/impl/opened.ipp>
#include <smdebug/s3/object/impl/failure.ipp>
#include <smdebug/s3/object/impl/list_page.ipp>
#include <smdebug/s3/object/impl/listing.ipp>
#include <smdebug/s3/object/impl/object_checksum.ipp>
#include <smdebug/s3/object/impl/upload_answer.ipp>
#include <smdebug/s3/s3_storage.hpp>

namespace smdebug {
inline namespace v1 {

template class s3::detail::client<curl_transport, s3_credentials<curl_transport>>;
template class s3::detail::multipart_upload<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
template class detail::s3_output<s3::detail::client<curl_transport, s3_credentials<curl_transport>>>;
template class s3_storage<>;

}  // namespace v1
}  // namespace smdebug
