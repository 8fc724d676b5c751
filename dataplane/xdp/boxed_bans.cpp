#include "dataplane/xdp/boxed_bans.hpp"

#include "lib/rules/load/early_drop.hpp"

#include <utility>

namespace sluice {

void BoxedBans::note(const Ban& ban, std::uint64_t until, std::uint64_t now) {
    if (bans_.size() >= most_ && now >= forget_next_) {
        forget_next_ = now + kForgetEvery;
        std::erase_if(bans_, [now](const auto& one) { return one.second <= now; });
    }
    const auto known = bans_.find(ban);
    if (known != bans_.end()) {
        known->second = until;
    } else if (bans_.size() < most_) {
        bans_.emplace(ban, until);
    }
}

void BoxedBans::lift(const IpPrefix& from) {
    auto at = bans_.lower_bound({from, 0});
    while (at != bans_.end() && at->first.from == from) {
        at = bans_.erase(at);
    }
}

KeyBytes BoxedBans::Carried::key(const LoadedSet& rules) const {
    KeyBytes bytes;
    bytes.append_address(rules.rules[rule].keys[0][0], {from.version, from.address});
    return bytes;
}

std::vector<BoxedBans::Carried> BoxedBans::carry_over(const LoadedSet& rules, std::uint64_t now) {
    std::map<std::uint64_t, std::uint32_t> by_box;
    for (std::uint32_t rule = 0; rule < rules.rules.size(); ++rule) {
        for (const LoadedLimit& box : rules.rules[rule].ban.boxes) {
            by_box.emplace(box.identity, rule);
        }
    }
    std::vector<Carried> carried;
    for (auto at = bans_.begin(); at != bans_.end();) {
        const auto of = by_box.find(at->first.box);
        if (of == by_box.end() || at->second <= now) {
            at = bans_.erase(at);
            continue;
        }
        const LoadedRule& rule = rules.rules[of->second];
        if (rule.boxes_sources) {
            const Carried ban{of->second, at->first.from, at->second};
            if (!may_be_exempt(rule, ban.key(rules).view())) {
                carried.push_back(ban);
            }
        }
        ++at;
    }
    return carried;
}

}  // namespace sluice
