#include "lib/pipeline/judged_packet.hpp"

namespace sluice {
namespace {

class Gathering {
public:
    Gathering(Burst& burst, std::size_t row, const LoadedSet& set) noexcept
        : scratch_{burst.scratch()},
          plan_{set.meter_plan},
          row_{row},
          next_{&scratch_.lookups[scratch_.first[row]]},
          end_{&scratch_.lookups[scratch_.first[row + 1]]} {}

    PacketLooks run() noexcept {
        for (const ActiveRule& active : std::span{scratch_.rules.get(), scratch_.rule_count}) {
            if (has_row(active.rows, row_)) {
                add(active);
            }
        }
        return {{scratch_.packet_matches.get(), matches_}, {scratch_.packet_looks.get(), looks_}};
    }

private:
    void add(const ActiveRule& active) noexcept {
        const RulePlan& rule = plan_.rules[active.rule];
        scratch_.packet_matches[matches_++] = {.rule = active.rule,
                                               .first = static_cast<std::uint32_t>(looks_),
                                               .skipped = has_row(active.skipped, row_)};
        for (std::uint32_t i = 0; i < rule.limits; ++i) {
            scratch_.packet_looks[looks_++] = look_of(rule.first_limit + i);
        }
        skip_boxes();
    }

    [[nodiscard]] LimitCheck look_of(std::uint32_t limit) noexcept {
        const LimitPlan& plan = plan_.limits[limit];
        LimitCheck check;
        const bool has_key = has_row(scratch_.has_key[plan.schema], row_);
        check.digest = has_key ? scratch_.digests[plan.schema][row_] : 0;
        if (next_ != end_ && next_->limit == limit) {
            check.key = next_->key;
            check.cost = Units{std::uint64_t{next_->units} * plan.cost};
            check.entry = next_->entry;
            ++next_;
        }
        return check;
    }

    // The general path looks its penalty boxes up by itself.
    void skip_boxes() noexcept {
        while (next_ != end_ && plan_.limits[next_->limit].meter == FastMeter::Penalty) {
            ++next_;
        }
    }

    Scratch& scratch_;
    const MeterPlan& plan_;
    std::size_t row_;
    const BucketLookup* next_;
    const BucketLookup* end_;
    std::size_t matches_ = 0;
    std::size_t looks_ = 0;
};

}  // namespace

PacketLooks looks_of_packet(Burst& burst, std::size_t row, const LoadedSet& set) noexcept {
    return Gathering{burst, row, set}.run();
}

}  // namespace sluice
