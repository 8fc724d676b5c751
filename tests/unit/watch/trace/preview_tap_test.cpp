#include "lib/watch/trace/preview_tap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace sluice::preview_tap_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr PreviewAmounts kPacket{.packets = 1, .bytes = 100};

std::uint64_t digest_of(std::uint64_t key) {
    return preview_digest(key + 1);
}
std::uint64_t last_by(unsigned bits) {
    return ~std::uint64_t{0} >> bits;
}

// A tap, and what a reader takes out of it, packets by key.
class Tapped {
public:
    explicit Tapped(std::uint32_t share, bool has_key = true) : tap_{has_key, share} {}

    void send(std::uint64_t key, Instant at, PreviewAmounts amounts = kPacket) {
        tap_.tend(at);
        tap_.count(amounts);
        const std::uint64_t digest = digest_of(key);
        if (tap_.samples(digest)) {
            const std::array<std::byte, 1> name{static_cast<std::byte>(key)};
            tap_.show({digest, 0}, name, amounts, {at, 0ns});
        }
    }
    // Long enough for every record to be closed.
    void rest(Instant at) {
        for (int i = 0; i < 256; ++i) {
            tap_.tend(at);
        }
    }
    std::map<std::uint64_t, std::uint64_t> read() {
        tap_.ring().drain([&](const PreviewRecord& record) {
            records_.push_back(record);
            packets_[record.digests[0]] += record.amounts.packets;
        });
        return packets_;
    }
    const std::vector<PreviewRecord>& records() const { return records_; }
    PreviewTap& tap() { return tap_; }

private:
    PreviewTap tap_;
    std::vector<PreviewRecord> records_;
    std::map<std::uint64_t, std::uint64_t> packets_;
};

TEST(PreviewTap, ShowsEveryPacketOfTheSampledKeysAndNoneOfAnother) {
    struct Row {
        std::uint8_t bits;
        std::uint64_t keys;
    };
    for (const Row& row : {Row{0, 100}, Row{1, 100}, Row{3, 400}, Row{6, 1000}}) {
        Tapped tapped{100'000};
        tapped.tap().sample_by(row.bits);
        for (std::uint64_t packet = 0; packet < 5; ++packet) {
            for (std::uint64_t key = 0; key < row.keys; ++key) {
                tapped.send(key, kStart + Nanoseconds{10us} * (packet * row.keys + key));
            }
        }
        tapped.rest(kStart + 10s);
        const auto packets = tapped.read();
        std::size_t sampled = 0;
        for (std::uint64_t key = 0; key < row.keys; ++key) {
            const bool is_sampled = digest_of(key) <= last_by(row.bits);
            sampled += is_sampled ? 1 : 0;
            const auto found = packets.find(digest_of(key));
            EXPECT_EQ(found == packets.end() ? 0 : found->second, is_sampled ? 5 : 0)
                << "key " << key << " of " << row.keys;
        }
        EXPECT_EQ(packets.size(), sampled);
        EXPECT_GT(sampled, 0U);
        EXPECT_EQ(tapped.tap().counted().packets, 5 * row.keys);
        EXPECT_EQ(tapped.tap().bits(), row.bits);
    }
}

// Keys that are still sampled when there were more than the share allows have been shown whole.
TEST(PreviewTap, SamplesFewerKeysWhereTheyAreMoreThanItsShare) {
    constexpr std::uint64_t kKeys = 3'000;
    Tapped tapped{256};
    for (std::uint64_t packet = 0; packet < 4; ++packet) {
        for (std::uint64_t key = 0; key < kKeys; ++key) {
            tapped.send(key, kStart + Nanoseconds{8us} * (packet * kKeys + key));
        }
    }
    tapped.rest(kStart + 10s);
    const std::uint8_t bits = tapped.tap().bits();
    EXPECT_GT(bits, 2);
    EXPECT_EQ(tapped.tap().left_out(bits), 0U);
    const auto packets = tapped.read();
    std::size_t sampled = 0;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        if (digest_of(key) <= last_by(bits)) {
            ++sampled;
            EXPECT_EQ(packets.at(digest_of(key)), 4U) << "key " << key;
        }
    }
    EXPECT_GT(sampled, 0U);
    EXPECT_EQ(tapped.tap().counted().packets, 4 * kKeys);
}

TEST(PreviewTap, AFloodOfOneKeyTakesARecordAMillisecond) {
    Tapped tapped{2'000};
    constexpr std::uint64_t kFlood = 100'000;
    for (std::uint64_t packet = 0; packet < kFlood; ++packet) {
        tapped.send(7, kStart + Nanoseconds{1us} * packet);
    }
    tapped.rest(kStart + 10s);
    EXPECT_EQ(tapped.read().at(digest_of(7)), kFlood);
    EXPECT_EQ(tapped.records().size(), 100U);
    EXPECT_EQ(tapped.tap().bits(), 0);
    for (const PreviewRecord& record : tapped.records()) {
        EXPECT_EQ(record.amounts, (PreviewAmounts{.packets = 1'000, .bytes = 100'000}));
    }
}

// Without a key nothing can be sampled: what has no room is counted.
TEST(PreviewTap, OneBucketIsAlwaysSampled) {
    Tapped tapped{4, false};
    tapped.tap().sample_by(9);
    for (std::uint64_t packet = 0; packet < 10; ++packet) {
        tapped.send(3, kStart + Nanoseconds{2ms} * packet);
    }
    tapped.rest(kStart + 50ms);
    EXPECT_EQ(tapped.read().at(digest_of(3)), 4U);
    EXPECT_EQ(tapped.tap().left_out(0), 6U);
    EXPECT_EQ(tapped.tap().bits(), 0);
}

TEST(PreviewTap, NamesEachKeyOnceAsLongAsItRemembersIt) {
    Tapped tapped{1'000};
    for (std::uint64_t packet = 0; packet < 20; ++packet) {
        tapped.send(packet % 2, kStart + Nanoseconds{3ms} * packet);
    }
    std::map<std::uint64_t, int> named;
    tapped.tap().keys().drain([&](const PreviewKeyRecord& key) {
        EXPECT_EQ(key.size, 1U);
        EXPECT_EQ(digest_of(static_cast<std::uint64_t>(key.bytes[0])), key.digest);
        ++named[key.digest];
    });
    EXPECT_EQ(named, (std::map<std::uint64_t, int>{{digest_of(0), 1}, {digest_of(1), 1}}));
}

}  // namespace
}  // namespace sluice::preview_tap_test
