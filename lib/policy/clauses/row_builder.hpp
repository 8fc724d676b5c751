#pragma once
#include "lib/match/block_pool.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/policy/clauses/clause_order.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

// The rows of one dimension. A clause over the field has exactly one set, so a set that begins or
// ends flips its clauses' bits and no others.
class RowBuilder {
public:
    RowBuilder(Field field, std::span<const RuleClause> clauses, const SetPool& pool,
               BlockPool& blocks);

    // nullopt: it would take more than `most` bytes.
    [[nodiscard]] bool build(std::size_t most);
    [[nodiscard]] DimensionParts take() { return std::move(parts_); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    struct Flip {
        std::uint32_t block = 0;
        Block bits;
    };
    struct Event {
        Wide at = 0;
        SetId set = 0;
    };

    [[nodiscard]] std::vector<Event> events_of(bool v6, Wide max) const;
    void flip(SetId set);
    [[nodiscard]] std::uint32_t row_now();
    template <typename Key>
    [[nodiscard]] bool sweep(bool v6, Wide max, std::vector<Step<Key>>& steps, std::size_t most);

    const SetPool& pool_;
    BlockPool& blocks_;
    DimensionParts parts_;
    std::map<SetId, std::vector<Flip>> flips_;  // by set
    std::vector<Block> now_;                    // the clauses satisfied at this point of a sweep
    std::vector<std::uint32_t> references_now_;
    std::vector<std::uint8_t> changed_;  // by block: references_now_ is out of date
    std::map<std::vector<std::uint32_t>, std::uint32_t> rows_;
    std::size_t bytes_ = 0;
};

}  // namespace sluice
