// The everyday parts in one include: trials, tensors, rules and the built-in ones, errors, guards, hooks.
// docs/README.md names the headers of the other parts, and those that need more packages: <smdebug/s3.hpp>,
// <smdebug/archive.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/xtensor.hpp>
