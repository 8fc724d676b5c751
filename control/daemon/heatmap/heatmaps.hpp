#pragma once
#include "control/daemon/heatmap/heat_store.hpp"
#include "control/daemon/web/role.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

// The heat maps that sluiced keeps, and who looks at which of them.
class Heatmaps {
public:
    using Clock = std::chrono::steady_clock;
    // Somebody looks at a map until so long after the last question for it.
    static constexpr std::chrono::seconds kLookHolds{60};

    // Rules of all tenants, and of one, that are looked at at a time.
    static constexpr std::size_t kMostOfTenants = kMostLookedAt / 2;
    static constexpr std::size_t kMostOfTenant = kMostOfTenants / 2;
    // Rules that all who have the role view look at, and room that these and tenants leave to the
    // others.
    static constexpr std::size_t kMostOfViewers = kMostLookedAt / 2;
    static constexpr std::size_t kLeftToOthers = kMostLookedAt / 4;

    // Somebody of that role asks for the map of a rule. False (counted): others look at as many as
    // may be, and whoever looks goes on looking.
    bool look(const std::string& rule, Role role, Clock::time_point now);
    [[nodiscard]] std::uint64_t refused_looks() const;
    // The rules that are looked at, kMostLookedAt at most.
    [[nodiscard]] std::vector<std::string> looked_at(Clock::time_point now);

    // Why the last second was not read; empty: it was.
    void set_failed(std::string why);
    [[nodiscard]] std::string failed() const;

    [[nodiscard]] HeatStore& store() noexcept { return store_; }

private:
    struct Look {
        Clock::time_point until{};
        bool is_viewers = false;  // nobody else has looked
    };
    [[nodiscard]] bool has_room(const std::string& rule, bool is_viewers) const;

    HeatStore store_;
    mutable std::mutex mutex_;           // of what stands below
    std::map<std::string, Look> looks_;  // by rule
    std::uint64_t refused_looks_ = 0;
    std::string failed_;
};

}  // namespace sluice
