#include "control/daemon/api/owed_counter.hpp"

#include "control/daemon/api/live_pages.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/own_bucket.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

const AnyLimit* find_numbers(const RuleSet& set, const std::string& id, const std::string& name) {
    for (const Rule& rule : set.rules) {
        for (const MeteredLimit& limit : rule.limits) {
            if (rule.id == id && limit.name == name) {
                return &limit.limit;
            }
        }
    }
    return nullptr;
}

// Connections that are open stay open, under any numbers, and values that count go on passing.
std::optional<CountOwed> question_of(const AnyLimit* numbers) {
    if (numbers == nullptr) {
        return std::nullopt;
    }
    const Algorithm algorithm = algorithm_of(*numbers);
    if (algorithm == Algorithm::Concurrency || algorithm == Algorithm::Distinct) {
        return std::nullopt;
    }
    CountOwed ask{.most = most_of(*numbers).count()};
    if (const Limit* gcra = gcra_of(*numbers)) {
        ask.rate_units = gcra->parts();
        ask.rate_ns = gcra->period();
    }
    return ask;
}

}  // namespace

Json OwedCounter::count(const std::string& rule, const std::string& limit) {
    std::optional<CountOwed> ask = question_of(find_numbers(next_, rule, limit));
    if (!ask) {
        return nullptr;
    }
    ask->generation = generation_;
    ask->rule = rule;
    ask->limit = limit;
    OwedKeys all;
    for (; reads_left_ > 0 && !all.ends; --reads_left_) {
        const Result<OwedKeys> part = ask_for<OwedKeys>(services_.link, *ask);
        if (!part) {
            known_ = false;
            return nullptr;
        }
        all.keys += part->keys;
        all.longest_ns = std::max(all.longest_ns, part->longest_ns);
        all.ends = part->ends;
        ask->worker = part->worker;
        ask->position = part->position;
    }
    return {{"keys", all.keys}, {"seconds", seconds_of(all.longest_ns)}, {"whole", all.ends}};
}

}  // namespace sluice
