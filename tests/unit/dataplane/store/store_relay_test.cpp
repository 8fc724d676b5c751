#include "dataplane/store/store_relay.hpp"

#include "lib/bucket/hash/cluster_secret.hpp"
#include "lib/wire/socket.hpp"
#include "tests/unit/dataplane/store/tiny_store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// The relay's thread between the lanes of a worker and somebody at its socket.
namespace sluice::store_relay_test {
namespace {

using namespace std::chrono_literals;

// sluice-store, as far as a test needs it.
class Peer {
public:
    explicit Peer(const std::string& path) : fd_{*connect_unix(path)} {}

    std::optional<StoreRequest> hear(int most_tries = 200, int wait_ms = 50) {
        for (int tries = 0; tries < most_tries; ++tries) {
            if (const std::optional<std::vector<std::byte>> payload = in_.next()) {
                return *decode_store_request(*payload);
            }
            pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
            std::array<std::byte, 4096> bytes{};
            if (::poll(&ready, 1, wait_ms) > 0) {
                const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
                if (got <= 0) {
                    return std::nullopt;
                }
                in_.feed(ByteView{bytes}.first(static_cast<std::size_t>(got)));
            }
        }
        return std::nullopt;
    }
    std::optional<StoreBatch> batch() {
        while (const std::optional<StoreRequest> request = hear()) {
            if (const auto* batch = std::get_if<StoreBatch>(&*request)) {
                return *batch;
            }
        }
        return std::nullopt;
    }
    // Of what has come already.
    std::optional<StoreBatch> waiting_batch() {
        while (const std::optional<StoreRequest> request = hear(2, 0)) {
            if (const auto* batch = std::get_if<StoreBatch>(&*request)) {
                return *batch;
            }
        }
        return std::nullopt;
    }
    void say(const StoreAnswer& answer) { say_bytes(encode(answer)); }
    void say_bytes(const std::vector<std::byte>& payload) {
        const auto size = static_cast<std::uint32_t>(payload.size());
        ASSERT_EQ(::send(fd_.get(), &size, sizeof(size), MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof(size)));
        ASSERT_EQ(::send(fd_.get(), payload.data(), payload.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(payload.size()));
    }

private:
    Fd fd_;
    FrameBuffer in_{kMostStoreMessage};
};

template <typename Holds>
bool wait_until(Holds&& holds) {
    for (int tries = 0; tries < 2'000 && !holds(); ++tries) {
        std::this_thread::sleep_for(5ms);
    }
    return holds();
}

constexpr HashSecret kSecret{1, 2};

class StoreRelayTest : public testing::Test {
protected:
    StoreRelayTest() {
        folder_ = ::mkdtemp(name_.data());
        lanes_.open_store({.ring = 64});
        questions_.open_store();
        ClusterOptions cluster{.name = "edge", .node = "a", .size = 3};
        cluster.store = ClusterStore{};
        cluster.store->budget = 1'000;
        relay_ = *StoreRelay::start(cluster, kSecret,
                                    {.path = path(), .mode = 0600, .owner = {}, .group = {}},
                                    lanes_, questions_);
    }
    ~StoreRelayTest() override {
        relay_.reset();
        (void)::rmdir(folder_.c_str());
    }
    [[nodiscard]] std::string path() const { return folder_ + "/store.sock"; }
    void tell(std::uint32_t units, std::size_t worker = 0) {
        StoreLane& lane = *lanes_.store(worker);
        *lane.amounts.next() = {.account = {.hash = 77, .slot = 1},
                                .units = units,
                                .record = 5,
                                .numbers = {.period = 1'000'000, .parts = 1, .lasts = 0}};
        lane.amounts.commit();
        lane.amounts.publish();
    }
    [[nodiscard]] std::size_t totals() { return lanes_.store(0)->totals.waiting(64); }

