#include "control/daemon/trace_condition.hpp"

#include "control/daemon/rule_compile.hpp"

#include <mutex>

namespace sluice {
namespace {

struct ConditionCompiler {
    std::mutex mutex;
    PatternCache patterns;
};
ConditionCompiler& condition_compiler() {
    static ConditionCompiler one;
    return one;
}

}  // namespace

LoneCondition compile_condition(const std::string& when, const RssMapping& box) {
    ConditionCompiler& with = condition_compiler();
    const std::lock_guard lock{with.mutex};
    return compile_lone_condition(when, box, &with.patterns, compile_stop().get_token());
}

}  // namespace sluice
