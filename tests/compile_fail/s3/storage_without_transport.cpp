// A storage over something that carries no requests.
// expect: http_transport
#include <smdebug/s3/s3_storage.hpp>

struct no_transport {};

#ifdef CONTROL
using transport = smdebug::curl_transport;
#else
using transport = no_transport;
#endif

void open(const smdebug::s3_storage<transport, smdebug::anonymous_credentials>& store);
