#pragma once
#include "lib/engine/check/inherited_debt.hpp"
#include "lib/engine/check/own_numbers.hpp"
#include "lib/engine/check/wider_keys.hpp"

#include <cstdint>

namespace sluice {

// A place for the bucket of a key that has none:
//
//   a new entry                    starts with no more than its parents have left
//   a parent, nearest first        when there is no place, and the rule coarsens
//   the bucket of the whole rule
//
// Afterwards the check has the entry, which is held, and the numbers it is written under. Each
// function says whether a place was found.
class BucketAllocator {
public:
    BucketAllocator(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                    const CheckContext& context) noexcept;

    // A new entry, or what the rule coarsens to.
    bool run() noexcept;
    // At this aggregation level or nowhere.
    bool at_level(std::uint8_t aggregation_level) noexcept;
    // A bucket of a network, or of the rule; counted.
    bool parent() noexcept;

private:
    [[nodiscard]] bool share_is_used_up() const noexcept;
    [[nodiscard]] bool group_share_is_used_up() const noexcept;
    bool new_entry() noexcept;
    bool bring_under_own(Entry& entry, const OwnNumbers& own) noexcept;
    bool open(Cell& cell, const AnyLimit& numbers, const TableKey& key,
              std::uint8_t aggregation_level) noexcept;
    bool file(Entry& entry, const TableKey& key, std::uint8_t aggregation_level) noexcept;
    bool parent_entry(const TableKey& key, std::uint8_t aggregation_level) noexcept;
    bool whole_rule() noexcept;
    bool use(Entry& entry, std::uint8_t aggregation_level) noexcept;

    LimitCheck& check_;
    const LoadedLimit& limit_;
    const LoadedRule& rule_;
    const CheckContext& context_;
    BucketStore& store_;
    LimitRegistry& registry_;
    WiderKeys wider_;
    InheritedDebt debt_;
};

}  // namespace sluice
