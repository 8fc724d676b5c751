#include "lib/rules/override_table.hpp"

#include "lib/bucket/table/own_bucket.hpp"
#include "lib/rules/network_bans.hpp"
#include "lib/rules/override_ranges.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace sluice {
namespace {

// Half full: one key in twenty that is not in the table probes a line that has overflowed.
constexpr std::size_t kKeysPerLine = 2;

HashSecret other_secret(const HashSecret& secret) {
    constexpr std::uint64_t kWord = 0x6F76'6572'7269'6465;
    return {secret[0] ^ kWord, secret[1] ^ ~kWord};
}

// Goes on with a keyed hash.
std::uint64_t hashed_on(std::uint64_t name, const KeyHasher& hash, std::uint64_t low,
                        std::uint64_t high) {
    const std::array<std::uint64_t, 3> words{name, low, high};
    return hash.digest(std::as_bytes(std::span{words}));
}

// A hash over the overrides that a Brief can hold.
std::uint64_t name_of(const Overrides& all, const KeyHasher& hash) {
    std::uint64_t name = 0;
    for (const OverridePlan& plan : all.plans) {
        const OverrideTable::Kind kind = OverrideTable::kind_of(plan, all);
        name = hashed_on(name, hash, static_cast<std::uint64_t>(kind), 0);
        if (kind == OverrideTable::Kind::Numbers) {
            const Limit& limit = *gcra_of(all.numbers[plan.first].numbers);
            name = hashed_on(name, hash, limit.period(), limit.parts());
            name = hashed_on(name, hash, limit.burst(), 0);
        }
    }
    return name;
}

}  // namespace

OverrideTable::OverrideTable(const KeyOverrides& keys, const Overrides& all,
                             const HashSecret& secret, Wider wider)
    : all_{&all},
      wider_{std::move(wider)},
      lines_{std::max<std::size_t>(keys.rows.size() / kKeysPerLine + 1, 2)},
      memory_{lines_ * sizeof(Line)},
      check_{other_secret(secret)} {
    const KeyHasher hash{secret};
    std::uint64_t name = name_of(all, check_);
    for (std::size_t row = 0; row < keys.rows.size(); ++row) {
        const ByteView key = keys.key(row);
        const std::uint32_t plan = keys.rows[row].plan;
        const auto kind = static_cast<std::uint32_t>(kind_of(all.plans[plan], all));
        const std::uint64_t digest = hash.digest(key);
        add(digest, check_of(key), kind << kKindShift | (plan + 1));
        name = hashed_on(name, check_, digest, plan);
    }
    // A bucket that knows its key's numbers asks again once networks are others.
    name = wider_.bans == nullptr ? name : hashed_on(name, check_, wider_.bans->name(), 0);
    name = wider_.ranges == nullptr ? name : hashed_on(name, check_, wider_.ranges->name(), 1);
    name_ = name | 1;
}

OverrideTable::Kind OverrideTable::kind_of(const OverridePlan& plan,
                                           const Overrides& all) noexcept {
    if (plan.banned) {
        return Kind::Other;
    }
    if (plan.exempt) {
        return plan.exempt_until == kForever ? Kind::Exempt : Kind::Other;
    }
    const bool is_simple = plan.count == 1 && all.numbers[plan.first].limit == 0 &&
                           all.numbers[plan.first].until == kForever &&
                           gcra_of(all.numbers[plan.first].numbers) != nullptr;
    return is_simple ? Kind::Numbers : Kind::Other;
}

bool OverrideTable::is_in_network(ByteView key) const noexcept {
    return wider_.bans->has(key);
}

OverrideTable::Brief OverrideTable::brief_in_range(ByteView key) const noexcept {
    const OverrideRanges::Level* const level = wider_.ranges->around(key);
    return level == nullptr ? Brief{} : Brief{level->kind, level->plan};
}

void OverrideTable::add(std::uint64_t digest, std::uint32_t check, std::uint32_t said) noexcept {
    for (std::size_t at = line_at(digest);; at = next(at)) {
        for (Slot& slot : line(at).slots) {
            if (slot.said == kEmpty) {
                slot = {digest, check, said};  // no key overflows before the line is full
                return;
            }
        }
        line(at).pass_on(digest);
    }
}

}  // namespace sluice
