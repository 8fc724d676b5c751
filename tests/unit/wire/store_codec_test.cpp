#include "lib/wire/store_codec.hpp"

#include "lib/wire/frame_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace sluice::store_codec_test {
namespace {

using Bytes = std::vector<std::byte>;

StoreEntry bucket(std::uint64_t digest) {
    return {
        .digest = digest, .step = 3, .units = 17, .period_ns = 1'000'000'000, .parts = 10'000'000};
}

StoreEntry window(std::uint64_t digest) {
    return {.digest = digest,
            .kind = StoreEntryKind::Declare,
            .units = std::numeric_limits<std::uint64_t>::max(),
            .window_us = 60'000'000,
            .phase_us = 5,
            .epoch = -4,
            .lasts = 2};
}

StoreEntry gauge(std::uint64_t digest) {
    return {.digest = digest,
            .kind = StoreEntryKind::Declare,
            .units = 7,
            .period_ns = 60'000'000'000,
            .parts = 1,
            .lasts = kGaugeLasts};
}

std::vector<StoreRequest> requests() {
    StoreBatch full{.partition = 255, .seq = 1ULL << 60, .entries = {}};
    for (std::size_t i = 0; i < kMostStoreEntries; ++i) {
        full.entries.push_back(i % 2 == 0 ? bucket(i) : window(i));
    }
    return {StoreHello{.cluster = "edge",
                       .node = "box-1",
                       .size = 8,
                       .life = 77,
                       .durability = Durability::Replica,
                       .secret_digest = 5},
            StoreBatch{.partition = 7, .seq = 1, .entries = {bucket(9), window(10), gauge(11)}},
            full, StoreClocks{}, StoreClocks{{{3, 9, -5}, {255, 1, 1LL << 52}}}};
}

std::vector<StoreAnswer> answers() {
    StoreReply full{.partition = 255, .seq = 3, .last = 3, .now_us = 1ULL << 51, .born = 9};
    for (std::uint64_t i = 0; i < kMostStoreEntries; ++i) {
        full.levels.push_back({.current = i, .previous = 2, .epoch = -1, .skewed = true});
    }
    return {full, StoreReply{.seq = 9, .outcome = StoreOutcome::Gap, .last = 5},
            StoreReply{.outcome = StoreOutcome::Fenced},
            StoreLinkReport{.state = StoreLinkState::Refused,
                            .why = "the function is missing: sluicectl store init",
                            .slot = 7,
                            .rtt_us = 400,
                            .clock_off_us = -3,
                            .retries = 2}};
}

TEST(StoreCodec, GivesBackWhatWasSaid) {
    for (const StoreRequest& request : requests()) {
        const Bytes bytes = encode(request);
        const Result<StoreRequest> again = decode_store_request(bytes);
        ASSERT_TRUE(again.has_value());
        EXPECT_EQ(again->index(), request.index());
        EXPECT_EQ(encode(*again), bytes);
    }
    for (const StoreAnswer& answer : answers()) {
        const Bytes bytes = encode(answer);
        const Result<StoreAnswer> again = decode_store_answer(bytes);
        ASSERT_TRUE(again.has_value());
        EXPECT_EQ(again->index(), answer.index());
        EXPECT_EQ(encode(*again), bytes);
    }
    const Bytes bytes = encode(requests()[1]);
    const auto batch = std::get<StoreBatch>(*decode_store_request(bytes));
    EXPECT_EQ(batch.partition, 7);
    EXPECT_EQ(batch.entries[0].parts, 10'000'000U);
    EXPECT_EQ(batch.entries[1].epoch, -4);
    EXPECT_EQ(batch.entries[1].kind, StoreEntryKind::Declare);
    EXPECT_EQ(batch.entries[2].lasts, kGaugeLasts);
}

TEST(StoreCodec, RefusesWhatIsBeyondItsBounds) {
    StoreBatch many{.partition = 0, .seq = 1, .entries = {}};
    many.entries.assign(kMostStoreEntries + 1, bucket(1));
    EXPECT_FALSE(decode_store_request(encode(StoreRequest{many})).has_value());
    EXPECT_FALSE(decode_store_request(encode(StoreRequest{StoreClocks{{{0, 0, 1}}}})).has_value());
    const StoreClocks too_many{{kMostStorePartitions + 1U, StoreClockReading{0, 1, 1}}};
    EXPECT_FALSE(decode_store_request(encode(StoreRequest{too_many})).has_value());
    EXPECT_FALSE(
        decode_store_request(encode(StoreRequest{StoreBatch{.partition = kMostStorePartitions}}))
            .has_value());
    EXPECT_FALSE(
        decode_store_answer(encode(StoreAnswer{StoreLinkReport{.partitions = 0}})).has_value());
    const std::string long_text(kMostStoreMessage, 'x');
    EXPECT_FALSE(
        decode_store_answer(encode(StoreAnswer{StoreLinkReport{.why = long_text}})).has_value());
}

TEST(StoreCodec, WhateverIsCutOrChangedIsRefusedOrWhole) {
    std::mt19937 random{41};
    for (const StoreRequest& request : requests()) {
        const Bytes bytes = encode(request);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            EXPECT_FALSE(decode_store_request(ByteView{bytes}.first(size)).has_value());
        }
        for (int round = 0; round < 2000; ++round) {
            Bytes changed = bytes;
            changed[random() % changed.size()] = static_cast<std::byte>(random());
            const Result<StoreRequest> got = decode_store_request(changed);
            EXPECT_TRUE(!got || encode(*got) == changed);
        }
    }
}

TEST(StoreCodec, AStreamOfItHasItsOwnBound) {
    FrameBuffer small{kMostStoreMessage};
    const std::uint32_t fits = kMostStoreMessage;
    small.feed(std::as_bytes(std::span{&fits, 1}));
    EXPECT_FALSE(small.broken());
    FrameBuffer broken{kMostStoreMessage};
    const std::uint32_t more = kMostStoreMessage + 1;
    broken.feed(std::as_bytes(std::span{&more, 1}));
    EXPECT_TRUE(broken.broken());
}

}  // namespace
}  // namespace sluice::store_codec_test
