#include "dataplane/store/store_batches.hpp"

#include "tests/unit/dataplane/store/tiny_store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace sluice::store_batches_test {
namespace {

using namespace std::chrono_literals;

class StoreBatchesTest : public testing::Test {
protected:
    void tell(std::uint64_t hash, std::uint32_t units, std::uint32_t record = 0,
              LimitSlot slot = 1) {
        StoreAmount* amount = lane_.amounts.next();
        ASSERT_NE(amount, nullptr);
        *amount = {.account = {.hash = hash, .slot = slot},
                   .units = units,
                   .record = record,
                   .numbers = {.period = 1'000'000, .parts = 1, .lasts = 0}};
        lane_.amounts.commit();
        lane_.amounts.publish();
    }
    void take() { batches_.take(0, lane_, now_); }
    const StoreBatch* say() { return batches_.next_to_say(now_); }
    std::vector<StoreTotal> heard() {
        batches_.deliver(0, lane_);
        std::vector<StoreTotal> totals;
        lane_.totals.drain([&](const StoreTotal& total) { totals.push_back(total); });
        return totals;
    }
    static StoreReply reply_to(const StoreBatch& batch, std::uint64_t level = 7) {
        return {.partition = batch.partition,
                .seq = batch.seq,
                .last = batch.seq,
                .now_us = 1,
                .born = 5,
                .levels = std::vector<StoreLevel>(batch.entries.size(), {.current = level})};
    }

    StoreSignals signals_;
    StoreLane lane_{{.ring = 4096}, signals_};
    StoreBatches batches_{1, 200'000};
    Nanoseconds now_ = 100s;
};

TEST_F(StoreBatchesTest, ClocksAreThoseOfTheQuickestAnswers) {
    const auto settle = [&](std::uint64_t clock_us, Nanoseconds after, std::uint64_t born = 5) {
        tell(3, 1);
        take();
        now_ += after;
        StoreReply reply = reply_to(*say());
        reply.now_us = clock_us;
        reply.born = born;
        batches_.settle(reply, now_);
        return batches_.clocks().clocks;
    };
    EXPECT_TRUE(batches_.clocks().clocks.empty());
    const std::vector<StoreClockReading> first = settle(1'000'000, 0s);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].partition, 0U);
    EXPECT_EQ(first[0].born, 5U);
    EXPECT_EQ(first[0].ahead_us, 1'000'000 - 100'000'000);
    EXPECT_EQ(settle(2'000'000, 3s)[0].ahead_us, first[0].ahead_us) << "an answer that was late";
    EXPECT_EQ(settle(5'900'000, 1s)[0].ahead_us, 5'900'000 - 104'000'000);
    EXPECT_EQ(settle(9'000'000, 1s)[0].ahead_us, 5'900'000 - 104'000'000) << "no clock runs so";
    EXPECT_EQ(settle(1, 1s, 6)[0].ahead_us, 1 - 106'000'000) << "of another birth";
}

TEST_F(StoreBatchesTest, AnAmountIsSaidUntilItIsAnswered) {
    tell(3, 10, 42);
    take();
    EXPECT_EQ(batches_.unsynced(), 10U);
    const StoreBatch* said = say();
    ASSERT_NE(said, nullptr);
    const StoreBatch first = *said;
    EXPECT_EQ(first.seq, 1U);
    ASSERT_EQ(first.entries.size(), 1U);
    EXPECT_EQ(first.entries[0].units, 10U);
    EXPECT_EQ(say(), nullptr) << "one is under way";
    now_ += StoreBatches::kSayAgain;
    tell(3, 5);
    take();
    said = say();
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->seq, 1U);
    EXPECT_EQ(said->entries.size(), 1U) << "a batch stays as it was made";
    EXPECT_EQ(batches_.counts().said_again, 1U);
    batches_.settle(reply_to(first), now_);
    const std::vector<StoreTotal> totals = heard();
    ASSERT_EQ(totals.size(), 1U);
    EXPECT_EQ(totals[0].record, 42U);
    EXPECT_EQ(totals[0].units, 10U);
    EXPECT_EQ(totals[0].current, 7U);
    EXPECT_EQ(totals[0].kind, StoreTotal::Kind::Level);
    EXPECT_EQ(batches_.unsynced(), 5U);
    said = say();
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->seq, 2U);
}

