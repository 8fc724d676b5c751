#include "lib/bucket/meter/store_asking.hpp"
#include "redis_server.hpp"
#include "tests/unit/control/store/store_model.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace sluice::store_function_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;

StoreBatch batch_of(std::uint64_t seq, std::vector<StoreEntry> entries) {
    return {.partition = 0, .seq = seq, .entries = std::move(entries)};
}

StoreEntry bucket(std::uint64_t units, std::uint64_t period_ns, std::uint64_t parts) {
    return {.digest = 1, .units = units, .period_ns = period_ns, .parts = parts};
}

StoreEntry window(std::uint64_t units, std::int64_t epoch, std::uint8_t lasts = 2) {
    return {.digest = 2, .units = units, .window_us = 10 * kSecond, .epoch = epoch, .lasts = lasts};
}

// One box that has the slot 0 of two.
struct Box {
    StoreModel store;
    StoreCaller caller{.size = 2, .slot = 0, .incarnation = 1, .birth = 9};
    std::uint64_t utc_us = 1'000 * 10 * kSecond;
    std::uint64_t seq = 0;

    StoreAnswerTo say(std::vector<StoreEntry> entries) {
        StoreAnswerTo answer = store.sync(caller, batch_of(++seq, std::move(entries)), utc_us);
        caller.born = answer.born;
        caller.reckoned_us = answer.now_us;
        return answer;
    }
    std::uint64_t level(const StoreEntry& entry) { return say({entry}).levels.at(0).current; }
};

