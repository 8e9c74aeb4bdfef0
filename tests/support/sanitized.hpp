// Whether a sanitizer is active: a test then does less, and does not replace new and delete.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SMDEBUG_TEST_SANITIZED
#endif
#ifdef __SANITIZE_THREAD__
#define SMDEBUG_TEST_THREADS_SANITIZED
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SMDEBUG_TEST_SANITIZED
#endif
#if __has_feature(thread_sanitizer)
#define SMDEBUG_TEST_THREADS_SANITIZED
#endif
#endif

namespace smdebug_test {

/// Whether processes run some ten times slower.
#ifdef SMDEBUG_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Whether only ThreadSanitizer is active: long test cases with one thread are left to the other sanitizers.
///     TEST_CASE("..." * doctest::skip(threads_sanitized)) {
#ifdef SMDEBUG_TEST_THREADS_SANITIZED
inline constexpr bool threads_sanitized = true;
#else
inline constexpr bool threads_sanitized = false;
#endif

}  // namespace smdebug_test
