#include "tests/unit/peer/merge/explorer.hpp"
#include "lib/peer/merge/bucket_state.hpp"

// Token and leaky buckets.
namespace sluice::explorer_test {
namespace {

constexpr std::uint64_t kBurst = 3;

// One unit in two ticks.
const Limit& limit() {
    static const Limit kLimit = *Limit::make({Units{1}, 2 * kTick}, Units{kBurst});
    return kLimit;
}

// One account's bucket at one worker, which is forgotten as soon as it equals a fresh one.
struct OneBucket {
    Gcra bucket;
    bool has_place = true;  // for a bucket that is not there
    Entry entry;            // its lease
    std::uint64_t max_unsynced = 0;

    static void prefetch(const Account&) noexcept {}
    std::uint64_t recall(const Account&) noexcept {
        const std::uint32_t units = entry.lease();
        entry.set_lease(0);
        return units;
    }
    [[nodiscard]] Leasing leasing(const Account&) const noexcept {
        return {max_unsynced, bucket.fresh_from};
    }
    void grant(const Account&, std::uint32_t units) noexcept { entry.set_lease(units); }
    [[nodiscard]] static bool shares(const Account&) noexcept { return true; }
    BucketState copy_of(const Account&, Now now) noexcept {
        return {.bucket = bucket.fresh_from <= now.at ? Gcra{} : bucket};
    }
    bool apply(const Delta& delta, Now now, BucketState& total) noexcept {
        if (bucket.fresh_from <= now.at && !has_place) {
            return false;
        }
        bucket = charged(bucket, limit(), {delta.at, delta.units}, now.at);
        total = {.bucket = bucket};
        return true;
    }
    bool raise(const Account&, const BucketState& total, const More& more, Now now) noexcept {
        const Instant before = total.bucket.fresh_from - Nanoseconds{1};
        const Gcra owed =
            charged(total.bucket, limit(), {std::min(now.at, before), more.current}, now.at);
        if (owed.fresh_from > now.at && bucket.fresh_from <= now.at && !has_place) {
            return false;
        }
        bucket = owes_more(owed, bucket) ? owed : bucket;
        return true;
    }

    static constexpr bool kQuick = true;  // ChargeAhead is for such accounts
    static const Limit& limit_of() { return limit(); }
    [[nodiscard]] static Account charged_in(const Account& account, Now) { return account; }
    [[nodiscard]] bool admits(Now now) const {
        return sluice::admits(bucket, limit(), now.at, Units{1});
    }
    void charge(Now now) { sluice::charge(bucket, limit(), now.at, Units{1}); }
    template <typename Add>
    void add_state(Add& add, Now now) const {
        add(debt_of(bucket, limit(), now.at));
        add(entry.lease());
    }
    // A process that begins again finds that all of it counts as spent (recover.cpp).
    void begin_again() { entry.set_lease(0); }
};
static_assert(LedgerBackend<OneBucket>);

// All workers' charges in one bucket.
struct Bucket {
    using Book = OneBucket;
    static constexpr std::uint64_t kMaxUnsynced = 2;
    Gcra exact;

    static constexpr std::size_t kRecords = 1;
    static constexpr std::size_t kRing = 2;

    static std::uint64_t age_of(const Account& /*account*/, Now /*now*/) { return 0; }
    static Now time_of(std::size_t /*worker*/, Now now) { return now; }
    void charge(const OneBucket& /*copy*/, Now now) {
        exact = charged(exact, limit(), {now.at, 1}, now.at);
    }
    [[nodiscard]] bool is_beyond(std::size_t others, Now now) const {
        return debt_of(exact, limit(), now.at) >
               limit().full() + others * kMaxUnsynced * limit().period();
    }
    template <typename Unsynced>
    [[nodiscard]] bool has_lost(std::vector<OneBucket>& ledger_store, Unsynced&& unsynced,
                                Now now) const {
        const std::uint64_t known = debt_of(ledger_store[0].bucket, limit(), now.at);
        return known + unsynced(Turn{0}) * limit().period() < debt_of(exact, limit(), now.at);
    }
    template <typename Add>
    void add_state(Add& add, Now now) const {
        add(debt_of(exact, limit(), now.at));
    }
    template <typename Add>
    static void add_message(Add& add, const Delta& delta, Now now) {
        add(debt_of(delta.held.bucket, limit(), now.at));
        add(debt_of({delta.at, 0}, limit(), now.at));
    }
    template <typename Add>
    static void add_total(Add& add, const BucketState& total, Now now) {
        add(debt_of(total.bucket, limit(), now.at));
    }
};

// The same with so many records that they never are few: what may wait does.
struct PatientBucket : Bucket {
    static constexpr std::uint64_t kMaxUnsynced = 4;
    static constexpr std::size_t kRecords = 8;
    [[nodiscard]] bool is_beyond(std::size_t others, Now now) const {
        return debt_of(exact, limit(), now.at) >
               limit().full() + others * kMaxUnsynced * limit().period();
    }
};

// And so much may be unsynced that who is charged again has a lease.
struct LeasedBucket : Bucket {
    static constexpr std::uint64_t kMaxUnsynced = 8;
    static constexpr std::size_t kRecords = 64;
    [[nodiscard]] bool is_beyond(std::size_t others, Now now) const {
        return debt_of(exact, limit(), now.at) >
               limit().full() + others * kMaxUnsynced * limit().period();
    }
};

TEST(Explorer, Leases) {
    const std::size_t two = explore<LeasedBucket>(
        {.workers = 2, .depth = 11 - kShorter, .most_restarts = 1, .late = true});
    std::printf("%zu states\n", two);
    EXPECT_GT(two, kShorter == 0 ? 10'000U : 100U);
}

TEST(Explorer, AmountsThatMayWait) {
    const std::size_t two = explore<PatientBucket>(
        {.workers = 2, .depth = 11 - kShorter, .most_restarts = 1, .late = true});
    std::printf("%zu states\n", two);
    EXPECT_GT(two, kShorter == 0 ? 10'000U : 100U);
    const std::size_t three = explore<PatientBucket>(
        {.workers = 3, .depth = 7 - kShorter, .most_restarts = 1, .late = true});
    std::printf("%zu states\n", three);
    EXPECT_GT(three, kShorter == 0 ? 10'000U : 100U);
}

TEST(Explorer, AmountsThatMayWaitButRecordsAreFew) {
    const std::size_t states =
        explore<Bucket>({.workers = 2, .depth = 9 - kShorter, .most_restarts = 1, .late = true});
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 1'000U : 100U);
}

TEST(Explorer, TwoWorkers) {
    const std::size_t states =
        explore<Bucket>({.workers = 2, .depth = 13 - kShorter, .most_restarts = 1});
    RecordProperty("states", static_cast<int>(states));
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

TEST(Explorer, ThreeWorkers) {
    const std::size_t states =
        explore<Bucket>({.workers = 3, .depth = 8 - kShorter, .most_restarts = 1});
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

TEST(Explorer, FourWorkersWithoutRestarts) {
    const std::size_t states =
        explore<Bucket>({.workers = 4, .depth = 6 - kShorter, .most_restarts = 0});
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

}  // namespace
}  // namespace sluice::explorer_test