    std::string name_ = "/tmp/sluice-relay-XXXXXX";
    std::string folder_;
    Links links_{2, {.merge = 64, .reserve = 64}};
    DeltaLanes lanes_{links_};
    AskLanes questions_{links_};
    std::unique_ptr<StoreRelay> relay_;
    test::TinyStore store_;
};

TEST_F(StoreRelayTest, SaysWhoTheBoxIsAndPassesAmountsAndAnswers) {
    struct stat info{};
    ASSERT_EQ(::stat(path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    Peer peer{path()};
    const std::optional<StoreRequest> first = peer.hear();
    ASSERT_TRUE(first);
    const auto* hello = std::get_if<StoreHello>(&*first);
    ASSERT_NE(hello, nullptr);
    EXPECT_EQ(hello->cluster, "edge");
    EXPECT_EQ(hello->size, 3U);
    EXPECT_NE(hello->life, 0U);
    EXPECT_EQ(hello->secret_digest, digest_of_secret(kSecret));
    EXPECT_NE(hello->secret_digest, digest_of_secret({1, 3}));
    peer.say(StoreLinkReport{.state = StoreLinkState::Ready, .why = {}, .slot = 2});
    tell(9);
    const std::optional<StoreBatch> batch = peer.batch();
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->entries.size(), 1U);
    EXPECT_EQ(batch->entries[0].units, 9U);
    peer.say(store_.sync(0, *batch, 1'000'000));
    ASSERT_TRUE(wait_until([this] { return totals() == 1; }));
    EXPECT_EQ(lanes_.store(0)->totals.peek(0).current, 9U);
    EXPECT_TRUE(wait_until([this] { return relay_->stats().unsynced == 0; }));
    EXPECT_TRUE(wait_until([this] { return relay_->stats().slot == 2; }));
    EXPECT_FALSE(lanes_.store_down().raised());
}

TEST_F(StoreRelayTest, ABatchIsSaidAgainToWhoeverComesNext) {
    std::optional<StoreBatch> lost;
    {
        Peer peer{path()};
        peer.say(StoreLinkReport{.state = StoreLinkState::Ready, .why = {}});
        tell(9);
        lost = peer.batch();
        ASSERT_TRUE(lost);
        (void)store_.sync(0, *lost, 1'000'000);  // applied, and the answer is lost
    }
    Peer next{path()};
    next.say(StoreLinkReport{.state = StoreLinkState::Ready, .why = {}});
    const std::optional<StoreBatch> again = next.batch();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->seq, lost->seq);
    EXPECT_EQ(again->partition, lost->partition);
    next.say(store_.sync(0, *again, 1'000'000));
    ASSERT_TRUE(wait_until([this] { return totals() == 1; }));
    EXPECT_EQ(lanes_.store(0)->totals.peek(0).current, 9U) << "counted once";
    Peer last{path()};
    (void)last.hear();
    const std::optional<StoreRequest> clocks = last.hear();
    ASSERT_TRUE(clocks && std::holds_alternative<StoreClocks>(*clocks));
    ASSERT_EQ(std::get<StoreClocks>(*clocks).clocks.size(), 1U);
    EXPECT_EQ(std::get<StoreClocks>(*clocks).clocks[0].partition, again->partition);
}

TEST_F(StoreRelayTest, WorkersAreToldWhileNobodyAnswers) {
    EXPECT_TRUE(wait_until([this] { return lanes_.store_down().raised(); }));
    Peer peer{path()};
    peer.say(StoreLinkReport{.state = StoreLinkState::Ready, .why = {}});
    EXPECT_TRUE(wait_until([this] { return !lanes_.store_down().raised(); }));
    tell(1);
    ASSERT_TRUE(peer.batch());
    EXPECT_TRUE(wait_until([this] { return lanes_.store_down().raised(); }));
    EXPECT_TRUE(wait_until([this] { return relay_->stats().down; }));
    peer.say(StoreLinkReport{.state = StoreLinkState::Refused, .why = "sluicectl store init"});
    EXPECT_TRUE(wait_until([this] { return relay_->stats().why == "sluicectl store init"; }));
}

TEST_F(StoreRelayTest, WhoBreaksTheFormOfMessagesIsLetGoOf) {
    Peer bad{path()};
    bad.say_bytes(std::vector<std::byte>(20, std::byte{0xFF}));
    while (bad.hear()) {
    }
    Peer good{path()};
    EXPECT_TRUE(good.hear());
    good.say(StoreLinkReport{.state = StoreLinkState::Ready, .why = {}});
    tell(1);
    EXPECT_TRUE(good.batch());
}

TEST_F(StoreRelayTest, AWorkerThatTellsMuchLeavesTheOthersTheirPartOfTheBudget) {
    StoreLane& much = *lanes_.store(0);
    StoreLane& little = *lanes_.store(1);
    const std::size_t room = little.amounts.room();
    tell(1, 1);
    EXPECT_TRUE(wait_until([&] {
        much.amounts.retire(much.amounts.acknowledged());
        while (much.amounts.room() != 0) {
            tell(1);
        }
        return relay_->stats().amounts > 200;
    }));
    tell(1, 1);
    EXPECT_TRUE(wait_until([&] {
        much.amounts.retire(much.amounts.acknowledged());
        while (much.amounts.room() != 0) {
            tell(1);
        }
        little.amounts.retire(little.amounts.acknowledged());
        return little.amounts.room() == room;  // all of it was taken
    }));
}

TEST_F(StoreRelayTest, MoreThanTheBudgetIsNoStoreThatIsAway) {
    Peer peer{path()};
    peer.say(StoreLinkReport{.state = StoreLinkState::Ready, .why = {}});
    StoreLane& lane = *lanes_.store(0);
    const auto flood = [&] {
        lane.amounts.retire(lane.amounts.acknowledged());
        while (lane.amounts.room() != 0) {
            tell(1);
        }
        while (const std::optional<StoreBatch> batch = peer.waiting_batch()) {
            peer.say(store_.sync(0, *batch, 1'000'000));
        }
    };
    EXPECT_TRUE(wait_until([&] {
        flood();
        return lanes_.store_over_budget().raised();
    }));
    EXPECT_FALSE(lanes_.store_down().raised());
    EXPECT_TRUE(wait_until([this] { return relay_->stats().over_budget; }));
    EXPECT_TRUE(wait_until([&] {
        while (const std::optional<StoreBatch> batch = peer.waiting_batch()) {
            peer.say(store_.sync(0, *batch, 1'000'000));
        }
        return !lanes_.store_over_budget().raised();
    }));
}

TEST_F(StoreRelayTest, WhatTheLinkIsCalledHasVisibleBytesAlone) {
    Peer peer{path()};
    peer.say(StoreLinkReport{.state = StoreLinkState::Refused, .why = "no\x1b[2J\nway\xff"});
    EXPECT_TRUE(wait_until([this] { return relay_->stats().why == "no?[2J?way?"; }));
}

}  // namespace
}  // namespace sluice::store_relay_test
