// A part of <smdebug/s3_src.hpp>: the bodies of S3 and HTTP.
#pragma once

#include <smdebug/http/impl/curl_engine.ipp>
#include <smdebug/http/impl/curl_transfer.ipp>
#include <smdebug/http/impl/curl_transport.ipp>
#include <smdebug/http/impl/message.ipp>
#include <smdebug/s3/call/impl/call.ipp>
#include <smdebug/s3/call/impl/client.ipp>
#include <smdebug/s3/call/impl/endpoint.ipp>
#include <smdebug/s3/call/impl/request_pipeline.ipp>
#include <smdebug/s3/call/impl/retry_decision.ipp>
#include <smdebug/s3/call/impl/signature.ipp>
#include <smdebug/s3/credentials/impl/profile.ipp>
#include <smdebug/s3/impl/s3_storage.ipp>
#include <smdebug/s3/object/impl/multipart_upload.ipp>
