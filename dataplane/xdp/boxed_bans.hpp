#pragma once
#include "lib/packet/ip_address.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sluice {

// Sources in penalty boxes that the kernel was told of, so that it can be told again when rules
// change. A ban belongs to its box: rules under which a box keeps its state keep its bans. Of
// bounded size; the box drops what finds no place here.
class BoxedBans {
public:
    explicit BoxedBans(std::size_t most = 0) : most_{most} {}

    // `box`: the identity of the penalty box. Instants are CLOCK_MONOTONIC, in ns.
    struct Ban {
        IpPrefix from;
        std::uint64_t box = 0;

        [[nodiscard]] auto operator<=>(const Ban&) const noexcept = default;
    };
    void note(const Ban& ban, std::uint64_t until, std::uint64_t now);
    void lift(const IpPrefix& from);

    // A ban under other rules.
    struct Carried {
        std::uint32_t rule = 0;  // index in the set
        IpPrefix from;
        std::uint64_t until = 0;

        // The key's canonical bytes; the set is the one that it was carried over to.
        [[nodiscard]] KeyBytes key(const LoadedSet& rules) const;
    };
    // Bans whose box is one of the set, and whose key it does not exempt. Bans of boxes that are
    // gone, and what has ended, are forgotten.
    [[nodiscard]] std::vector<Carried> carry_over(const LoadedSet& rules, std::uint64_t now);
    [[nodiscard]] std::size_t size() const noexcept { return bans_.size(); }

private:
    static constexpr std::uint64_t kForgetEvery = 1'000'000'000;

    std::size_t most_;
    std::map<Ban, std::uint64_t> bans_;  // until
    std::uint64_t forget_next_ = 0;      // no sooner are ends looked for again
};

}  // namespace sluice
