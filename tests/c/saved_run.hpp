// Handles that are freed, and a small run, for the tests of the interface for C.
#pragma once

#include <smdebug/smdebug.h>

#include <support/temporary_folder.hpp>
#include "support/test.hpp"

namespace smdebug_test {

struct handle_end {
    void operator()(void* handle) const { smd_free(handle); }
};
using owned_hook = std::unique_ptr<smd_hook, handle_end>;
using owned_run = std::unique_ptr<smd_run, handle_end>;

/// Calls succeed.
inline void ok(smd_status status, const void* handle = nullptr) {
    INFO(smd_status_name(status), ": ", smd_message(handle));
    REQUIRE(status == SMD_OK);
}

/// Checks that a call on a handle failed with a status, and that its words contain some.
struct refusal {
    const void* handle;

    void operator()(smd_status status, const std::string& words, smd_status wanted = SMD_VALUE_ERROR) const {
        const std::string said = smd_message(handle);
        INFO(said, " (", smd_status_name(status), ")");
        CHECK(status == wanted);
        CHECK(said.find(words) != std::string::npos);
    }
};

inline std::string options_text(const std::string& folder, const std::string& parameters) {
    return R"({"LocalPath": ")" + folder + R"(", "HookParameters": {)" + parameters + "}}";
}

inline owned_hook made_hook(const std::string& folder,
                            const std::string& parameters = R"("save_interval": 1, "save_all": true)") {
    smd_hook* made = nullptr;
    ok(smd_hook_open(options_text(folder, parameters).c_str(), &made), made);
    return owned_hook{made};
}

inline owned_run opened_run(const std::string& folder) {
    smd_run* made = nullptr;
    ok(smd_run_open(folder.c_str(), &made), made);
    return owned_run{made};
}

inline constexpr std::array<std::int64_t, 2> two_by_three{2, 3};

/// Saves "w", float32 of 2 x 3: {first, 1, 2, 3, 4, 5}.
inline smd_status save_w(smd_hook* hook, float first = 0, int* saved = nullptr) {
    const std::array<float, 6> w{first, 1, 2, 3, 4, 5};
    return smd_hook_save(hook, "w", SMD_FLOAT32, 2, two_by_three.data(), nullptr, w.data(), saved);
}

/// Four steps: "w" begins with the step's number, but for a NaN at step 2; "n" is that number, int64, 0-d.
inline void save_run(const std::string& folder) {
    const owned_hook hook = made_hook(folder);
    for (std::int64_t step = 0; step < 4; ++step) {
        ok(save_w(hook.get(), step == 2 ? NAN : static_cast<float>(step)));
        ok(smd_hook_save(hook.get(), "n", SMD_INT64, 0, nullptr, nullptr, &step, nullptr));
        ok(smd_hook_end_step(hook.get()));
    }
    ok(smd_hook_close(hook.get()));
}

}  // namespace smdebug_test
