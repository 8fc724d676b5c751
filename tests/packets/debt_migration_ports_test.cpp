#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <string>

// Reloads that leave a limit local, but let it see other ports, whose packets are spread by other
// fields: its keys meet other workers, and no key is given anew what it has spent.
namespace sluice::debt_migration_ports_test {
namespace {

using namespace std::chrono_literals;
using test::full_tables;
using test::loaded;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;
constexpr std::size_t kOutside = 1;  // where the packets of the one client come to, by its port
constexpr std::size_t kInside = 2;
constexpr std::uint64_t kBurst = 40;

// Outside sources are hashed, inside destinations.
test::WorkerParts two_ports() {
    const auto port = [](std::string pair, Direction dir, Rss rss) {
        return PortRssMapping{.pair = std::move(pair), .dir = dir, .rss = rss};
    };
    return {.ports = {port("lab", Direction::In, Rss::Source),
                      port("lab", Direction::Out, Rss::Destination),
                      port("two", Direction::In, Rss::Source),
                      port("two", Direction::Out, Rss::Destination)}};
}

std::string rules(const std::string& when, const std::string& more = "") {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n  - id: r\n    when: " + when +
           "\n    key: [ip.src, ip.dst]\n" + more +
           "    limits: [{algorithm: token_bucket, rate: 1/h, burst: 40}]\n";
}

std::uint64_t pass(Workers& workers, Direction from, Instant now = kStart) {
    const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    workers.come_from(from);
    const std::size_t at = from == Direction::In ? kOutside : kInside;
    std::uint64_t passed = 0;
    for (std::uint64_t i = 0; i < 2 * kBurst; ++i) {
        passed += workers.judge(at, frame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return passed;
}

const std::string kIn = "'dir eq \"in\"'";
const std::string kOut = "'dir eq \"out\"'";

TEST(MovingPorts, AnExhaustedClientGetsNothing) {
    Workers workers{rules(kIn), kWorkers, two_ports()};
    EXPECT_EQ(workers.limit().scope, LimitScope::Local);
    EXPECT_EQ(pass(workers, Direction::In), kBurst);
    ASSERT_TRUE(workers.begin_apply(rules(kOut)));
    EXPECT_EQ(workers.limit().scope, LimitScope::Local);
    EXPECT_TRUE(workers.is_migrating());
    EXPECT_EQ(pass(workers, Direction::Out), 0U);
    workers.end_apply(kStart);
    EXPECT_EQ(pass(workers, Direction::Out), 0U);
    EXPECT_GT(workers.moved_debts(), 0U);
    workers.apply(rules(kIn), kStart);
    EXPECT_EQ(pass(workers, Direction::In), 0U);
    EXPECT_EQ(pass(workers, Direction::In, kStart + 3h), 3U);
}

// The same after a restart in between.
TEST(MovingPorts, SlotsSayWhichPortsTheyWereOf) {
    Workers workers{rules(kIn), kWorkers, two_ports()};
    const SlotsImage found = workers.slots();
    const Environment restarted{
        .sharers = {kWorkers, 1ms}, .tables = full_tables(), .found = &found};
    const LoadedRules same = loaded(workers.rules(), restarted);
    EXPECT_FALSE(same.slots().is_migrating());
    Workers other{rules(kOut), kWorkers, two_ports()};
    EXPECT_TRUE(loaded(other.rules(), restarted).slots().is_migrating());
}

TEST(MovingPorts, PortsThatSpreadAlikeAreNoMove) {
    Workers workers{rules("'port eq \"lab\" and dir eq \"in\"'"), kWorkers, two_ports()};
    (void)pass(workers, Direction::In);
    const std::string same[] = {kIn, "'port eq \"two\" and dir eq \"in\"'",
                                "'dir eq \"in\" and ip.proto eq 17'"};
    for (const std::string& when : same) {
        ASSERT_TRUE(workers.begin_apply(rules(when)));
        EXPECT_FALSE(workers.is_migrating()) << when;
    }
}

// A ban begins where the refusals were, and holds where the packets come to.
TEST(MovingPorts, ABanGoesAlong) {
    const std::string ban = "    ban: {after: 3, within: 1s, for: 1h}\n";
    Workers workers{rules(kIn, ban), kWorkers, two_ports()};
    EXPECT_EQ(pass(workers, Direction::In), kBurst);
    workers.apply(rules(kOut, ban), kStart);
    workers.come_from(Direction::Out);
    const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    EXPECT_EQ(workers.judge(kInside, frame, kStart + 1s).reason, Reason::Banned);
}

}  // namespace
}  // namespace sluice::debt_migration_ports_test
