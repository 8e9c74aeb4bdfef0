// A follower without a way to make it list everything again.
// expect: key_follower
#include <smdebug/storage/concepts.hpp>

#include <string>
#include <vector>

struct follower_without_forget {
    std::vector<std::string> next();
#ifdef CONTROL
    void forget();
#endif
};

void follow(smdebug::key_follower auto& follower);

void use(follower_without_forget& follower) { follow(follower); }
