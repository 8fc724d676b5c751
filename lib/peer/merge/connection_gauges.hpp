#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/now.hpp"
#include "lib/peer/merge/cluster_bound.hpp"
#include "lib/peer/merge/delta_lane.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// Open connections of a key over the boxes of a cluster, as the worker sees them that counts those
// of its box. It tells the store how many it has, its gauge, and hears the sum of the others':
//
//   admitted:  own + others <= count      others: as last heard
//              own <= floor + U           floor: the least that the store may hold of this box
//
// What a box has open is never more than U beyond what the store holds of it, so of all boxes
// together no more than count + (M - 1) * U are open. A gauge ends with its lease (kGaugeLease),
// which each telling renews: connections of a box that is cut off for longer are not known to
// others, and stay open.
namespace sluice {

// For how long a gauge counts at the store after it was told.
inline constexpr Nanoseconds kGaugeLease{60'000'000'000};

enum class GaugeAnswer : std::uint8_t {
    Admitted,
    OthersHaveIt,  // all boxes together have as many as there may be
    NotConfirmed,  // the store does not know enough of this box's yet
    Share,         // beyond what `owner_down` admits, or the box's share
    Closed,        // `owner_down`
};

class ConnectionGauges {
public:
    // Keys that one turn looks at, besides those that hurry.
    static constexpr std::size_t kVisits = 8;
    // What was promised and is not open yet counts as open for so long: longer than a reservation.
    static constexpr Nanoseconds kPending{2'500'000'000};

    // `lane` nullptr: the box is in no cluster. `keys`, a power of two: places of keys, of which
    // three quarters are used. Every slot is below `slots`.
    ConnectionGauges(StoreLane* lane, std::size_t keys, std::size_t slots);

    void set_cluster(std::span<const ClusterBound> bounds) noexcept;
    [[nodiscard]] bool is_shared(const Account& account) const noexcept {
        return account.slot < slots_ && bounds_[account.slot].box_unsynced != 0;
    }

    struct Asked {
        std::uint64_t used = 0;    // open of the key, the new one and what is promised included
        std::uint64_t count = 0;   // of the limit
        bool is_promised = false;  // to a worker that asked: it opens later, or never
    };
    // Whether the box may have so many. Who is admitted is noted, and told when it has opened.
    [[nodiscard]] GaugeAnswer admit(const Account& account, const Asked& asked, Now now) noexcept;
    // The same for a look that changes nothing.
    [[nodiscard]] GaugeAnswer judge(const Account& account, const Asked& asked,
                                    Now now) const noexcept;

    // An answer of the store.
    void take(const StoreTotal& total) noexcept;
    // Tells what is due. `open(account)`: how many the box has open.
    template <typename Open>
    void tell(Open&& open, Now now) noexcept;

    [[nodiscard]] std::size_t keys() const noexcept { return used_places_; }

private:
    struct Gauge {
        Account account;  // slot 0: nobody's place
        std::uint32_t confirmed = 0;
        std::uint32_t told = 0;
        std::uint32_t others = 0;
        std::uint32_t number = 0;  // of the telling under way; 0: none is
        std::uint32_t most = 0;    // promised since `most_at`, which is at most kPending ago
        std::uint32_t before = 0;  // promised in the time before that
        std::uint32_t born = 0;    // the store's, when it confirmed; 0: it has not
        Instant most_at{};
        Instant told_at{};
        Instant confirmed_at{};  // when that was told
        bool asks = false;       // somebody was refused for what others have
        bool hurries = false;
    };

    // Who goes by a local share goes by it for a while yet once the store is back, as in Ledger.
    [[nodiscard]] bool is_away(const ClusterBound& bound) const noexcept {
        return lane_ == nullptr || lane_->down.raised() || (is_recovering_ && bound.times_down > 1);
    }
    // Wider keys have no gauge: their boxes go by their share.
    [[nodiscard]] static bool is_named(const Account& account) noexcept {
        return account.hash != 0 && account.aggregation_level == 0;
    }
    [[nodiscard]] bool has_place() const noexcept { return used_places_ < places_ / 4 * 3; }
    // The least that the store may hold of this box.
    [[nodiscard]] static std::uint64_t floor_of(const Gauge& gauge, Now now) noexcept {
        const bool lives = gauge.born != 0 && now.at - gauge.confirmed_at < kGaugeLease;
        const std::uint64_t confirmed = lives ? gauge.confirmed : 0;
        return gauge.number != 0 ? std::min<std::uint64_t>(confirmed, gauge.told) : confirmed;
    }
    [[nodiscard]] GaugeAnswer without_store(const ClusterBound& bound, const Asked& asked,
                                            const Gauge* gauge) const noexcept;
    [[nodiscard]] GaugeAnswer answer(const Account& account, const Asked& asked, const Gauge* gauge,
                                     Now now) const noexcept;
    [[nodiscard]] std::size_t home_of(const Account& account) const noexcept {
        return static_cast<std::size_t>(mixed(account)) & (places_ - 1);
    }
    // Its place, or the free one where it would be.
    [[nodiscard]] std::size_t place_of(const Account& account) const noexcept;
    [[nodiscard]] Gauge* find(const Account& account) const noexcept;
    [[nodiscard]] Gauge* find_or_make(const Account& account) noexcept;
    void erase(std::size_t place) noexcept;
    void hurry(const Gauge& gauge) noexcept;
    void watch_store(Now now) noexcept;
    // What is told of a box that has so many open.
    [[nodiscard]] static std::uint32_t gauge_of(const Gauge& gauge, std::uint64_t open,
                                                Now now) noexcept;
    static void note_promise(Gauge& gauge, std::uint32_t used, Now now) noexcept;
    [[nodiscard]] bool is_due(const Gauge& gauge, std::uint32_t value, Now now) const noexcept;
    [[nodiscard]] bool is_over(const Gauge& gauge, std::uint32_t value, Now now) const noexcept;
    [[nodiscard]] bool send(Gauge& gauge, std::uint32_t value, Now now) noexcept;
    // False: the ring is full.
    template <typename Open>
    [[nodiscard]] bool visit(std::size_t place, Open&& open, Now now) noexcept;

    StoreLane* lane_;
    std::size_t places_;
    LazyArray<Gauge> gauges_;
    std::size_t used_places_ = 0;
    std::size_t next_ = 0;            // to visit
    LazyArray<ClusterBound> bounds_;  // by slot
    std::size_t slots_;               // that there may be
    std::size_t cluster_slots_ = 0;   // below which there may be some of the cluster
    std::array<Account, 64> hurried_{};
    std::size_t hurried_count_ = 0;
    std::uint32_t last_number_ = 0;
    std::size_t to_tell_again_ = 0;  // visits until all have been told the store that has lost them
    Instant down_at_{};
    bool was_down_ = false;
    bool is_recovering_ = false;
};

template <typename Open>
bool ConnectionGauges::visit(std::size_t place, Open&& open, Now now) noexcept {
    Gauge& gauge = gauges_[place];
    if (gauge.account.slot == 0 || gauge.number != 0) {
        return true;
    }
    const std::uint32_t value = gauge_of(gauge, open(gauge.account), now);
    if (is_over(gauge, value, now)) {
        erase(place);
        return true;
    }
    return !is_due(gauge, value, now) || send(gauge, value, now);
}

template <typename Open>
void ConnectionGauges::tell(Open&& open, Now now) noexcept {
    if (lane_ == nullptr || used_places_ == 0) {
        return;
    }
    watch_store(now);
    const std::size_t hurried = hurried_count_;
    hurried_count_ = 0;
    for (std::size_t i = 0; i < hurried; ++i) {
        const std::size_t place = place_of(hurried_[i]);
        if (!visit(place, open, now)) {
            return;
        }
    }
    for (std::size_t i = 0; i < kVisits; ++i) {
        if (!visit(next_, open, now)) {
            return;
        }
        next_ = (next_ + 1) & (places_ - 1);
        to_tell_again_ -= to_tell_again_ != 0 ? 1 : 0;
    }
}

}  // namespace sluice
