#include "lib/l7/http1/path_costs.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>

namespace sluice::path_costs_test {
namespace {

const std::vector<PathCost> kCosts{
    {"/", 2}, {"/login", 5}, {"/login/x/y", 50}, {"/v1/export", 25}, {"/v1/e", 7}};

std::vector<PathCost> sorted(std::vector<PathCost> costs) {
    std::sort(costs.begin(), costs.end(),
              [](const PathCost& a, const PathCost& b) { return a.prefix < b.prefix; });
    return costs;
}

TEST(PathCosts, AreOfTheLongestPrefixSegmentBySegment) {
    const PathCosts costs{sorted(kCosts), 1};
    const std::map<std::string_view, std::uint32_t> rows{{"/login", 5},
                                                         {"/login/", 5},
                                                         {"/login/x", 5},
                                                         {"/login/x/", 5},
                                                         {"/login/x/y", 50},
                                                         {"/login/x/y/z", 50},
                                                         {"/login/x/yy", 5},
                                                         {"/loginx", 2},
                                                         {"/loginx/x/y", 2},
                                                         {"/logi", 2},
                                                         {"/", 2},
                                                         {"/v1", 2},
                                                         {"/v1/export", 25},
                                                         {"/v1/export/csv", 25},
                                                         {"/v1/exports", 2},
                                                         {"/v1/e", 7},
                                                         {"/v1/e/xport", 7},
                                                         {"/Login", 2},
                                                         {"", 1},
                                                         {"*", 1},
                                                         {"login", 1},
                                                         {"x/login", 1},
                                                         {"example.com:443", 1}};
    for (const auto& [path, cost] : rows) {
        EXPECT_EQ(costs.cost_of(bytes_of(path)), cost) << path;
    }
}

TEST(PathCosts, WithoutARootOthersCostWhatIsSaid) {
    const PathCosts costs{{{"/a", 9}}, 3};
    EXPECT_EQ(costs.cost_of(bytes_of("/a/b")), 9U);
    EXPECT_EQ(costs.cost_of(bytes_of("/b")), 3U);
    EXPECT_EQ(costs.cost_of(bytes_of("/")), 3U);
    EXPECT_EQ(PathCosts({{"/", 4}}, 3).cost_of(bytes_of("/")), 4U);
    EXPECT_EQ(PathCosts({{"/", 4}}, 3).cost_of(bytes_of("/any/thing")), 4U);
}

// The definition, prefix by prefix.
std::uint32_t by_definition(const std::vector<PathCost>& costs, std::string_view path,
                            std::uint32_t otherwise) {
    std::size_t longest = 0;
    std::uint32_t found = otherwise;
    for (const PathCost& cost : costs) {
        const std::string_view prefix = cost.prefix;
        const bool begins = prefix == "/"
                                ? path.starts_with("/")
                                : path == prefix || path.starts_with(std::string{prefix} + "/");
        if (begins && prefix.size() > longest) {
            longest = prefix.size();
            found = cost.cost;
        }
    }
    return found;
}

TEST(PathCosts, AreThoseOfTheDefinition) {
    std::mt19937_64 random{20261123};
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto path = [&](std::size_t most) {
        std::string text;
        for (std::size_t i = below(most + 1); i > 0; --i) {
            text += "/";
            for (std::size_t j = below(3); j > 0; --j) {
                text += "ab"[below(2)];
            }
        }
        return text;
    };
    for (int round = 0; round < test::rounds(300); ++round) {
        std::map<std::string, std::uint32_t> chosen;
        for (std::size_t i = below(40); i > 0; --i) {
            const std::string prefix = path(4);
            if (is_path_prefix(prefix)) {
                chosen[prefix] = static_cast<std::uint32_t>(1 + below(1000));
            }
        }
        std::vector<PathCost> list;
        for (const auto& [prefix, cost] : chosen) {
            list.push_back({prefix, cost});
        }
        ASSERT_TRUE(are_sound(list, 1000));
        const PathCosts costs{list, 7};
        for (int i = 0; i < 50; ++i) {
            const std::string asked = path(6);
            ASSERT_EQ(costs.cost_of(bytes_of(asked)), by_definition(list, asked, 7)) << asked;
        }
    }
}

TEST(PathCosts, AreSoundInOrderAndInTheirForm) {
    EXPECT_TRUE(are_sound(std::vector<PathCost>{}, 9));
    EXPECT_TRUE(are_sound(sorted(kCosts), 50));
    EXPECT_FALSE(are_sound(sorted(kCosts), 49));
    const std::vector<PathCost> broken[] = {{{"", 1}},
                                            {{"a", 1}},
                                            {{"/a/", 1}},
                                            {{"//", 1}},
                                            {{"/a", 0}},
                                            {{"/b", 1}, {"/a", 1}},
                                            {{"/a", 1}, {"/a", 2}},
                                            {{"/" + std::string(1024, 'a'), 1}}};
    for (const std::vector<PathCost>& costs : broken) {
        EXPECT_FALSE(are_sound(costs, 50)) << costs.front().prefix;
    }
    std::vector<PathCost> many;
    for (std::size_t i = 0; i <= kMaxPathCosts; ++i) {
        many.push_back({"/" + std::to_string(i), 1});
    }
    EXPECT_FALSE(are_sound(sorted(many), 1));
    many.pop_back();
    EXPECT_TRUE(are_sound(sorted(many), 1));
}

}  // namespace
}  // namespace sluice::path_costs_test
