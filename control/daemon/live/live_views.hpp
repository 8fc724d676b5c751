#pragma once
#include "control/daemon/live/live_query.hpp"
#include "control/daemon/live/snapshot.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

// Facts that all snapshots of a sluiced have in common.
struct LiveOrigin {
    std::string run;   // of this start
    std::string name;  // of the box
    std::string web;   // version of the dashboard's assets; empty: there are none
};

// One snapshot, and the answers that are made of it: each once, when it is first asked for, and the
// same bytes to all who ask. Called from several threads.
class LiveViews {
public:
    using Body = std::shared_ptr<const std::string>;
    static constexpr std::size_t kMostKept = 32;  // answers, and orders; more are made anew
    static constexpr std::size_t kMostKeptOfTenants = 128;  // likewise, beside these

    LiveViews(LiveSnapshot snapshot, const LiveOrigin& origin);

    [[nodiscard]] const LiveSnapshot& snapshot() const noexcept { return snapshot_; }
    [[nodiscard]] Body plain(const LiveQuery& query) const;
    [[nodiscard]] Body compressed(const LiveQuery& query) const;

private:
    using Order = std::vector<std::uint32_t>;
    struct Page {
        std::once_flag made;
        Body plain;
        std::once_flag packed;
        Body compressed;
    };
    struct Ordered {
        std::once_flag made;
        Order order;
    };
    [[nodiscard]] std::shared_ptr<Page> page_of(const LiveQuery& query) const;
    [[nodiscard]] std::shared_ptr<Ordered> order_of(const LiveQuery& query) const;
    [[nodiscard]] std::string text_of(const LiveQuery& query) const;
    [[nodiscard]] std::size_t rules_for(const LiveQuery& query) const;

    LiveSnapshot snapshot_;
    std::string head_;         // all but the rules
    std::string tenant_head_;  // the part of it that tenants' people may know
    // Answers kept for operators, and for tenants' people: neither takes the others' room.
    struct Kept {
        std::map<std::string, std::shared_ptr<Page>> pages;
        std::map<std::string, std::shared_ptr<Ordered>> orders;
    };
    mutable std::mutex mutex_;
    mutable Kept of_operators_;
    mutable Kept of_tenants_;
};

}  // namespace sluice
