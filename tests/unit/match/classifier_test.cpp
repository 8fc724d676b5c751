#include "lib/match/classifier.hpp"

#include "lib/match/address_key.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sluice::classifier_test {
namespace {

// One dimension of random steps that lead to row 0 or 1 in turn.
DimensionParts sources(std::size_t v4_steps, std::size_t v6_steps, std::mt19937_64& random) {
    std::map<std::uint64_t, bool> v4{{0, true}};
    std::map<Wide, bool> v6{{Wide{0}, true}};
    while (v4.size() < v4_steps) {
        v4.emplace(random() & 0xFFFF'FFFF, true);
    }
    while (v6.size() < v6_steps) {
        v6.emplace((Wide{0x2001'0DB8'0000 | (random() & 0xFFFF)} << 80) | random(), true);
    }
    DimensionParts parts{.field = Field::IpSrc, .used = {1}, .open = {0, 1}, .references = {0}};
    for (const auto& [first, there] : v4) {
        parts.steps.push_back({first, static_cast<std::uint32_t>(parts.steps.size() % 2)});
    }
    for (const auto& [first, there] : v6) {
        parts.v6_steps.push_back({first, static_cast<std::uint32_t>(parts.v6_steps.size() % 2)});
    }
    return parts;
}

ClassifierParts parts_of(DimensionParts dimension) {
    Block first;
    first.words[0] = 1;
    return {.always = {}, .rule_of = {0}, .dimensions = {std::move(dimension)}, .blocks = {first}};
}

bool matches(const Classifier& classifier, const VersionedAddress& source) {
    static HeaderColumns columns;
    static RuleMatches matches;
    columns.add_present(HeaderPart::Ip, 1);
    columns.v6 = source.version == IpVersion::V6 ? 1 : 0;
    columns.src6[0] = source.address;
    columns.src_host[0] = static_cast<std::uint32_t>(v4_key(source.address));
    classifier.match_headers(columns, 1, matches);
    return !matches.matched().empty();
}

template <typename Key>
VersionedAddress address_of(Key key) {
    VersionedAddress address{sizeof(Key) == 16 ? IpVersion::V6 : IpVersion::V4, {}};
    const std::size_t size = sizeof(Key) == 16 ? 16 : 4;
    for (std::size_t i = size; i-- > 0; key >>= 8) {
        address.address.bytes[i] = static_cast<std::byte>(key & 0xFF);
    }
    return address;
}

struct Size {
    std::size_t v4;
    std::size_t v6;
};

// Few networks, many of either version, and of both.
TEST(Classifier, SlimAndFastSayTheSame) {
    std::mt19937_64 random{6};
    for (const Size& size :
         {Size{100, 50}, Size{140'000, 50}, Size{100, 9'000}, Size{140'000, 9'000}}) {
        const ClassifierParts parts = parts_of(sources(size.v4, size.v6, random));
        ASSERT_TRUE(are_sound(parts, 1));
        const Classifier fast{parts};
        Classifier slim{parts, Lookups::Slim};
        EXPECT_EQ(slim.bytes(), fast.bytes());
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < test::rounds(3000); ++i) {
                const auto& v4 = parts.dimensions[0].steps;
                const auto& v6 = parts.dimensions[0].v6_steps;
                const auto& step = v4[random() % v4.size()];
                const auto& v6_step = v6[random() % v6.size()];
                EXPECT_EQ(matches(slim, address_of(step.first)), step.row == 1);
                EXPECT_EQ(matches(slim, address_of(v6_step.first)), v6_step.row == 1);
                for (const std::uint64_t key : {step.first - 1, step.first + 1, random()}) {
                    const VersionedAddress address = address_of(key & 0xFFFF'FFFF);
                    EXPECT_EQ(matches(slim, address), matches(fast, address));
                }
                for (const Wide key : {v6_step.first - 1, v6_step.first + 1}) {
                    EXPECT_EQ(matches(slim, address_of(key)), matches(fast, address_of(key)));
                }
            }
            slim.make_fast();
        }
    }
}

}  // namespace
}  // namespace sluice::classifier_test
