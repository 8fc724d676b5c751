#pragma once
#include "lib/base/result.hpp"
#include "lib/match/text_scratch.hpp"
#include "lib/rules/load/environment.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/load/origins.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// A rule set and all that workers need besides to judge by it. Made in one call, and never changed
// afterwards; a changed rule set is a new object.
class LoadedRules {
public:
    // No rules: every packet passes.
    LoadedRules();
    // Refused where its countries and ASNs, its slots or its texts have no room, or where numbers
    // have changed again so soon that a slot has no version left for them. What `environment` names
    // is only read, so a refusal changes nothing.
    [[nodiscard]] static Result<LoadedRules> make(RuleSet rules, const Environment& environment);
    // The same rules in another environment, which they are the rules before of: once their keys
    // have moved, or under another merge interval.
    [[nodiscard]] Result<LoadedRules> again(Environment environment) const;

    LoadedRules(LoadedRules&&) noexcept = default;
    LoadedRules& operator=(LoadedRules&&) noexcept = default;
    LoadedRules(const LoadedRules&) = delete;
    LoadedRules& operator=(const LoadedRules&) = delete;
    ~LoadedRules() = default;

    // The rule set that crossed the wire.
    [[nodiscard]] const RuleSet& rules() const noexcept { return *rules_; }
    // The set that the stages read; it stays where it is, also when this object is moved.
    [[nodiscard]] const LoadedSet& set() const noexcept { return *set_; }
    [[nodiscard]] const LimitSlots& slots() const noexcept { return slots_; }
    [[nodiscard]] const RuleRows& rows() const noexcept { return rows_; }
    // The interval of merging limits that workers share.
    [[nodiscard]] Nanoseconds merge_interval() const noexcept { return merge_interval_; }
    // One worker's scratch memory for texts; nullptr: there is no such worker.
    [[nodiscard]] TextScratch* texts(std::size_t worker) const noexcept {
        return worker < texts_.size() ? texts_[worker].get() : nullptr;
    }

private:
    explicit LoadedRules(std::shared_ptr<const RuleSet> rules);
    [[nodiscard]] static Result<LoadedRules> load(std::shared_ptr<const RuleSet> rules,
                                                  const Environment& environment);
    void carry_over(const Environment& environment);
    [[nodiscard]] Result<Done> derive(const Environment& environment);
    [[nodiscard]] Result<Done> make_texts(std::size_t workers);

    std::shared_ptr<const RuleSet> rules_;
    std::unique_ptr<LoadedSet> set_;
    MappedOrigins origins_;
    LimitSlots slots_;
    RuleRows rows_;
    HashSecret secret_{};  // that the override tables are made under
    Nanoseconds merge_interval_{};
    std::vector<std::unique_ptr<TextScratch>> texts_;  // by worker
};

}  // namespace sluice
