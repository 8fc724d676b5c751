#include "lib/policy/lists/list_text.hpp"
#include "tests/bench/large_list.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/packets/tree_oracle.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sluice::test::lists_test {
namespace {

constexpr std::string_view kRules = R"yaml(version: 1
data:
  lists:
    friends: {type: cidr, file: friends.txt}
    ports: {type: number, file: ports.txt}
    pairs: {type: string, file: pairs.txt}
rules:
  - {id: friends, mode: enforce, when: ip.src in $friends, on_match: allow}
  - {id: ports, mode: enforce, when: l4.dport in $ports and port in $pairs, on_match: drop}
  - {id: others, mode: enforce, when: not ip.src in $friends and ip.proto eq 17, key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
)yaml";

ListReader some_lists() {
    return lists_of({{"friends.txt", "192.0.2.0/24\r\n2001:db8::/32 # ours\n10.1.1.1\n"},
                     {"ports.txt", "53\n8000-8999\n"},
                     {"pairs.txt", "lab\nuplink\n"}});
}

struct Row {
    std::string_view name;
    Frame in;
    std::string_view rule;
    std::string_view verdict;
};

TEST(Lists, DecideAsTheValuesInThemWould) {
    const Row rows[] = {
        {"in the network", udp().src("192.0.2.7").dport(53), "friends", "pass"},
        {"its first address", udp().src("192.0.2.0").dport(53), "friends", "pass"},
        {"its last address", udp().src("192.0.2.255").dport(53), "friends", "pass"},
        {"just before it", udp().src("192.0.1.255").dport(53), "ports", "drop"},
        {"just behind it", udp().src("192.0.3.0").dport(53), "ports", "drop"},
        {"an address alone", udp().src("10.1.1.1").dport(53), "friends", "pass"},
        {"IPv6", udp().dst("2001:db8::99").src("2001:db8:7::1").dport(53), "friends", "pass"},
        {"IPv6, not listed", udp().dst("2001:db8::99").src("2001:db9::1").dport(53), "ports",
         "drop"},
        {"the first of a range", udp().src("10.0.0.1").dport(8000), "ports", "drop"},
        {"the last of a range", udp().src("10.0.0.1").dport(8999), "ports", "drop"},
        {"behind the range", udp().src("10.0.0.2").dport(9000), "", "pass"},
    };
    const ListReader lists = some_lists();
    Box box{kRules, {}, 4096, &lists};
    for (const Row& row : rows) {
        const Decision got = box.judge(row.in.bytes(), kStart);
        EXPECT_EQ(name_of(got.verdict), row.verdict) << row.name;
        EXPECT_EQ(box.rule_name(got), row.rule) << row.name;
    }
}

TEST(Lists, WhatIsNotInOneCanBeLimited) {
    const ListReader lists = some_lists();
    Box box{kRules, {}, 4096, &lists};
    const auto stranger = udp().src("10.9.9.9").dport(9000).bytes();
    EXPECT_EQ(box.judge(stranger, kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(stranger, kStart).verdict, Verdict::Drop);
}

// An address by its number, an entry as text, and what a scan of all entries says.
struct Entry {
    bool v6 = false;
    Wide first = 0;
    Wide last = 0;
};

IpAddress address_of(Wide value, bool v6) {
    IpAddress address;
    const std::size_t size = v6 ? 16 : 4;
    for (std::size_t i = size; i-- > 0; value >>= 8) {
        address.bytes[i] = static_cast<std::byte>(value & 0xFF);
    }
    return address;
}

std::string text_of(Wide value, bool v6) {
    return to_text(v6 ? IpVersion::V6 : IpVersion::V4, address_of(value, v6));
}

class RandomList {
public:
    explicit RandomList(std::uint64_t seed) : random_{seed} {
        const std::size_t count = 1 + random_() % 400;
        for (std::size_t i = 0; i < count; ++i) {
            add();
        }
    }

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] bool has(Wide value, bool v6) const {
        return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
            return entry.v6 == v6 && entry.first <= value && value <= entry.last;
        });
    }
    // The ends of an entry, their neighbours, and anything.
    std::vector<std::pair<Wide, bool>> places() {
        std::vector<std::pair<Wide, bool>> places;
        for (const Entry& entry : entries_) {
            const Wide most = entry.v6 ? ~Wide{0} : Wide{0xFFFF'FFFF};
            for (const Wide value : {entry.first - 1, entry.first, entry.first + 1, entry.last - 1,
                                     entry.last, entry.last + 1, wide()}) {
                places.emplace_back(value & most, entry.v6);
            }
        }
        return places;
    }

private:
    Wide wide() { return (Wide{random_()} << 64) | random_(); }

    // Close together, so that entries touch, nest and repeat.
    void add() {
        Entry entry{.v6 = random_() % 2 == 0};
        const unsigned width = entry.v6 ? 128 : 32;
        const unsigned length = static_cast<unsigned>(random_() % 8 == 0 ? random_() % (width + 1)
                                                                         : width - random_() % 12);
        const Wide most = entry.v6 ? ~Wide{0} : Wide{0xFFFF'FFFF};
        const Wide host = length == width ? Wide{0} : most >> length;
        const Wide near = random_() % 4 == 0 ? wide() : (Wide{0x0A00'0000} + random_() % 8192);
        entry.first = (near & most) & ~host;
        entry.last = entry.first | host;
        entries_.push_back(entry);
        text_ += text_of(entry.first, entry.v6);
        text_ += length == width && random_() % 2 == 0 ? "" : "/" + std::to_string(length);
        text_ += random_() % 3 == 0 ? " # x\r\n" : "\n";
    }

    std::mt19937_64 random_;
    std::vector<Entry> entries_;
    std::string text_;
};

TEST(Lists, SayWhatAScanOfTheirLinesSays) {
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(rounds(60)); ++seed) {
        RandomList list{seed};
        const ListReader lists = lists_of({{"l", list.text()}});
        Box box{R"yaml(version: 1
data: {lists: {l: {type: cidr, file: l}}}
rules: [{id: a, mode: enforce, when: ip.src in $l, on_match: drop}]
)yaml",
                {},
                4096,
                &lists};
        for (const auto& [value, v6] : list.places()) {
            const std::string source = text_of(value, v6);
            const Frame frame = v6 ? udp().dst("2001:db8::99").src(source) : udp().src(source);
            const bool dropped = box.judge(frame.bytes(), kStart).verdict == Verdict::Drop;
            ASSERT_EQ(dropped, list.has(value, v6)) << source << ", seed " << seed;
        }
    }
}

// Thousands of networks, and so many that other tables hold them: one address of each is found, and
// others where a scan finds them.
class LargeLists : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, LargeLists, testing::Values(8'000, 250'000));

