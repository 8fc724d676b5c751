#include "tests/packets/box.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

// Networks that are banned: of keys that have nothing of their own, and of those that have.
namespace sluice::network_ban_test {
namespace {

using test::kStart;

constexpr std::string_view kCsv =
    "key,limit,rate,burst,count,expires,reason,ban\n"
    "10.0.0.0/24,,,,,,,yes\n"
    "10.0.0.1,exempt,,,,,,\n"
    "10.0.0.2,1,9/s,90,,,,\n"
    "2001:db8::/32,,,,,,,yes\n";

struct Packet {
    std::string_view source;
    Reason reason;
};
constexpr Packet kPackets[] = {
    {"10.0.0.1", Reason::Exempt},  // exempt by name, whatever its network is
    {"10.0.0.2", Reason::Banned},  // its numbers are no way out
    {"10.0.0.3", Reason::Banned},    {"10.0.1.3", Reason::WithinLimits},
    {"2001:db8::1", Reason::Banned}, {"2001:db9::1", Reason::WithinLimits},
};

std::string rules(const std::string& limits) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n    limits: [" +
           limits + "]\n    overrides: {file: o.csv}\n";
}

test::Frame from(std::string_view source) {
    return source.find(':') == std::string_view::npos
               ? test::udp().src(source)
               : test::udp().src(source).dst("2001:db8:9::1");
}

class Banned : public testing::TestWithParam<std::string> {};

// Twice each: what a bucket remembers of its key holds no ban back.
TEST_P(Banned, BySourceAndItsNetworks) {
    const ListReader files = [](const std::string& path) -> Result<ListFile> {
        return ListFile{path, std::make_shared<const std::string>(kCsv)};
    };
    test::Box box{rules(GetParam()), {}, 4096, &files};
    for (int round = 0; round < 3; ++round) {
        for (const Packet& packet : kPackets) {
            EXPECT_EQ(box.judge(from(packet.source).bytes(), kStart).reason, packet.reason)
                << packet.source << " in round " << round;
        }
    }
}

// By the fast path, and by the general one.
INSTANTIATE_TEST_SUITE_P(
    Paths, Banned,
    testing::Values("{algorithm: token_bucket, rate: 100/s, burst: 100}",
                    "{algorithm: token_bucket, rate: 100/s, burst: 100}, {algorithm: fixed_window, "
                    "count: 100, window: 1s}"));

}  // namespace
}  // namespace sluice::network_ban_test
