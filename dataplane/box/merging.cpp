#include "dataplane/box/rule_publisher.hpp"
#include "lib/base/log.hpp"

#include <chrono>

// How often workers that share limits tell each other, while they run.
namespace sluice {
namespace {

using std::chrono::microseconds;

constexpr Nanoseconds kShortest = microseconds{10};
constexpr Nanoseconds kLongest = std::chrono::seconds{1};

// The first merged limit of `running` that is none in `next`; empty: all still are.
std::string lost_in(const LoadedSet& running, const LoadedSet& next) {
    for (std::size_t i = 0; i < running.rules.size(); ++i) {
        const LoadedRule& rule = running.rules[i];
        for (std::size_t k = 0; k < rule.limits.size(); ++k) {
            if (rule.limits[k].shared != 0 && next.rules[i].limits[k].shared == 0) {
                return "limit " + rule.limits[k].name + " of rule " + rule.id;
            }
        }
    }
    return {};
}

}  // namespace

// How far workers may go ahead of each other follows from it, so the limits are shared anew and
// published like a rule set. A limit that would not be merged any more would be as many limits as
// there are workers: whoever wants that says it in the rules.
Reply RulePublisher::set_merge_interval(const SetMergeInterval& request) {
    const Nanoseconds interval{
        static_cast<std::int64_t>(std::min<std::uint64_t>(request.interval_ns, INT64_MAX))};
    if (interval < kShortest || interval > kLongest ||
        interval % microseconds{1} != Nanoseconds{0}) {
        return Failure{"a merge interval is from 10us to 1s, in whole us"};
    }
    Environment environment = this->environment();
    environment.sharers.merge_interval = interval;
    Result<LoadedRules> next = loaded_->again(environment);
    if (!next) {
        return Failure{next.error().what};
    }
    if (const std::string lost = lost_in(loaded_->set(), next->set()); !lost.empty()) {
        return Failure{
            lost +
            " could not be merged any more: (workers - 1) * max_unsynced would be over half "
            "of its burst; nothing has changed"};
    }
    if (const Result<Done> kept = state_.keep(next->slots()); !kept) {
        return Failure{kept.error().what};
    }
    merge_interval_ = interval;
    adopt(*std::move(next));
    log_info("amounts are merged at the latest after " +
             std::to_string(interval / microseconds{1}) + " us");
    return MergeIntervalSet{request.interval_ns, loaded_->set().shared_limits};
}

}  // namespace sluice