TEST_F(StoreBatchesTest, AReplySettlesWhatIsUnderWayAndNothingElse) {
    tell(3, 10);
    take();
    const StoreBatch batch = *say();
    StoreReply wrong = reply_to(batch);
    wrong.seq = 2;
    batches_.settle(wrong, now_);
    wrong = reply_to(batch);
    wrong.partition = 255;
    batches_.settle(wrong, now_);
    wrong = reply_to(batch);
    wrong.levels.clear();
    batches_.settle(wrong, now_);
    wrong = reply_to(batch);
    wrong.partition = static_cast<std::uint16_t>(batch.partition + 1);
    batches_.settle(wrong, now_);
    EXPECT_TRUE(heard().empty());
    EXPECT_EQ(batches_.counts().strange, 4U);
    batches_.settle(reply_to(batch), now_);
    batches_.settle(reply_to(batch), now_);
    EXPECT_EQ(heard().size(), 1U);
    EXPECT_EQ(batches_.counts().strange, 5U);
    EXPECT_EQ(batches_.unsynced(), 0U);
}

TEST_F(StoreBatchesTest, PartitionsDoNotWaitForEachOther) {
    tell(0, 1);
    tell(~std::uint64_t{0}, 2);
    take();
    const StoreBatch one = *say();
    const StoreBatch other = *say();
    EXPECT_NE(one.partition, other.partition);
    batches_.settle(reply_to(other), now_);
    ASSERT_EQ(heard().size(), 1U);
    EXPECT_TRUE(batches_.oldest_under_way().has_value());
}

TEST_F(StoreBatchesTest, ABatchHasNoMoreKeysThanTheStoreTakes) {
    for (std::uint32_t i = 0; i < 300; ++i) {
        tell(i, 1, i);
    }
    take();
    std::size_t entries = 0;
    std::uint64_t seq = 0;
    while (const StoreBatch* batch = say()) {
        EXPECT_LE(batch->entries.size(), kMostStoreEntries);
        EXPECT_EQ(batch->seq, ++seq);
        entries += batch->entries.size();
        batches_.settle(reply_to(*batch), now_);
        now_ += StoreBatches::kLeastGap;
    }
    EXPECT_EQ(entries, 300U);
    EXPECT_EQ(heard().size(), 300U);
}

// A store with fewer partitions answers nothing of the others: what is under way there would hold
// up the box for good.
TEST_F(StoreBatchesTest, WhatIsUnderWayInAPartitionThatIsGoneIsGivenBack) {
    batches_.set_partitions(kMostStorePartitions);
    tell(UINT64_MAX, 10, 42);  // of the last partition
    take();
    ASSERT_NE(say(), nullptr);
    batches_.set_partitions(kStorePartitions);
    EXPECT_FALSE(batches_.oldest_under_way());
    const std::vector<StoreTotal> totals = heard();
    ASSERT_EQ(totals.size(), 1U);
    EXPECT_EQ(totals[0].kind, StoreTotal::Kind::Later);
    EXPECT_EQ(totals[0].record, 42U);
    EXPECT_EQ(batches_.unsynced(), 0U);
    for (const std::uint16_t partitions : {kStorePartitions, std::uint16_t{1}}) {
        batches_.set_partitions(partitions);
        tell(UINT64_MAX, 10, 42);
        take();
        const StoreBatch* said = say();
        ASSERT_NE(said, nullptr) << partitions;
        EXPECT_EQ(said->partition, partitions - 1);
        batches_.settle(reply_to(*said), now_);
        now_ += StoreBatches::kLeastGap;
    }
}

TEST_F(StoreBatchesTest, WhatFindsNoRoomIsGivenBack) {
    for (std::size_t i = 0; i < StoreBatches::kMostWaiting + 3; ++i) {
        tell(i, 1, static_cast<std::uint32_t>(i));
    }
    take();
    EXPECT_EQ(batches_.counts().put_off, 3U);
    const std::vector<StoreTotal> totals = heard();
    ASSERT_EQ(totals.size(), 3U);
    EXPECT_EQ(totals[0].kind, StoreTotal::Kind::Later);
    EXPECT_EQ(batches_.unsynced(), StoreBatches::kMostWaiting);
}