TEST(StoreModel, PaysBackByTheCallersMonotonicClockAlone) {
    Box box;
    EXPECT_EQ(box.level(bucket(10, 1'000'000'000, 2)), 10U);
    box.utc_us += 3600 * kSecond;
    EXPECT_EQ(box.level(bucket(0, 1'000'000'000, 2)), 10U);
    box.utc_us -= 7200 * kSecond;
    box.caller.reckoned_us += kSecond + 1;  // instants are rounded up to a microsecond
    EXPECT_EQ(box.level(bucket(0, 1'000'000'000, 2)), 8U);
    box.caller.reckoned_us -= 500 * kSecond;
    EXPECT_EQ(box.level(bucket(0, 1'000'000'000, 2)), 8U);
}

// Ten units each microsecond, and three in ten days, said in steps that divide neither.
TEST(StoreModel, NoTimeIsLostBetweenAmounts) {
    Box fast;
    (void)fast.level(bucket(1'000'000'000, 1'000'000'000, 10'000'000));
    Box slow;
    (void)slow.level(bucket(1'000, 10 * 86'400'000'000'000, 3));
    for (int i = 0; i < 10'000; ++i) {
        fast.caller.reckoned_us += 7;
        slow.caller.reckoned_us += 864 * kSecond;
        (void)fast.level(bucket(0, 1'000'000'000, 10'000'000));
        (void)slow.level(bucket(0, 10 * 86'400'000'000'000, 3));
    }
    const std::uint64_t fast_level = fast.level(bucket(0, 1'000'000'000, 10'000'000));
    EXPECT_GE(fast_level, 1'000'000'000U - 700'000U);
    EXPECT_LE(fast_level, 1'000'000'000U - 700'000U + 1);
    const std::uint64_t slow_level = slow.level(bucket(0, 10 * 86'400'000'000'000, 3));
    EXPECT_GE(slow_level, 1'000U - 30U);
    EXPECT_LE(slow_level, 1'000U - 30U + 1);
}

TEST(StoreModel, ARetryIsReadAndAGapSaysTheLast) {
    Box box;
    const StoreEntry amount = bucket(5, 1'000'000'000, 1);
    EXPECT_EQ(box.level(amount), 5U);
    box.seq = 0;
    EXPECT_EQ(box.level(amount), 5U);
    box.seq = 2;
    const StoreAnswerTo gap = box.say({amount});
    EXPECT_EQ(gap.outcome, StoreOutcome::Gap);
    EXPECT_EQ(gap.last, 1U);
    box.seq = 1;
    EXPECT_EQ(box.level(amount), 10U);
}

TEST(StoreModel, OlderIncarnationsAndOtherSizesAreFenced) {
    Box box;
    (void)box.level(bucket(5, 1'000'000'000, 1));
    Box later = box;
    later.caller.incarnation = 2;
    later.seq = 0;
    EXPECT_EQ(later.level(bucket(1, 1'000'000'000, 1)), 6U);
    later.caller.incarnation = 1;
    EXPECT_EQ(later.say({bucket(1, 1'000'000'000, 1)}).outcome, StoreOutcome::Fenced);
    later.caller = {.size = 3, .slot = 1, .incarnation = 5, .birth = 9};
    later.seq = 0;
    EXPECT_EQ(later.say({bucket(1, 1'000'000'000, 1)}).outcome, StoreOutcome::Fenced);
}

TEST(StoreModel, WindowsOpenExpireAndAreNotOpenedAheadOfTime) {
    Box box;
    const std::int64_t now = 1'000;
    EXPECT_EQ(box.level(window(3, now)), 3U);
    const StoreAnswerTo before = box.say({window(4, now - 1)});
    EXPECT_EQ(before.levels[0].previous, 4U);
    EXPECT_TRUE(box.say({window(4, now - 2)}).levels[0].expired);
    EXPECT_TRUE(box.say({window(4, now - 1, 1)}).levels[0].expired);
    const StoreAnswerTo ahead = box.say({window(1, now + 1)});
    EXPECT_TRUE(ahead.levels[0].skewed);
    EXPECT_EQ(ahead.levels[0].current, 3U);
    --box.seq;
    EXPECT_TRUE(box.say({window(1, now + 1)}).levels[0].skewed);
    box.caller.reckoned_us += 10 * kSecond;
    const StoreAnswerTo opened = box.say({window(1, now + 1)});
    EXPECT_EQ(opened.levels[0].current, 1U);
    EXPECT_EQ(opened.levels[0].previous, 3U);
}

TEST(StoreModel, ADeclarationRaisesAndNeverAdds) {
    Box box;
    StoreEntry copy = bucket(7, 1'000'000'000, 1);
    copy.kind = StoreEntryKind::Declare;
    EXPECT_EQ(box.level(copy), 7U);
    EXPECT_EQ(box.level(copy), 7U);
    copy.units = 3;
    EXPECT_EQ(box.level(copy), 7U);
}

StoreEntry gauge(std::uint64_t open, std::uint64_t lease_s = 60) {
    return {.digest = 3,
            .kind = StoreEntryKind::Declare,
            .units = open,
            .period_ns = lease_s * 1'000'000'000,
            .parts = 1,
            .lasts = kGaugeLasts};
}

// A gauge said twice, by whatever number, counts once; others hear the sum of those that live.
TEST(StoreModel, AGaugeIsAbsoluteAndEndsWithItsLease) {
    Box one;
    EXPECT_EQ(one.level(gauge(5)), 0U);
    EXPECT_EQ(one.level(gauge(7)), 0U);
    EXPECT_EQ(one.level(gauge(7)), 0U);
    Box two = one;
    two.caller.slot = 1;
    two.seq = 0;
    EXPECT_EQ(two.level(gauge(2)), 7U);
    two.caller.reckoned_us += 59 * kSecond;
    EXPECT_EQ(two.level(gauge(3)), 7U);
    two.caller.reckoned_us += kSecond;
    EXPECT_EQ(two.level(gauge(3)), 0U);
    one.store = two.store;
    one.caller.reckoned_us = two.caller.reckoned_us;
    EXPECT_EQ(one.level(gauge(1)), 3U);
    EXPECT_EQ(one.level(gauge(0)), 3U);
    --one.seq;
    EXPECT_EQ(one.level(gauge(0)), 3U) << "the same batch again";
    two.store = one.store;
    EXPECT_EQ(two.level(gauge(3)), 0U);
}

// Random batches of several boxes: few keys, so that limits change their numbers and kinds.
class RandomCourse {
public:
    explicit RandomCourse(std::uint64_t seed) : random_{seed} {}

    StoreBatch batch(std::uint64_t seq, std::uint64_t now_us) {
        StoreBatch batch{.partition = static_cast<std::uint16_t>(below(2)), .seq = seq};
        for (std::uint64_t i = below(12); i != 0; --i) {
            batch.entries.push_back(entry(now_us));
        }
        return batch;
    }
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    std::uint64_t any_size() { return random_() >> below(64); }

private:
    StoreEntry entry(std::uint64_t now_us) {
        StoreEntry entry{.digest = below(40), .step = static_cast<std::uint8_t>(below(2))};
        entry.kind = below(5) == 0 ? StoreEntryKind::Declare : StoreEntryKind::Add;
        entry.units = below(20) == 0 ? any_size() : below(1000);
        if ((entry.digest + below(50) / 49) % 5 == 0) {
            entry.units = below(4) == 0 ? 0 : entry.units;
            entry.period_ns = 1 + below(100'000'000'000);
            entry.parts = 1;
            entry.lasts = kGaugeLasts;
            return entry;
        }
        if (below(4) == 0) {
            entry.kind = StoreEntryKind::Ask;
            entry.most = 1 + (below(20) == 0 ? any_size() : below(3000));
        }
        if ((entry.digest + below(50) / 49) % 2 == 0) {
            entry.period_ns = std::max<std::uint64_t>(any_size() >> 8, 1);
            entry.parts = std::max<std::uint64_t>(any_size() >> 30, 1);
            return entry;
        }
        entry.window_us = below(8) == 0 ? 1 + below(5'000'000) : 1'000'000 * (1 + below(3));
        entry.phase_us = below(2) * below(entry.window_us);
        entry.lasts = static_cast<std::uint8_t>(1 + below(2));
        if (entry.kind == StoreEntryKind::Ask) {
            entry.lasts += kLastsByClock - 1;
            if (entry.digest % 8 == 3) {
                entry.lasts = kLastsLogged;
                entry.units = below(20);
                entry.most = below(kMostLogged + 1);
            }
            return entry;
        }
        entry.epoch =
            static_cast<std::int64_t>((now_us + entry.phase_us) / entry.window_us + below(4)) - 2;
        return entry;
    }
    std::mt19937_64 random_;
};

bool same(const StoreLevel& a, const StoreLevel& b) {
    return a.current == b.current && a.previous == b.previous && a.epoch == b.epoch &&
           a.expired == b.expired && a.skewed == b.skewed && a.refused == b.refused &&
           a.less_in_us == b.less_in_us;
}

// What the model says of the call, with the time that the real store had.
::testing::AssertionResult agrees(const StoreAnswerTo& real, const StoreAnswerTo& model) {
    if (real.outcome != model.outcome || real.born != model.born || real.now_us != model.now_us ||
        real.last != model.last || real.held != model.held ||
        real.levels.size() != model.levels.size()) {
        return ::testing::AssertionFailure()
               << "outcome " << int(real.outcome) << " " << int(model.outcome) << ", clock "
               << real.now_us << " " << model.now_us << ", last " << real.last << " " << model.last;
    }
    for (std::size_t i = 0; i < real.levels.size(); ++i) {
        if (!same(real.levels[i], model.levels[i])) {
            return ::testing::AssertionFailure()
                   << "entry " << i << ": " << real.levels[i].current << " "
                   << model.levels[i].current << ", epoch " << real.levels[i].epoch << " "
                   << model.levels[i].epoch;
        }
    }
    return ::testing::AssertionSuccess();
}

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Each answer of a real store is the model's, over retries, gaps, fences, clocks that lag or jump,
// numbers that change, amounts near 2^53. SLUICE_STORE_BATCHES and SLUICE_SEED change the course.
TEST(StoreFunction, AnswersAsItsModel) {
    const std::uint64_t seed = number_from("SLUICE_SEED", std::random_device{}());
    SCOPED_TRACE(seed);
    std::printf("SLUICE_SEED=%llu\n", static_cast<unsigned long long>(seed));
    test::RedisServer server;
    ASSERT_TRUE(server.begin());
    RandomCourse course{seed};
    StoreModel model;
    std::array<std::array<std::uint64_t, 3>, 2> seq{};
    std::array<std::uint64_t, 2> told{};
    std::array<std::uint64_t, 2> born{};
    for (std::uint64_t i = number_from("SLUICE_STORE_BATCHES", 4000); i != 0; --i) {
        const auto slot = static_cast<std::uint16_t>(course.below(3));
        StoreBatch batch = course.batch(0, told[0]);
        batch.seq = seq[batch.partition][slot] + (course.below(10) == 0 ? course.below(4) : 1);
        const StoreCaller caller{
            .size = static_cast<std::uint16_t>(course.below(60) == 0 ? 4 : 3),
            .slot = slot,
            .incarnation = course.below(60) == 0 ? 4U : 5U,
            .reckoned_us = told[batch.partition] + course.any_size() % (40 * kSecond) +
                           (course.below(200) == 0 ? 5'000 * kSecond : 0) -
                           std::min(told[batch.partition], course.below(kSecond)),
            .born = course.below(20) == 0 ? 7 : born[batch.partition],
            .birth = 1 + course.below(1U << 30),
            .again = course.below(2) == 0};
        const RedisReplyOwner reply = server.call(sync_command("test", caller, batch));
        ASSERT_NE(reply, nullptr);
        const Result<StoreAnswerTo> real = sync_answer(*reply, batch);
        ASSERT_TRUE(real.has_value()) << std::string_view{reply->str ? reply->str : ""};
        ASSERT_TRUE(agrees(*real, model.sync(caller, batch, real->utc_us))) << "batch " << i;
        if (real->outcome != StoreOutcome::Fenced) {
            seq[batch.partition][slot] = real->last;
        }
        told[batch.partition] = real->now_us;
        born[batch.partition] = real->born;
    }
}

std::string bytes_of(std::initializer_list<double> numbers) {
    std::string bytes;
    for (const double number : numbers) {
        bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }
    return bytes;
}

// A call in the form of sync_call, with numbers that no sluice-store packs.
struct RawCall {
    double units = 1;
    double period_ns = 1e9;
    double parts = 1;
    double reckoned_us = 0;
    double seq = 1;
    char term = 0;

    [[nodiscard]] std::string command() const {
        const std::string head =
            std::string{"\2\0\0\0\0", 5} + bytes_of({1, seq, reckoned_us}) + bytes_of({9, 9});
        const std::string terms = bytes_of({period_ns, parts}) + '\0';
        const std::string entry = std::string(10, '\0') + term + bytes_of({units});
        return redis_command(
            std::vector<std::string>{"FCALL", "sl1_sync", "1", "sluice:{raw}", head, terms, entry});
    }
};

TEST(StoreFunction, WhatNoBoxCanHaveMeantIsRefusedWhole) {
    test::RedisServer server;
    ASSERT_TRUE(server.begin());
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const RawCall& call :
         {RawCall{.units = -1}, RawCall{.units = nan}, RawCall{.units = infinity},
          RawCall{.period_ns = 0}, RawCall{.period_ns = nan}, RawCall{.parts = 0},
          RawCall{.parts = -1}, RawCall{.seq = nan}, RawCall{.term = 1}}) {
        const RedisReplyOwner reply = server.call(call.command());
        ASSERT_NE(reply, nullptr);
        EXPECT_EQ(reply->type, REDIS_REPLY_ERROR);
    }
    const RedisReplyOwner sound = server.call(RawCall{}.command());
    ASSERT_EQ(sound->type, REDIS_REPLY_ARRAY);
    ASSERT_EQ(sound->elements, 6U);
    EXPECT_EQ(sound->element[5]->integer, 1);
    // No reckoning takes a clock further than an hour beyond all that the store knows.
    const long long clock = sound->element[2]->integer;
    for (const double reckoned : {0x1p53, infinity, nan}) {
        const RedisReplyOwner later =
            server.call(RawCall{.reckoned_us = reckoned, .seq = 9}.command());
        ASSERT_EQ(later->type, REDIS_REPLY_ARRAY);
        EXPECT_LT(later->element[2]->integer, clock + 3'700'000'000);
    }
}

StoreEntry asked(std::uint8_t lasts) {
    StoreEntry entry{.digest = 3, .kind = StoreEntryKind::Ask, .units = 1, .most = 5};
    if (lasts == 0) {
        entry.period_ns = 12'000'000'000;
        entry.parts = 1;
    } else {
        entry.window_us = 60 * kSecond;
        entry.lasts = lasts;
    }
    return entry;
}

TEST(StoreModel, AYearOfTheStoresClockOpensNoAskedWindow) {
    constexpr std::uint64_t kYear = 365 * 86'400 * kSecond;
    Box box;
    const StoreEntry login = asked(kLastsByClock);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(box.say({login}).levels[0].refused);
    }
    box.utc_us += kYear;
    EXPECT_TRUE(box.say({login}).levels[0].refused);
    box.utc_us += 60 * kSecond - kYear;
    box.caller.reckoned_us += 60 * kSecond;
    EXPECT_EQ(box.say({login}).levels[0].current, 1U);
    // Within an hour a window opens too soon, and keeps nobody out once the clock is right again.
    box.utc_us += 1'800 * kSecond;
    EXPECT_EQ(box.say({login}).levels[0].current, 1U);
    box.utc_us -= 1'800 * kSecond;
    EXPECT_EQ(box.say({login}).levels[0].current, 2U);
    box.utc_us += 60 * kSecond;
    box.caller.reckoned_us += 60 * kSecond;
    EXPECT_EQ(box.say({login}).levels[0].current, 1U);
}

TEST(StoreModel, WhatIsAskedIsToldWhenTheNextUnitIsPaid) {
    Box box;
    const StoreEntry login = asked(0);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(box.say({login}).levels[0].refused);
    }
    box.caller.reckoned_us += 9 * kSecond;
    const StoreLevel refused = box.say({login}).levels[0];
    EXPECT_TRUE(refused.refused);
    EXPECT_NEAR(static_cast<double>(refused.less_in_us), 3e6, 10.0);
    box.caller.reckoned_us += refused.less_in_us + 10;
    EXPECT_FALSE(box.say({login}).levels[0].refused);
}

// Each unit counts for the window, and no longer than it; what has no room is not logged.
TEST(StoreModel, ALogForgetsEachUnitByItsOwnTime) {
    Box box;
    const StoreEntry login = asked(kLastsLogged);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(box.say({login}).levels[0].refused) << i;
        box.caller.reckoned_us += 10 * kSecond;
    }
    const StoreLevel refused = box.say({login}).levels[0];
    EXPECT_TRUE(refused.refused);
    EXPECT_EQ(refused.less_in_us, 10 * kSecond);
    box.caller.reckoned_us += 10 * kSecond;
    EXPECT_EQ(box.say({login}).levels[0].current, 5U) << "the first is of a minute ago";
    EXPECT_TRUE(box.say({login}).levels[0].refused);
    box.caller.reckoned_us += 3600 * kSecond;
    EXPECT_EQ(box.say({login}).levels[0].current, 1U);
}

// Two boxes ask in turns, each of whose batches is said twice: five of ten are admitted, at a real
// store; and what the time gives is admitted again.
TEST(StoreFunction, WhatIsAskedIsAdmittedUpToTheLimitOverAllBoxes) {
    for (const std::uint8_t lasts : {std::uint8_t{0}, kLastsByClock, kLastsByKey, kLastsLogged}) {
        SCOPED_TRACE(int{lasts});
        test::RedisServer server;
        ASSERT_TRUE(server.begin());
        StoreCaller caller{.size = 2, .slot = 0, .incarnation = 1, .birth = 9};
        std::uint64_t admitted = 0;
        const auto say = [&](std::uint16_t slot, std::uint64_t seq) {
            const StoreBatch batch = batch_of(seq, {asked(lasts)});
            caller.slot = slot;
            const RedisReplyOwner reply = server.call(sync_command("test", caller, batch));
            const StoreAnswerTo answer = *sync_answer(*reply, batch);
            caller.reckoned_us = answer.now_us;
            caller.born = answer.born;
            return answer.levels.at(0);
        };
        for (std::uint64_t seq = 1; seq <= 5; ++seq) {
            for (const std::uint16_t slot : {std::uint16_t{0}, std::uint16_t{1}}) {
                const StoreLevel first = say(slot, seq);
                const StoreLevel again = say(slot, seq);
                EXPECT_EQ(first.refused, again.refused);
                EXPECT_EQ(first.current, again.current);
                admitted += first.refused ? 0 : 1;
            }
        }
        EXPECT_EQ(admitted, 5U);
        caller.reckoned_us += 61 * kSecond;
        const StoreLevel later = say(0, 6);
        EXPECT_FALSE(later.refused);
        EXPECT_EQ(later.current, 1U);
    }
}

// One box merges the limit and another asks about it: both count in one window, whoever comes
// first, and nothing that one has added is lost to the other.
TEST(StoreFunction, MergedAndAskedWindowsOfOneKeyAreOneCount) {
    test::RedisServer server;
    ASSERT_TRUE(server.begin());
    StoreModel model;
    constexpr std::uint64_t kLength = 3'600 * kSecond;
    StoreCaller caller{.size = 2, .incarnation = 1, .birth = 9};
    StoreEntry asks = asked(kLastsByClock);
    asks.window_us = kLength;
    asks.most = 8;
    StoreEntry adds{.digest = 3, .units = 1, .window_us = kLength, .lasts = 1};
    const auto say = [&](std::uint16_t slot, std::uint64_t seq, const StoreEntry& entry) {
        const StoreBatch batch = batch_of(seq, {entry});
        caller.slot = slot;
        const RedisReplyOwner reply = server.call(sync_command("test", caller, batch));
        const StoreAnswerTo answer = *sync_answer(*reply, batch);
        EXPECT_TRUE(agrees(answer, model.sync(caller, batch, answer.utc_us)));
        caller.reckoned_us = answer.now_us;
        caller.born = answer.born;
        return answer.levels.at(0);
    };
    const RedisReplyOwner time = server.call(redis_command(std::vector<std::string>{"TIME"}));
    const std::uint64_t utc_us = std::stoull(time->element[0]->str) * kSecond;
    // A phase that puts the beginning of a window half an hour before now.
    asks.phase_us = adds.phase_us = (kLength + kLength / 2 - utc_us % kLength) % kLength;
    adds.epoch = static_cast<std::int64_t>((utc_us + adds.phase_us) / kLength);
    for (std::uint64_t seq = 1; seq <= 4; ++seq) {
        EXPECT_EQ(say(0, seq, adds).current, 2 * seq - 1);
        const StoreLevel level = say(1, seq, asks);
        EXPECT_EQ(level.current, 2 * seq);
        EXPECT_FALSE(level.refused);
        EXPECT_LE(level.less_in_us, kLength / 2);
        EXPECT_GT(level.less_in_us, kLength / 4);
    }
    EXPECT_TRUE(say(1, 5, asks).refused);
    EXPECT_EQ(say(0, 5, adds).current, 9U);
    caller.reckoned_us += kLength;
    EXPECT_EQ(say(1, 6, asks).current, 1U);
}

// A box that tells nothing for half an hour, and ends: its time is not lost.
TEST(StoreFunction, ATickMovesThePartitionsClock) {
    constexpr std::uint64_t kHalfAnHour = 1'800 * kSecond;
    test::RedisServer server;
    ASSERT_TRUE(server.begin());
    const std::string key = partition_key("test", 0);
    const RedisReplyOwner none = server.call(tick_command(key, 5, 9, CallBy::Function));
    EXPECT_EQ(tick_answer(*none)->born, 0U);
    StoreCaller caller{.size = 2, .slot = 0, .incarnation = 1, .birth = 9};
    const StoreEntry amount = bucket(10'000, 1'000'000'000, 1);
    const auto level = [&](std::uint64_t seq) {
        const StoreBatch batch = batch_of(seq, {amount});
        const RedisReplyOwner reply = server.call(sync_command("test", caller, batch));
        return *sync_answer(*reply, batch);
    };
    const StoreAnswerTo first = level(1);
    const std::uint64_t later = first.now_us + kHalfAnHour;
    const RedisReplyOwner other = server.call(tick_command(key, later, 8, CallBy::Function));
    EXPECT_EQ(tick_answer(*other)->now_us, first.now_us) << "of another birth";
    const RedisReplyOwner moved = server.call(tick_command(key, later, 9, CallBy::Function));
    EXPECT_EQ(tick_answer(*moved)->now_us, later);
    const StoreAnswerTo second = level(2);
    EXPECT_EQ(second.now_us, later);
    EXPECT_EQ(second.levels.at(0).current, 20'000U - 1'799U);
}

}  // namespace
}  // namespace sluice::store_function_test
