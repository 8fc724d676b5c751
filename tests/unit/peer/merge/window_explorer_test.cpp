#include "tests/unit/peer/merge/explorer.hpp"

#include <map>

// Windows that turn in the middle of everything.
namespace sluice::window_explorer_test {
namespace {

constexpr std::uint64_t kCount = 3;
constexpr std::int64_t kTicks = 2;  // in a window

// The clock of windows, in ticks.
std::int64_t tick_at(Now now) {
    return now.utc() / kTick;
}

// One account's windows at one worker, forgotten as soon as nothing in them counts.
template <unsigned kLasts>
struct OneWindow {
    WindowCounts counts{};
    bool has_place = true;  // for windows that are not there

    [[nodiscard]] WindowCounts at(Now now) const {
        return moved_to(counts, std::max(counts.epoch, tick_at(now) / kTicks), kLasts);
    }
    [[nodiscard]] static bool is_empty(const WindowCounts& counts) {
        return counts.current == 0 && counts.previous == 0;
    }
    // Whether there is one, or place for one with these counts.
    [[nodiscard]] bool may_have(const WindowCounts& wanted, Now now) const {
        return has_place || !is_empty(at(now)) || is_empty(wanted);
    }

    static void prefetch(const Account&) noexcept {}
    // Token and leaky buckets have leases.
    static std::uint64_t recall(const Account&) noexcept { return 0; }
    static Leasing leasing(const Account&) noexcept { return {}; }
    static void grant(const Account&, std::uint32_t) noexcept {}
    [[nodiscard]] static bool shares(const Account&) noexcept { return true; }
    BucketState copy_of(const Account&, Now now) noexcept {
        return {.counts = at(now), .lasts = kLasts};
    }
    bool apply(const Delta& delta, Now now, BucketState& total) noexcept {
        const WindowCounts sum = added(at(now), delta.epoch, delta.units, kLasts);
        const bool taken = take(sum, now);
        total = copy_of(delta.account, now);
        return taken;
    }
    bool raise(const Account&, const BucketState& total, const More& more, Now now) noexcept {
        const WindowCounts owed{total.counts.epoch, total.counts.current + more.current,
                                total.counts.previous + more.previous};
        return take(larger(at(now), owed, kLasts), now);
    }
    bool take(const WindowCounts& wanted, Now now) noexcept {
        const bool may = may_have(wanted, now);
        counts = may ? wanted : counts;
        return may;
    }

    [[nodiscard]] Account charged_in(const Account& account, Now now) const {
        return account.in(turn_of(at(now).epoch));
    }
    [[nodiscard]] bool admits(Now now) const {
        return slid(at(now), tick_at(now)) + kTicks <= kCount * kTicks;
    }
    // What counts, in units and ticks of a window.
    [[nodiscard]] static std::uint64_t slid(const WindowCounts& counts, std::int64_t tick) {
        const std::int64_t into = std::max<std::int64_t>(tick - counts.epoch * kTicks, 0);
        return counts.previous * static_cast<std::uint64_t>(kTicks - into) +
               counts.current * kTicks;
    }
    void charge(Now now) {
        const WindowCounts before = at(now);
        counts = added(before, before.epoch, 1, kLasts);
    }
    template <typename Add>
    void add_state(Add& add, Now now) const {
        const WindowCounts current = at(now);
        add(static_cast<std::uint64_t>(current.epoch - tick_at(now) / kTicks));
        add(current.current);
        add(current.previous);
    }
};
static_assert(LedgerBackend<OneWindow<1>> && LedgerBackend<OneWindow<2>>);

// All workers' charges by window. Of fixed windows, whose clock is UTC, the second worker's is a
// tick ahead of the others'.
template <unsigned kLasts>
struct Windows {
    using Book = OneWindow<kLasts>;
    static constexpr std::uint64_t kMaxUnsynced = 2;
    static constexpr std::size_t kRecords = 2;
    static constexpr std::size_t kRing = 2;
    std::map<std::int64_t, std::uint64_t> units;
    std::uint64_t latest = 0;  // what counted at the latest charge

