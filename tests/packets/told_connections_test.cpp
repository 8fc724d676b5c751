#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

// Connections whose packets come to several workers: the one that counts them is told by the
// others.
namespace sluice::told_connections_test {
namespace {

using namespace std::chrono_literals;
using test::tcp;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;
constexpr int kCount = 8;
constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kAck = 0x10;

std::string rules(const std::string& numbers = "") {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n"
           "  - id: open\n    when: l4.dport eq 80\n    key: [ip.dst]\n"
           "    limits: [{algorithm: concurrency, count: " +
           std::to_string(kCount) + ", idle: 1m" + numbers + "}]\n";
}

test::Octets client(int number, std::uint16_t flags, std::uint32_t seq, std::uint32_t ack = 0) {
    return tcp()
        .src("10.0.0." + std::to_string(number))
        .dst("192.0.2.1")
        .sport(1000)
        .dport(80)
        .flags(flags)
        .seq(seq)
        .ack(ack)
        .bytes();
}
test::Octets server(int number, std::uint16_t flags, std::uint32_t seq, std::uint32_t ack) {
    return tcp()
        .src("192.0.2.1")
        .dst("10.0.0." + std::to_string(number))
        .sport(80)
        .dport(1000)
        .flags(flags)
        .seq(seq)
        .ack(ack)
        .bytes();
}

class ToldConnections : public testing::Test {
protected:
    // How many of so many clients get a connection, from the first on.
    int opened(int first, int count, Instant now) {
        int passed = 0;
        for (int number = first; number < first + count; ++number) {
            const std::size_t at = static_cast<std::size_t>(number) % kWorkers;
            passed +=
                box_.judge(at, client(number, kSyn, 99), now).verdict == Verdict::Pass ? 1 : 0;
        }
        return passed;
    }
    void at_another(int number, const test::Octets& frame, Instant now,
                    Direction dir = Direction::Out) {
        (void)box_.judge(static_cast<std::size_t>(number + 1) % kWorkers, frame, now, dir);
    }

    Workers box_{rules(), kWorkers};
};

TEST_F(ToldConnections, CloseByWhatOtherWorkersSee) {
    ASSERT_EQ(box_.limit().scope, LimitScope::Owner);
    EXPECT_EQ(opened(1, 20, kStart), kCount);
    for (int number = 1; number <= 4; ++number) {
        at_another(number, server(number, kRst | kAck, 0, 100), kStart);
    }
    for (int number = 5; number <= kCount; ++number) {
        at_another(number, server(number, kSyn | kAck, 500, 100), kStart);
        at_another(number, client(number, kFin | kAck, 100, 501), kStart, Direction::In);
        at_another(number, server(number, kFin | kAck, 501, 101), kStart);
    }
    EXPECT_EQ(opened(101, 20, kStart), kCount);
    EXPECT_EQ(box_.counted(TableEvent::ConnectionReset), 4U);
    EXPECT_EQ(box_.counted(TableEvent::ConnectionFinished), 4U);
    EXPECT_EQ(box_.counted(TableEvent::ConnectionUntold), 0U);
}

TEST_F(ToldConnections, StayOpenByWhatOtherWorkersSee) {
    EXPECT_EQ(opened(1, kCount, kStart), kCount);
    at_another(3, server(3, kSyn | kAck, 500, 100), kStart + 50s);
    EXPECT_EQ(opened(100, 1, kStart + 50s), 0);  // the owner hears of it at the latest now
    EXPECT_EQ(opened(101, 20, kStart + 61s), kCount - 1);
}

// Whom a packet's worker has to look at: the one that counts the connection, of however many, and
// nobody where none does.
TEST_F(ToldConnections, AreLookedForWhereTheyAreCountedAlone) {
    Workers box{rules(), 16};
    for (int number = 1; number <= kCount; ++number) {
        (void)box.judge(static_cast<std::size_t>(number), client(number, kSyn, 99), kStart);
    }
    const WorkerTables& tables = *box.buckets(0).worker_tables();
    std::size_t named = 0;
    for (std::uint64_t digest = 0; digest < 100'000; ++digest) {
        tables.connection_owners().for_each(digest, [&](std::size_t core) {
            ++named;
            EXPECT_FALSE(box.buckets(core).registry.pool().index().empty());
        });
    }
    EXPECT_LE(named, 100'000U / 100) << "16 workers, of which one counts 8 connections";
    for (int number = 1; number <= kCount; ++number) {
        (void)box.judge(static_cast<std::size_t>(number), server(number, kRst | kAck, 0, 100),
                        kStart, Direction::Out);
    }
    (void)box.judge(0, client(100, kAck, 1, 1), kStart);
    EXPECT_EQ(box.counted(TableEvent::ConnectionReset), std::uint64_t{kCount});
}

// The ACK that completes a handshake is judged where the connection is known, by a SYN-ACK that has
// passed elsewhere.
TEST_F(ToldConnections, AreCountedFromTheirHandshakeOn) {
    Workers box{rules(", from: established"), kWorkers};
    const auto at = [](int number) { return static_cast<std::size_t>(number) % kWorkers; };
    for (int number = 1; number <= 20; ++number) {
        EXPECT_EQ(box.judge(at(number), client(number, kSyn, 99), kStart).verdict, Verdict::Pass);
        (void)box.judge(at(number + 1), server(number, kSyn | kAck, 500, 100), kStart,
                        Direction::Out);
    }
    const auto complete = [&](int number) {
        return box.judge(at(number), client(number, kAck, 100, 501), kStart).verdict ==
               Verdict::Pass;
    };
    int passed = 0;
    for (int number = 1; number <= 20; ++number) {
        passed += complete(number) ? 1 : 0;
    }
    EXPECT_EQ(passed, kCount);
    EXPECT_FALSE(complete(20));
    (void)box.judge(at(2), server(1, kRst, 501, 0), kStart, Direction::Out);
    EXPECT_TRUE(complete(20));
    EXPECT_FALSE(complete(19));
}

// All at a worker that does not count them, while the one that does is given nothing.
TEST_F(ToldConnections, AreLostWhereALaneIsFullAndThatIsCounted) {
    EXPECT_EQ(opened(1, 1, kStart), 1);
    for (std::size_t at = 0; at < kWorkers; ++at) {
        const std::uint64_t before = box_.counted(TableEvent::ConnectionUntold);
        for (int i = 0; i < 3000; ++i) {
            (void)box_.judge(at, server(1, kAck, 500, 100), kStart, Direction::Out);
        }
        const bool counts_it = !box_.buckets(at).registry.pool().index().empty();
        EXPECT_EQ(box_.counted(TableEvent::ConnectionUntold) > before, !counts_it) << at;
    }
}

}  // namespace
}  // namespace sluice::told_connections_test
