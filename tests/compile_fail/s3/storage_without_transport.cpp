// A storage over something that carries no requests.
// expect: no matching
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/s3/s3_storage.hpp>

#include <memory>

struct no_transport {};

#ifdef CONTROL
using transport = smdebug::curl_transport;
#else
using transport = no_transport;
#endif

smdebug::s3_storage open() { return smdebug::s3_storage("s3://bucket", {}, std::make_shared<transport>()); }
