#include "lib/bucket/meter/sliding_counters.hpp"
#include "tests/unit/peer/merge/explorer.hpp"

#include <map>

// Sub-windows, whose totals come in several messages.
namespace sluice::tally_explorer_test {
namespace {

constexpr std::uint64_t kCount = 3;
constexpr SlidingCountersLimit kLimit{
    .numbers = {.count = kCount, .window = 2 * kTick.count()}, .buckets = 2, .edge = Edge::Strict};
constexpr std::uint64_t kLasts = 3;

const SubWindowSlots& slots() {
    static const SubWindowSlots kSlots{kLimit};
    return kSlots;
}

// One account's sub-windows at one worker, forgotten as soon as nothing in them counts.
struct OneTally {
    LinePool pool{8};
    SlidingCounters counters{};
    bool is_there = false;
    bool has_place = true;  // for one that is not there

    void forget_idle(Now now) {
        if (is_there && counters.tally(slots(), pool, now.at).sum == 0) {
            counters.close(pool);
            counters = {};
            is_there = false;
        }
    }
    bool find_or_place(Now now) {
        forget_idle(now);
        if (!is_there && has_place) {
            counters.begin(now.at);
            is_there = true;
        }
        return is_there;
    }
    [[nodiscard]] Tally at(Now now) const {
        const Tally tally = counters.tally(slots(), pool, now.at);
        return is_there && tally.sum != 0 ? tally : Tally{};
    }
    bool take(const BucketState& total, const More& more, bool anew, Now now) {
        forget_idle(now);
        if (!is_there && total.tally.sum + more.current == 0) {
            return true;
        }
        if (!find_or_place(now)) {
            return false;
        }
        counters.raise(slots(), pool, now.at, {total.tally, more.current, more.newest, anew});
        return true;
    }

    static void prefetch(const Account&) noexcept {}
    // Token and leaky buckets have leases.
    static std::uint64_t recall(const Account&) noexcept { return 0; }
    static Leasing leasing(const Account&) noexcept { return {}; }
    static void grant(const Account&, std::uint32_t) noexcept {}
    [[nodiscard]] static bool shares(const Account&) noexcept { return true; }
    BucketState copy_of(const Account&, Now now) noexcept {
        return {.tally = at(now), .lasts = kTallied};
    }
    bool apply(const Delta& delta, Now now, BucketState& total) noexcept {
        if (!find_or_place(now)) {
            return false;
        }
        counters.add(slots(), pool, now.at, {delta.at, Units{delta.units}});
        total = copy_of(delta.account, now);
        return true;
    }
    bool raise(const Account&, const BucketState& total, const More& more, Now now) noexcept {
        return take(total, more, false, now);
    }
    bool renew(const Account&, const BucketState& total, const More& more, Now now) noexcept {
        return take(total, more, true, now);
    }
    std::uint64_t newest(const Account&, Now) noexcept { return counters.newest(); }
    std::size_t earlier(const Account&, std::span<SubWindow> places, Now now) noexcept {
        return counters.earlier(slots(), pool, now.at, places);
    }
    void move_back(const Account&, const SubWindow& earlier, Now) noexcept {
        counters.move_back(pool, earlier);
    }

    [[nodiscard]] static Account charged_in(const Account& account, Now) { return account; }
    [[nodiscard]] bool admits(Now now) const { return at(now).sum < kCount; }
    void charge(Now now) {
        has_place = true;  // a packet's key finds one, or is not charged here
        (void)find_or_place(now);
        (void)counters.make_room(slots(), pool, now.at);
        counters.charge(slots(), pool, now.at, Units{1});
    }
    template <typename Add>
    void add_state(Add& add, Now now) const {
        for (int later = 0; later < 4; ++later) {
            add(counters.tally(slots(), pool, now.at + later * kTick).sum);
        }
        add(at(now).ever);
        add(static_cast<std::uint64_t>(now.at.time_since_epoch().count() - at(now).born));
    }
};
static_assert(LedgerBackend<OneTally> && TallyBackend<OneTally>);

// All workers' charges by sub-window.
struct SubWindows {
    using Book = OneTally;
    static constexpr std::uint64_t kMaxUnsynced = 2;
    static constexpr std::size_t kRecords = 1;
    static constexpr std::size_t kRing = 8;
    std::map<std::uint64_t, std::uint64_t> units;
    std::uint64_t latest = 0;  // what counted at the latest charge

    static Now time_of(std::size_t /*worker*/, Now now) { return now; }
    static std::uint64_t age_of(const Account& /*account*/, Now /*now*/) { return 0; }
    [[nodiscard]] std::uint64_t sum(Now now) const {
        std::uint64_t sum = 0;
        for (const auto& [slot, spent] : units) {
            sum += slot + kLasts > slots().of(now.at) ? spent : 0;
        }
        return sum;
    }
    void charge(const OneTally& /*copy*/, Now now) {
        ++units[slots().of(now.at)];
        latest = sum(now);
    }
    [[nodiscard]] bool is_beyond(std::size_t others, Now /*now*/) const {
        return latest > kCount + others * kMaxUnsynced;
    }
    template <typename Unsynced>
    [[nodiscard]] bool has_lost(std::vector<OneTally>& ledger_store, Unsynced&& unsynced,
                                Now now) const {
        return ledger_store[0].at(now).sum + unsynced(Turn{0}) < sum(now);
    }
    template <typename Add>
    void add_state(Add& add, Now now) const {
        for (std::uint64_t before = 0; before < kLasts; ++before) {
            const auto at = units.find(slots().of(now.at) - before);
            add(at == units.end() ? 0 : at->second);
        }
    }
    template <typename Add>
    static void add_message(Add& add, const Delta& delta, Now now) {
        add(static_cast<std::uint64_t>((now.at - delta.at).count()));
        add_total(add, delta.held, now);
    }
    template <typename Add>
    static void add_total(Add& add, const BucketState& total, Now now) {
        add(total.tally.sum);
        add(total.tally.ever);
        add(static_cast<std::uint64_t>(now.at.time_since_epoch().count() - total.tally.born));
    }
};

TEST(TallyExplorer, Strict) {
    const std::size_t two =
        explore<SubWindows>({.workers = 2, .depth = 9 - kShorter, .most_restarts = 1});
    std::printf("%zu states\n", two);
    EXPECT_GT(two, kShorter == 0 ? 10'000U : 100U);
    const std::size_t three =
        explore<SubWindows>({.workers = 3, .depth = 7 - kShorter, .most_restarts = 1});
    std::printf("%zu states\n", three);
    EXPECT_GT(three, kShorter == 0 ? 10'000U : 100U);
}

}  // namespace
}  // namespace sluice::tally_explorer_test
