#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/packets/mmdb_bytes.hpp"

#include <gtest/gtest.h>

namespace sluice::test::origins_test {
namespace {

using namespace std::chrono_literals;

ListReader databases() {
    return lists_of({{"c.mmdb", MmdbBytes{}
                                    .add("10.1.0.0/16", mmdb::country("NL"))
                                    .add("10.1.2.0/24", mmdb::country("DE"))
                                    .add("10.2.0.0/16", mmdb::country("NO"))
                                    .add("2001:db8::/32", mmdb::country("NL"))
                                    .alias_of_v4("2002::/16")
                                    .bytes()},
                     {"a.mmdb", MmdbBytes{}
                                    .add("10.1.0.0/16", mmdb::asn(64'500))
                                    .add("10.2.0.0/16", mmdb::asn(64'600))
                                    .add("2001:db8::/32", mmdb::asn(4'200'000'000))
                                    .bytes()}});
}

std::string rules_with(const std::string& rule) {
    return "version: 1\ndata: {country_db: c.mmdb, asn_db: a.mmdb}\nrules:\n  - " + rule + "\n";
}

std::vector<std::byte> packet(const std::string& src, const std::string& dst) {
    return udp().src(src).dst(dst).bytes();
}

TEST(Origins, ConditionsSeeWhereAddressesComeFrom) {
    struct Case {
        const char* when;
        const char* src;
        const char* dst;
        bool matches;
    };
    constexpr const char* kNowhere = "192.0.2.1";
    const Case cases[] = {
        {R"(ip.src.country eq "NL")", "10.1.1.1", kNowhere, true},
        {R"(ip.src.country eq "NL")", "10.1.2.1", kNowhere, false},
        {R"(ip.src.country eq "NL")", "2001:db8::1", "2001:db9::1", true},
        {R"(ip.src.country eq "NL")", "2002:a01:101::1", "2001:db9::1", false},
        {R"(ip.dst.country in {"DE" "NO"})", kNowhere, "10.1.2.9", true},
        {R"(ip.dst.country in {"DE" "NO"})", kNowhere, "10.1.3.9", false},
        {R"(ip.src.country ne "NL")", "10.2.0.1", kNowhere, true},
        // Absent: no comparison holds, and `not` inverts.
        {R"(ip.src.country ne "NL")", kNowhere, "10.2.0.1", false},
        {R"(not ip.src.country eq "NL")", kNowhere, "10.2.0.1", true},
        {"ip.src.asn eq 64500", "10.1.2.1", kNowhere, true},
        {"ip.src.asn gt 64500", "10.1.2.1", kNowhere, false},
        {"ip.src.asn gt 64500", "10.2.2.1", kNowhere, true},
        {"ip.src.asn ge 0", kNowhere, kNowhere, false},
        {"ip.src.asn ne 64500", kNowhere, kNowhere, false},
        {"ip.dst.asn eq 4200000000", "2001:db9::1", "2001:db8::1", true},
        {R"(ip.src.country eq "NO" and ip.dst.asn in {64500 64600})", "10.2.0.1", "10.1.0.1", true},
        {R"(ip.src.country eq "NO" and ip.dst.asn in {64500 64600})", "10.2.0.1", kNowhere, false},
        {"ip.src.asn", "10.2.0.1", kNowhere, true},
    };
    const ListReader files = databases();
    for (const Case& one : cases) {
        Box box{rules_with("{id: a, mode: enforce, on_match: drop, when: '" +
                           std::string{one.when} + "'}"),
                {},
                1024,
                &files};
        const Decision decision = box.judge(packet(one.src, one.dst), Instant{1h});
        EXPECT_EQ(decision.verdict == Verdict::Drop, one.matches)
            << one.when << " from " << one.src << " to " << one.dst;
    }
}

// One bucket for each country, whatever the address; none for what has no country.
TEST(Origins, KeysGroupByThem) {
    const ListReader files = databases();
    Box box{rules_with("{id: a, mode: enforce, key: [ip.src.country], limits: [{algorithm: "
                       "token_bucket, rate: 1/s, burst: 2}]}"),
            {},
            1024,
            &files};
    const Instant now{1h};
    const auto verdict = [&](const std::string& src, const std::string& dst = "192.0.2.1") {
        return box.judge(packet(src, dst), now).verdict;
    };
    EXPECT_EQ(verdict("10.1.0.1"), Verdict::Pass);
    EXPECT_EQ(verdict("2001:db8::1", "2001:db9::1"), Verdict::Pass);
    EXPECT_EQ(verdict("10.1.0.2"), Verdict::Drop);
    EXPECT_EQ(verdict("10.1.2.2"), Verdict::Pass);
    EXPECT_EQ(verdict("10.2.2.2"), Verdict::Pass);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(verdict("192.0.2.9"), Verdict::Pass);
    }
    EXPECT_EQ(box.counters(0).skipped.read(), 5U);
}

TEST(Origins, MissingKeyMayShare) {
    const ListReader files = databases();
    Box box{rules_with("{id: a, mode: enforce, key: [ip.src.asn, ip.dst.asn], missing_key: share, "
                       "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}"),
            {},
            1024,
            &files};
    const Instant now{1h};
    EXPECT_EQ(box.judge(packet("10.1.0.1", "10.2.0.1"), now).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(packet("10.2.0.1", "10.1.0.1"), now).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(packet("10.1.9.9", "10.2.9.9"), now).verdict, Verdict::Drop);
    EXPECT_EQ(box.judge(packet("192.0.2.1", "10.2.0.1"), now).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(packet("10.1.0.1", "192.0.2.1"), now).verdict, Verdict::Drop);
}

// Other rules over the same databases go on with the tables there are; another database, or another
// field asked, makes new ones.
TEST(Origins, TablesAreSharedOverReloads) {
    const ListReader files = databases();
    const auto drop = [](const std::string& when) {
        return rules_with("{id: a, mode: enforce, on_match: drop, when: '" + when + "'}");
    };
    Box box{drop(R"(ip.src.country eq "NL")"), {}, 1024, &files};
    const auto first = box.set().geo_table;
    ASSERT_NE(first, nullptr);
    ASSERT_TRUE(box.reload(drop(R"(ip.src.country eq "DE")"), &files));
    EXPECT_EQ(box.set().geo_table, first);
    EXPECT_EQ(box.judge(packet("10.1.2.1", "192.0.2.1"), Instant{1h}).verdict, Verdict::Drop);
    ASSERT_TRUE(box.reload(drop(R"(ip.dst.country eq "DE")"), &files));
    EXPECT_NE(box.set().geo_table, first);
    const ListReader others =
        lists_of({{"c.mmdb", MmdbBytes{}.add("10.3.0.0/16", mmdb::country("NL")).bytes()},
                  {"a.mmdb", MmdbBytes{}.add("10.3.0.0/16", mmdb::asn(1)).bytes()}});
    ASSERT_TRUE(box.reload(drop(R"(ip.src.country eq "NL")"), &others));
    EXPECT_EQ(box.judge(packet("10.3.0.1", "192.0.2.1"), Instant{2h}).verdict, Verdict::Drop);
    EXPECT_EQ(box.judge(packet("10.1.0.1", "192.0.2.1"), Instant{2h}).verdict, Verdict::Pass);
    ASSERT_TRUE(box.reload("version: 1\nrules: []\n"));
    EXPECT_EQ(box.set().geo_table, nullptr);
}

// What one packet of a burst has does not stay for the next.
TEST(Origins, BurstsOfBothVersionsAreJudgedOneByOne) {
    const ListReader files = databases();
    Box box{rules_with(R"({id: a, mode: enforce, on_match: drop, when: 'ip.src.country eq "NL"'})"),
            {},
            1024,
            &files};
    std::vector<std::vector<std::byte>> frames;
    std::vector<bool> expected;
    for (int i = 0; i < 32; ++i) {
        const int kind = i % 5;
        frames.push_back(kind == 0   ? packet("10.1.0.1", "10.2.0.1")
                         : kind == 1 ? packet("2001:db8::1", "2001:db9::1")
                         : kind == 2 ? packet("192.0.2.1", "10.1.0.1")
                         : kind == 3 ? packet("2001:db9::1", "2001:db8::1")
                                     : std::vector<std::byte>(60));
        expected.push_back(kind <= 1);
    }
    for (int round = 0; round < 3; ++round) {
        const std::vector<Decision> decisions = box.judge_burst(frames, Instant{1h});
        for (std::size_t i = 0; i < frames.size(); ++i) {
            EXPECT_EQ(decisions[i].verdict == Verdict::Drop, expected[i]) << i;
        }
        std::rotate(frames.begin(), frames.begin() + 1, frames.end());
        std::rotate(expected.begin(), expected.begin() + 1, expected.end());
    }
}

}  // namespace
}  // namespace sluice::test::origins_test
