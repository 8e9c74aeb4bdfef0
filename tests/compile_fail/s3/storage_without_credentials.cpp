// A storage whose keys come from something that gives none: keys themselves.
// expect: credentials_provider
#include <smdebug/s3/s3_storage.hpp>

#ifdef CONTROL
using credentials = smdebug::static_credentials;
#else
using credentials = smdebug::s3::access_keys;
#endif

void open(const smdebug::s3_storage<smdebug::curl_transport, credentials>& store);