    static Now time_of(std::size_t worker, Now now) {
        return {.at = now.at, .utc_ahead = kLasts == 1 && worker == 1 ? kTick : Nanoseconds{0}};
    }
    [[nodiscard]] std::uint64_t in(std::int64_t epoch) const {
        const auto at = units.find(epoch);
        return at == units.end() ? 0 : at->second;
    }
    [[nodiscard]] WindowCounts counts_in(std::int64_t epoch) const {
        return {epoch, in(epoch), kLasts == 2 ? in(epoch - 1) : 0};
    }
    void charge(const Book& copy, Now now) {
        const std::int64_t epoch = copy.at(now).epoch;
        ++units[epoch];
        latest = Book::slid(counts_in(epoch), tick_at(now));
    }
    [[nodiscard]] bool is_beyond(std::size_t others, Now /*now*/) const {
        return latest > (kCount + others * kMaxUnsynced) * kTicks;
    }
    template <typename Unsynced>
    [[nodiscard]] bool has_lost(std::vector<Book>& ledger_store, Unsynced&& unsynced,
                                Now now) const {
        std::int64_t epoch = 0;
        for (std::size_t worker = 0; worker < ledger_store.size(); ++worker) {
            epoch = std::max(epoch, ledger_store[worker].at(time_of(worker, now)).epoch);
        }
        const WindowCounts known = moved_to(ledger_store[0].at(time_of(0, now)), epoch, kLasts);
        return known.current + unsynced(turn_of(epoch)) < in(epoch) ||
               (kLasts == 2 && known.previous + unsynced(turn_of(epoch - 1)) < in(epoch - 1));
    }
    static std::uint64_t age(std::int64_t epoch, Now now) {
        return static_cast<std::uint64_t>(tick_at(now) / kTicks - epoch);
    }
    static std::uint64_t age_of(const Account& account, Now now) {
        return static_cast<std::uint64_t>((turn_of(tick_at(now) / kTicks) - account.turn + kTurns) %
                                          kTurns);
    }
    template <typename Add>
    void add_state(Add& add, Now now) const {
        const std::int64_t epoch = tick_at(now) / kTicks;
        add(static_cast<std::uint64_t>(tick_at(now) % kTicks));
        for (std::int64_t near = epoch - 1; near <= epoch + 1; ++near) {
            add(in(near));
        }
    }
    template <typename Add>
    static void add_message(Add& add, const Delta& delta, Now now) {
        add(age(delta.epoch, now));
        add_total(add, delta.held, now);
    }
    template <typename Add>
    static void add_total(Add& add, const BucketState& total, Now now) {
        add(age(total.counts.epoch, now));
        add(total.counts.current);
        add(total.counts.previous);
    }
};

// The same with so many records that they never are few: what may wait does.
template <unsigned kLasts>
struct PatientWindows : Windows<kLasts> {
    static constexpr std::size_t kRecords = 16;
};

template <unsigned kLasts>
void explore_patient() {
    const std::size_t states = explore<PatientWindows<kLasts>>(
        {.workers = 2, .depth = 9 - kShorter, .most_restarts = 1, .late = true});
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

template <unsigned kLasts>
void explore_all() {
    const std::size_t two =
        explore<Windows<kLasts>>({.workers = 2, .depth = 11 - kShorter, .most_restarts = 1});
    std::printf("%zu states\n", two);
    EXPECT_GT(two, kShorter == 0 ? 10'000U : 100U);
    const std::size_t three =
        explore<Windows<kLasts>>({.workers = 3, .depth = 8 - kShorter, .most_restarts = 1});
    std::printf("%zu states\n", three);
    EXPECT_GT(three, kShorter == 0 ? 10'000U : 100U);
}

TEST(WindowExplorer, AmountsThatMayWait) {
    explore_patient<1>();
    explore_patient<2>();
}

TEST(WindowExplorer, Fixed) {
    explore_all<1>();
}

TEST(WindowExplorer, Sliding) {
    explore_all<2>();
}

}  // namespace
}  // namespace sluice::window_explorer_test
