#include <smdebug/storage/open_storage.hpp>

#include <string>

std::string opened(const std::string& path);

std::string opened(const std::string& path) { return smdebug::open_storage(path).name(); }
