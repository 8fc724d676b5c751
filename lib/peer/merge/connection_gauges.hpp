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
#include <utility>

// Open connections of a key over the boxes of a cluster, as the worker sees them that counts those
// of its box. It tells the store how many it has, its gauge, and hears the sum of the others':
//
//   admitted:  own + others <= count      others: as last heard
//              own <= floor + U           floor: the least that the store may hold of this box
//
// A box never has more than U open beyond what the store holds of it, so of all boxes
// together no more than count + (M - 1) * U are open. A gauge ends with its lease (kGaugeLease),
// which each telling renews: connections of a box that is cut off for longer are not known to
// others, and stay open.
namespace sluice {

// Time for which a gauge counts at the store after it was told.
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
    // Keys that one turn looks at, and that a second does, besides those that hurry: each costs a
    // look into the tables.
    static constexpr std::size_t kVisits = 16;
    static constexpr std::int64_t kVisitsPerSecond = 65'536;
    // Time after the store has lost its gauges in which the others may not all have told theirs
    // again: what was heard of them before counts too.
    static constexpr Nanoseconds kReturn{2'000'000'000};
    // Time for which a promised connection that is not open yet counts as open: longer than a
    // reservation.
    static constexpr Nanoseconds kPending{2'500'000'000};

    // `lane` nullptr: the box is in no cluster. `keys`, a power of two: places of keys, of which
    // three quarters are used. Every slot is below `slots`.
    ConnectionGauges(StoreLane* lane, std::size_t keys, std::size_t slots);

    void set_cluster(std::span<const ClusterBound> bounds) noexcept;
    // True once after a limit has become one of the cluster, by the first rule set too: its keys
    // may have connections already. Whoever has the tables names each that has, by note_open().
    [[nodiscard]] bool takes_open() noexcept { return std::exchange(takes_open_, false); }
    void note_open(const Account& account) noexcept;
    [[nodiscard]] bool is_shared(const Account& account) const noexcept {
        return account.slot < slots_ && bounds_[account.slot].box_unsynced != 0;
    }

    struct Asked {
        std::uint64_t used = 0;    // open of the key, the new one and what is promised included
        std::uint64_t count = 0;   // of the limit
        bool is_promised = false;  // to a worker that asked: it opens later, or never
    };
    // The answer to a box that would have so many. An admitted connection is noted, and told when
    // it has opened.
    [[nodiscard]] GaugeAnswer admit(const Account& account, const Asked& asked, Now now) noexcept;
    // The answer of admit() to a look that changes nothing.
    [[nodiscard]] GaugeAnswer judge(const Account& account, const Asked& asked,
                                    Now now) const noexcept;

    // Units of a limit's count that are not this box's to have now.
    [[nodiscard]] std::uint64_t beside(const Account& account, std::uint64_t count,
                                       Now now) const noexcept;

    // An answer of the store.
    void take(const StoreTotal& total) noexcept;
    // Tells what is due. `open(account)`: how many the box has open.
    template <typename Open>
    void tell(Open&& open, Now now) noexcept;

    [[nodiscard]] std::size_t keys() const noexcept { return used_places_; }

private:
    struct Gauge {
        Account account;
        std::uint32_t confirmed = 0;
        std::uint32_t told = 0;
        std::uint32_t others = 0;
        std::uint32_t number = 0;         // of the telling under way; 0: none is
        std::uint32_t most = 0;           // promised since `most_at`, which is at most kPending ago
        std::uint32_t before = 0;         // promised in the time before that
        std::uint32_t others_before = 0;  // heard before the store last lost its gauges
        std::uint32_t told_losses = 0;    // of which it was known when that was told
        std::uint32_t confirmed_losses = 0;  // likewise
        std::uint32_t told_outages = 0;      // likewise
        Instant most_at{};
        Instant told_at{};
        Instant confirmed_at{};  // when that was told; Instant{}: nothing is confirmed
        bool asks = false;       // somebody was refused for what others have
        bool hurries = false;
    };

    // A local share holds for a while yet once the store is back, as in Ledger.
    [[nodiscard]] bool is_away(const ClusterBound& bound) const noexcept {
        return lane_ == nullptr || lane_->down.raised() || (is_recovering_ && bound.times_down > 1);
    }
    // Wider keys have no gauge: their boxes go by their share.
    [[nodiscard]] static bool is_named(const Account& account) noexcept {
        return account.hash != 0 && account.aggregation_level == 0;
    }
    [[nodiscard]] bool has_place() const noexcept { return used_places_ < most_keys(places_); }
    [[nodiscard]] static constexpr std::size_t most_keys(std::size_t places) noexcept {
        return places / 4 * 3;
    }
    // False: the store has nothing of it, or what it has is about to end.
    [[nodiscard]] bool is_confirmed(const Gauge& gauge, Now now) const noexcept {
        return gauge.confirmed_at != Instant{} && gauge.confirmed_losses == losses_ &&
               now.at - gauge.confirmed_at < kGaugeLease;
    }
    // The least that the store may hold of this box.
    [[nodiscard]] std::uint64_t floor_of(const Gauge& gauge, Now now) const noexcept {
        const std::uint64_t confirmed = is_confirmed(gauge, now) ? gauge.confirmed : 0;
        return gauge.number != 0 ? std::min<std::uint64_t>(confirmed, gauge.told) : confirmed;
    }
    [[nodiscard]] GaugeAnswer without_store(const ClusterBound& bound, const Asked& asked,
                                            const Gauge* gauge) const noexcept;
    [[nodiscard]] GaugeAnswer answer(const Account& account, const Asked& asked, const Gauge* gauge,
                                     Now now) const noexcept;
    [[nodiscard]] std::size_t home_of(const Account& account) const noexcept {
        return static_cast<std::size_t>(mixed(account)) & (places_ - 1);
    }
    // The most that others may have.
    [[nodiscard]] std::uint64_t others_of(const Gauge& gauge, Now now) const noexcept {
        const bool returns = losses_ != 0 && now.at - lost_at_ < kReturn;
        return returns ? std::max(gauge.others, gauge.others_before) : gauge.others;
    }
    // Its place, or the free one where it would be.
    [[nodiscard]] std::size_t place_of(const Account& account) const noexcept;
    [[nodiscard]] Gauge& gauge_at(std::size_t place) const noexcept {
        return gauges_[index_[place] - 1];
    }
    [[nodiscard]] Gauge* find(const Account& account) const noexcept;
    [[nodiscard]] Gauge* find_or_make(const Account& account) noexcept;
    void erase(Gauge& gauge) noexcept;
    // False: there is no room, and whoever hurries tries again.
    [[nodiscard]] bool hurry(const Gauge& gauge) noexcept;
    void watch_store(Now now) noexcept;
    // Keys to visit now: each once in `cluster.sync`, or as often as kVisitsPerSecond make it.
    [[nodiscard]] std::size_t visits(Now now) noexcept;
    // The number that is told of a box that has so many open.
    [[nodiscard]] static std::uint32_t gauge_of(const Gauge& gauge, std::uint64_t open,
                                                Now now) noexcept;
    static void note_promise(Gauge& gauge, std::uint32_t used, Now now) noexcept;
    [[nodiscard]] bool is_due(const Gauge& gauge, std::uint32_t value, Now now) const noexcept;
    [[nodiscard]] bool is_over(const Gauge& gauge, std::uint32_t value, Now now) const noexcept;
    [[nodiscard]] bool send(Gauge& gauge, std::uint32_t value, Now now) noexcept;
    // False: the ring is full.
    template <typename Open>
    [[nodiscard]] bool visit(Gauge& gauge, Open&& open, Now now) noexcept;

    StoreLane* lane_;
    std::size_t places_;
    LazyArray<std::uint32_t> index_;  // by place: one more than that in gauges_; 0: nobody's
    LazyArray<Gauge> gauges_;         // the first used_places_ of them, in any order
    std::size_t used_places_ = 0;
    std::size_t next_ = 0;  // to visit
    Instant visited_at_{};
    LazyArray<ClusterBound> bounds_;  // by slot
    std::size_t slots_;               // that there may be
    std::size_t cluster_slots_ = 0;   // below which there may be some of the cluster
    std::array<Account, 64> hurried_{};
    std::size_t hurried_count_ = 0;
    std::uint32_t last_number_ = 0;
    bool takes_open_ = false;
    std::uint32_t losses_ = 0;   // times that the store had lost what it had confirmed
    std::uint32_t outages_ = 0;  // after each all is told again
    Instant lost_at_{};
    Instant down_at_{};
    bool was_down_ = false;
    bool is_recovering_ = false;
};

template <typename Open>
bool ConnectionGauges::visit(Gauge& gauge, Open&& open, Now now) noexcept {
    const bool is_early = now.at - gauge.told_at < lane_->terms.sync && !gauge.hurries;
    if (gauge.number != 0 || is_early) {
        return true;
    }
    const std::uint32_t value = gauge_of(gauge, open(gauge.account), now);
    if (is_over(gauge, value, now)) {
        erase(gauge);
        return true;
    }
    if (is_due(gauge, value, now)) {
        return send(gauge, value, now);
    }
    gauge.hurries = false;
    return true;
}

// Gauges that find no room in the ring stay first.
template <typename Open>
void ConnectionGauges::tell(Open&& open, Now now) noexcept {
    if (lane_ == nullptr || used_places_ == 0) {
        return;
    }
    watch_store(now);
    std::size_t done = 0;
    bool has_room = true;
    while (has_room && done < hurried_count_) {
        Gauge* gauge = find(hurried_[done]);
        has_room = gauge == nullptr || visit(*gauge, open, now);
        done += has_room ? 1 : 0;
    }
    std::copy(hurried_.begin() + static_cast<std::ptrdiff_t>(done),
              hurried_.begin() + static_cast<std::ptrdiff_t>(hurried_count_), hurried_.begin());
    hurried_count_ -= done;
    const std::size_t most = visits(now);
    for (std::size_t i = 0; has_room && used_places_ != 0 && i < most; ++i) {
        next_ = next_ < used_places_ ? next_ : 0;
        has_room = visit(gauges_[next_], open, now);
        next_ += has_room ? 1 : 0;
    }
}

}  // namespace sluice
