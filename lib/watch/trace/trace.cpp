#include "lib/watch/trace/trace.hpp"

#include <utility>

namespace sluice {
namespace {

// False: all packets of the rule have one bucket.
bool has_key(const LoadedRule& rule) {
    return !rule.keys.empty() && !rule.keys.front().empty();
}

}  // namespace

Trace::Trace(TraceTerms terms, std::optional<LoadedRules> condition, std::size_t workers)
    : terms_{std::move(terms)}, condition_{std::move(condition)} {
    const std::vector<LoadedRule>* const draft =
        terms_.preview && condition_ ? &condition_->set().rules : nullptr;
    if (draft != nullptr && !draft->empty() && !draft->front().keys.empty()) {
        preview_key_ = make_key_schema(draft->front().keys.front(), draft->front().missing_key);
    }
    for (std::size_t i = 0; i < workers; ++i) {
        ends_.push_back(std::make_unique<End>(terms_.preview ? 1 : TraceTap::kRingSize));
        if (draft != nullptr && !draft->empty()) {
            ends_.back()->preview = std::make_unique<PreviewTap>(has_key(draft->front()));
        }
    }
}

std::uint64_t Trace::left_out() const noexcept {
    std::uint64_t sum = 0;
    for (const std::unique_ptr<End>& end : ends_) {
        sum += end->tap.left_out();
    }
    return sum;
}

std::uint32_t rule_called(const std::string& id, const LoadedSet& set) noexcept {
    for (std::size_t i = 0; i < set.rules.size(); ++i) {
        if (set.rules[i].id == id && !set.rules[i].candidate) {
            return static_cast<std::uint32_t>(i);
        }
    }
    return kNoRule;
}

std::vector<ActiveTrace> under(const std::vector<std::shared_ptr<Trace>>& traces,
                               const LoadedSet& set) {
    std::vector<ActiveTrace> active;
    active.reserve(traces.size());
    for (const std::shared_ptr<Trace>& trace : traces) {
        active.push_back({trace, rule_called(trace->terms().rule, set),
                          rule_called(trace->terms().behind, set)});
    }
    return active;
}

}  // namespace sluice