TEST_F(StoreBatchesTest, WhatIsBeyondTheBudgetIsGivenBackAndHoldsUpNobody) {
    StoreBatches few{1, 100};
    for (std::uint32_t i = 0; i < 50; ++i) {
        tell(i, 1, i, 1);
    }
    tell(50, 1, 50, 2);
    few.take(0, lane_, now_);
    EXPECT_TRUE(few.is_short());
    EXPECT_EQ(few.counts().amounts - few.counts().put_off, few.unsynced());
    EXPECT_EQ(lane_.amounts.waiting(SIZE_MAX), 1U) << "of another limit, within its part";
    now_ += 10ms;
    few.take(0, lane_, now_);
    EXPECT_FALSE(few.is_short());
    EXPECT_EQ(lane_.amounts.waiting(SIZE_MAX), 0U);
    EXPECT_EQ(few.unsynced(), 11U);
}

TEST_F(StoreBatchesTest, AfterAGapTheNextNumberIsTheStores) {
    test::TinyStore store;
    for (std::uint64_t i = 1; i <= 3; ++i) {
        tell(3, 1);
        take();
        const StoreBatch batch = *say();
        ASSERT_EQ(batch.seq, i);
        batches_.settle(store.sync(0, batch, 1), now_);
        now_ += StoreBatches::kLeastGap;
    }
    store.begin_anew(9);
    tell(3, 1);
    take();
    batches_.settle(store.sync(0, *say(), 1), now_);
    EXPECT_EQ(batches_.counts().gaps, 1U);
    const StoreBatch* again = say();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->seq, 1U);
    batches_.settle(store.sync(0, *again, 1), now_);
    EXPECT_EQ(batches_.counts().lost, 1U);
    EXPECT_EQ(heard().size(), 4U);
}

TEST_F(StoreBatchesTest, AStoreThatIsAheadIsFollowed) {
    tell(3, 1);
    take();
    StoreReply gap = reply_to(*say());
    gap.outcome = StoreOutcome::Gap;
    gap.last = 7;
    gap.levels.clear();
    batches_.settle(gap, now_);
    const StoreBatch* next = say();
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->seq, 8U);
    EXPECT_EQ(batches_.counts().gaps, 0U) << "nothing that was confirmed is lost";
    batches_.settle(reply_to(*next), now_);
    EXPECT_EQ(heard().size(), 1U);
    tell(3, 1);
    take();
    now_ += StoreBatches::kLeastGap;
    EXPECT_EQ(say()->seq, 9U);
}

TEST_F(StoreBatchesTest, WhoIsFencedGetsNoCredit) {
    test::TinyStore store;
    store.fenced = true;
    tell(3, 1);
    take();
    const StoreBatch batch = *say();
    batches_.settle(store.sync(0, batch, 1), now_);
    EXPECT_TRUE(heard().empty());
    EXPECT_EQ(batches_.unsynced(), 1U);
    store.fenced = false;
    now_ += StoreBatches::kSayAgain;
    batches_.settle(store.sync(0, *say(), 1), now_);
    EXPECT_EQ(heard().size(), 1U);
}

TEST_F(StoreBatchesTest, AWindowThatIsOverIsLetGoOfAndOneAheadToo) {
    tell(3, 1, 1);
    tell(3, 1, 2);
    take();
    StoreReply reply = reply_to(*say());
    ASSERT_EQ(reply.levels.size(), 2U);
    reply.levels[0].expired = true;
    reply.levels[1].skewed = true;
    batches_.settle(reply, now_);
    const std::vector<StoreTotal> totals = heard();
    ASSERT_EQ(totals.size(), 2U);
    EXPECT_EQ(totals[0].kind, StoreTotal::Kind::Over);
    EXPECT_EQ(totals[1].kind, StoreTotal::Kind::Ahead);
    EXPECT_EQ(batches_.counts().skewed, 1U);
}

}  // namespace
}  // namespace sluice::store_batches_test
