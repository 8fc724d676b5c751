#pragma once
#include "lib/packet/ip_address.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/rules/load/clause_rows.hpp"
#include "lib/rules/rule_set.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// The port at which packets come in.
struct ReceivingPort {
    std::uint64_t pair = 0;  // port_name()
    Direction dir{};
};

// Facts that are certain of all well-formed packets of a port that come from the same source.
struct SourceVerdict {
    static constexpr std::uint32_t kNoRule = std::numeric_limits<std::uint32_t>::max();

    bool known = false;
    std::uint32_t denied_by = kNoRule;      // a rule that drops each of them on sight, as the first
    bool open = false;                      // no rule decides on sight, and none disturbs a ban
    bool may_bypass = false;                // a budget of `bypass` may let one of them by
    std::vector<std::uint32_t> matching{};  // of those that may ban, that each of them matches
};

// One version's addresses, as numbers.
struct SourceRange {
    Wide first = 0;
    Wide last = 0;
};

// Addresses that no condition over ip.src tells apart are of one row, and have one verdict.
class SourceVerdicts {
public:
    // The set outlives it.
    SourceVerdicts(const RuleSet& set, const ReceivingPort& port);
    SourceVerdicts(const SourceVerdicts&) = delete;
    SourceVerdicts& operator=(const SourceVerdicts&) = delete;

    [[nodiscard]] const SourceVerdict& of_row(std::uint32_t row);

    // Calls take(SourceRange, row) for the addresses, in order, until it gives false.
    template <typename Take>
    void walk(IpVersion version, SourceRange range, Take&& take) const {
        if (source_ == nullptr) {
            (void)take(range, 0U);
        } else if (version == IpVersion::V4) {
            walk_steps(std::span{source_->steps}, range, take);
        } else {
            walk_steps(std::span{source_->v6_steps}, range, take);
        }
    }

private:
    // The part of a rule in the proof.
    struct Part {
        bool decides = false;   // before any limit, or it may let a packet by
        bool drops = false;     // on sight
        bool disturbs = false;  // a ban beside it
    };
    [[nodiscard]] static Part part_of(const RuleSet& set, const Rule& rule);

    template <typename Key, typename Take>
    static void walk_steps(std::span<const Step<Key>> steps, SourceRange range, Take&& take) {
        const Step<Key>* const end = steps.data() + steps.size();
        const Step<Key>* step = &step_of(steps, static_cast<Key>(range.first));
        for (; step != end && Wide{step->first} <= range.last; ++step) {
            const Step<Key>* const next = step + 1;
            const Wide last =
                next == end ? range.last : std::min(range.last, Wide{next->first} - 1);
            if (!take(SourceRange{std::max(range.first, Wide{step->first}), last}, step->row)) {
                return;
            }
        }
    }
    template <typename Take>
    void for_each_rule(const ClauseBits& bits, Take&& take) const;
    void narrow_to(const DimensionParts& dimension, const ReceivingPort& port);
    [[nodiscard]] SourceVerdict judge(std::uint32_t row) const;

    const RuleSet& set_;
    const ClassifierParts& parts_;
    std::vector<Part> of_rule_;
    ClauseBits certain_;   // that each packet of the port satisfies, but for its source
    ClauseBits possible_;  // that one of them may
    const DimensionParts* source_ = nullptr;
    std::optional<ClauseRows> source_rows_;
    std::vector<SourceVerdict> verdicts_;  // by row
};

}  // namespace sluice
