// A storage whose keys come from something that gives none: keys themselves.
// expect: no matching
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/s3/s3_storage.hpp>

#include <memory>

#ifdef CONTROL
using credentials = smdebug::anonymous_credentials;
#else
using credentials = smdebug::s3::access_keys;
#endif

smdebug::s3_storage open(std::shared_ptr<const smdebug::curl_transport> over) {
    return smdebug::s3_storage("s3://bucket", {}, over, std::make_shared<credentials>());
}
