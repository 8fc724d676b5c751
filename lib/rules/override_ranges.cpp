#include "lib/rules/override_ranges.hpp"

#include "lib/match/address_key.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/network_bans.hpp"

#include <array>
#include <map>
#include <tuple>

namespace sluice {
namespace {

bool range_holds(const OverrideRange& range, const Overrides& all) noexcept {
    return (range.version == 4 || range.version == 6) && range.first <= range.last &&
           range.last <= addresses_but_one(range.version, 0) && range.plan < all.plans.size() &&
           !all.plans[range.plan].banned;
}

bool is_before(const OverrideRange& a, const OverrideRange& b) noexcept {
    if (a.version != b.version) {
        return a.version < b.version;
    }
    return a.first != b.first ? a.first < b.first : a.last > b.last;
}

bool ends_before(const OverrideRange& a, const OverrideRange& b) noexcept {
    return a.version != b.version || a.last < b.first;
}

std::uint64_t low_of(Wide value) noexcept {
    return static_cast<std::uint64_t>(value);
}
std::uint64_t high_of(Wide value) noexcept {
    return static_cast<std::uint64_t>(value >> 64);
}

std::uint64_t name_of(std::span<const OverrideRange> ranges, const HashSecret& secret) {
    const KeyHasher hash{secret};
    std::uint64_t name = 0;
    for (const OverrideRange& range : ranges) {
        const std::array<std::uint64_t, 6> words{name,
                                                 low_of(range.first),
                                                 high_of(range.first),
                                                 low_of(range.last),
                                                 high_of(range.last),
                                                 std::uint64_t{range.plan} << 8 | range.version};
        name = hash.digest(std::as_bytes(std::span{words}));
    }
    return name;
}

}  // namespace

bool are_sound_ranges(std::span<const OverrideRange> ranges, const Overrides& all) {
    std::vector<const OverrideRange*> around;
    const OverrideRange* before = nullptr;
    for (const OverrideRange& range : ranges) {
        if (!range_holds(range, all) || (before != nullptr && !is_before(*before, range))) {
            return false;
        }
        before = &range;
        while (!around.empty() && ends_before(*around.back(), range)) {
            around.pop_back();
        }
        if (!around.empty() && around.back()->last < range.last) {
            return false;
        }
        around.push_back(&range);
        if (around.size() > kMaxNestedRanges) {
            return false;
        }
    }
    return ranges.size() <= kMaxOverrides;
}

// Goes over the ranges in their order; those around the last one are open.
class OverrideRanges::Builder {
public:
    Builder(std::vector<Level>& levels, Steps& steps, const Overrides& all)
        : levels_{levels}, steps_{steps}, all_{all} {
        levels_.emplace_back();
        steps_.steps.push_back({0, 0});
        steps_.v6_steps.push_back({0, 0});
    }

    void add(const OverrideRange& range) {
        while (!open_.empty() && ends_before(*open_.back().range, range)) {
            close();
        }
        const std::uint32_t level = level_of(range, open_.empty() ? 0 : open_.back().level);
        open_.push_back({&range, level});
        begin(range.version, range.first, level);
    }
    void finish() {
        while (!open_.empty()) {
            close();
        }
        steps_.steps.shrink_to_fit();
        steps_.v6_steps.shrink_to_fit();
    }

private:
    struct Open {
        const OverrideRange* range;
        std::uint32_t level;
    };

    void close() {
        const OverrideRange& range = *open_.back().range;
        open_.pop_back();
        const bool is_inside = !open_.empty() && open_.back().range->version == range.version;
        if (range.last != addresses_but_one(range.version, 0)) {
            begin(range.version, range.last + 1, is_inside ? open_.back().level : 0);
        }
    }
    void begin(std::uint8_t version, Wide first, std::uint32_t level) {
        if (version == 4) {
            put(steps_.steps, static_cast<std::uint64_t>(first), level);
        } else {
            put(steps_.v6_steps, first, level);
        }
    }
    // The last that begins somewhere counts.
    template <typename Key>
    static void put(std::vector<Step<Key>>& steps, Key first, std::uint32_t level) {
        if (steps.back().first == first) {
            steps.back().row = level;
        } else {
            steps.push_back({first, level});
        }
    }
    std::uint32_t level_of(const OverrideRange& range, std::uint32_t wider) {
        const Wide size = range.last - range.first;
        const auto [known, is_new] =
            known_.try_emplace(std::tuple{range.plan, wider, size}, levels_.size());
        if (is_new) {
            levels_.push_back({.plan = range.plan,
                               .kind = OverrideTable::kind_of(all_.plans[range.plan], all_),
                               .wider = wider,
                               .addresses_but_one = size});
        }
        return known->second;
    }

    std::vector<Level>& levels_;
    Steps& steps_;
    const Overrides& all_;
    std::vector<Open> open_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, Wide>, std::uint32_t> known_;
};

OverrideRanges::OverrideRanges(std::span<const OverrideRange> ranges, const Overrides& all,
                               const HashSecret& secret)
    : name_{name_of(ranges, secret)} {
    Builder builder{levels_, steps_, all};
    for (const OverrideRange& range : ranges) {
        builder.add(range);
    }
    builder.finish();
    tables_ = AddressTables{steps_};
}

// A network is looked up by its first address: a range holds the whole of it, or nothing.
const OverrideRanges::Level* OverrideRanges::around(ByteView key) const noexcept {
    const IpPrefix network = address_of_key(key);
    if (network.version == IpVersion::None) {
        return nullptr;
    }
    const std::uint32_t level = network.version == IpVersion::V4
                                    ? tables_.v4.find(v4_key(network.address), steps_.steps)
                                    : tables_.v6.find(v6_key(network.address), steps_.v6_steps);
    return level == 0 ? nullptr : &levels_[level];
}

std::size_t OverrideRanges::bytes() const {
    return levels_.size() * sizeof(Level) + steps_.steps.size() * sizeof(steps_.steps.front()) +
           steps_.v6_steps.size() * sizeof(steps_.v6_steps.front()) +
           tables_.v4.bytes(steps_.steps) + tables_.v6.bytes(steps_.v6_steps);
}

}  // namespace sluice
