// The bodies of <smdebug/actions/post_finding.hpp> that are templates.
#pragma once

#include <smdebug/actions/post_finding.hpp>

namespace smdebug {
inline namespace v1 {
namespace actions {

template <http_transport Transport>
post_result webhook<Transport>::operator()(const finding& one) const {
    post_result result = post_finding(transport, url, run, one, how);
    if (on_result) {
        on_result(result);
    }
    return result;
}

template <http_transport Transport>
post_result webhook<Transport>::operator()(std::string_view rule, finding one) const {
    one.rule = rule;
    return (*this)(one);
}

}  // namespace actions
}  // namespace v1
}  // namespace smdebug