TEST_P(LargeLists, HoldWhatTheyList) {
    const bench::LargeList list{GetParam(), 5};
    const ListReader lists = lists_of({{"l", list.text()}});
    Problems problems{"r"};
    auto compiled = compile_rules({"r", R"yaml(version: 1
data: {lists: {l: {type: cidr, file: l}}}
rules: [{id: a, mode: enforce, when: ip.src in $l, on_match: drop}]
)yaml",
                                   &lists},
                                  Purpose::Enforce, {}, problems);
    ASSERT_TRUE(compiled);
    EXPECT_EQ(find_fault(compiled->set), std::nullopt);
    const ListValues values = read_list_text(list.text(), ListType::Cidr).values;
    std::mt19937_64 random{9};
    const auto expect_all = [&](IpVersion version, const std::vector<IpAddress>& inside,
                                const std::vector<AddressRange>& ranges) {
        const bool six = version == IpVersion::V6;
        Octets frame = (six ? udp().dst("2001:db8::99").src("2001:db8::1") : udp()).bytes();
        IpAddress source;
        const auto is_listed = [&] {
            std::copy_n(source.bytes.begin(), six ? 16 : 4, frame.begin() + (six ? 22 : 26));
            return !rules_for(compiled->set.classifier, PacketHeaders{}, frame).empty();
        };
        // Each of them; under a sanitizer one of several. A scan takes long: one in 300 of these.
        const auto all = static_cast<int>(inside.size());
        const auto step = static_cast<std::size_t>(all / std::max(rounds(all), 1));
        for (std::size_t i = 0; i < inside.size(); i += step) {
            source = inside[i];
            ASSERT_TRUE(is_listed()) << i;
            if (const std::size_t asked = i / step; asked % 300 == 0) {
                source.bytes[asked / 300 % 4] ^= static_cast<std::byte>(1 + random() % 255);
                ASSERT_EQ(is_listed(), any_holds(ranges, source)) << i;
            }
        }
    };
    // As it is checked, and as packets meet it: the same answers, and the same size is told.
    const std::size_t told = compiled->set.classifier.bytes();
    for (int round = 0; round < 2; ++round) {
        expect_all(IpVersion::V4, list.v4(), values.v4);
        expect_all(IpVersion::V6, list.v6(), values.v6);
        compiled->set.classifier.make_fast();
    }
    EXPECT_EQ(compiled->set.classifier.bytes(), told);
}

}  // namespace
}  // namespace sluice::test::lists_test
