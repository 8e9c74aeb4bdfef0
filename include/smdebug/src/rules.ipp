// A part of <smdebug/src.hpp>: the bodies of rules and the registry.
#pragma once

#include <smdebug/learn/facts/impl/all_facts.ipp>
#include <smdebug/learn/facts/impl/entry.ipp>
#include <smdebug/learn/facts/impl/facts_json.ipp>
#include <smdebug/learn/facts/impl/series.ipp>
#include <smdebug/learn/impl/learned_facts.ipp>
#include <smdebug/learn/look/impl/run_learner.ipp>
#include <smdebug/learn/look/impl/save_look.ipp>
#include <smdebug/registry/impl/configure.ipp>
#include <smdebug/registry/impl/rule_registry.ipp>
#include <smdebug/rules/built_in/impl/class_imbalance.ipp>
#include <smdebug/rules/built_in/impl/expert_imbalance.ipp>
#include <smdebug/rules/built_in/impl/gradient_spike.ipp>
#include <smdebug/rules/built_in/impl/learned.ipp>
#include <smdebug/rules/built_in/impl/poor_weight_initialization.ipp>
#include <smdebug/rules/built_in/impl/replica_mismatch.ipp>
#include <smdebug/rules/drive/impl/rule_drive.ipp>
#include <smdebug/rules/impl/any_rule.ipp>
#include <smdebug/rules/impl/rule_result.ipp>
#include <smdebug/rules/impl/setting.ipp>
#include <smdebug/rules/judge/impl/closeness.ipp>
#include <smdebug/rules/judge/impl/history.ipp>
#include <smdebug/rules/judge/impl/learned_judge.ipp>
#include <smdebug/rules/judge/impl/loss_values.ipp>
#include <smdebug/rules/judge/impl/saved_tensor.ipp>
#include <smdebug/rules/judge/impl/shared_runs.ipp>
