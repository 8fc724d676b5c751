#include "lib/watch/top/space_saving.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

namespace sluice::space_saving_test {
namespace {

// A few keys that come often among very many that do not.
std::string draw(std::mt19937_64& random) {
    const double u = std::uniform_real_distribution<>{0, 1}(random);
    return std::to_string(static_cast<int>(std::pow(u, -1.5)));
}

// Against counting every key: what the paper promises.
TEST(SpaceSaving, HoldsItsBounds) {
    for (const std::size_t capacity : {1U, 2U, 10U, 100U}) {
        SpaceSaving sketch{capacity};
        std::map<std::string, std::uint64_t> truth;
        std::uint64_t total = 0;
        std::mt19937_64 random{capacity};
        for (int i = 0; i < 20'000; ++i) {
            const std::string key = draw(random);
            const std::uint64_t weight = 1 + random() % 5;
            sketch.add(key, weight);
            truth[key] += weight;
            total += weight;
        }
        std::uint64_t counted = 0;
        for (const SpaceSaving::Counted& one : sketch.all()) {
            EXPECT_GE(one.count(), truth[one.key]);
            EXPECT_LE(one.count() - one.now.error, truth[one.key]);
            EXPECT_LE(one.now.error, total / capacity);
            EXPECT_EQ(sketch.find(one.key), &one);
            counted += one.count();
        }
        EXPECT_EQ(counted, total);
        EXPECT_EQ(sketch.all().size(), capacity);
        for (const auto& [key, count] : truth) {
            EXPECT_TRUE(sketch.find(key) != nullptr || count <= sketch.least()) << key;
        }
    }
}

TEST(SpaceSaving, HoldsItsBoundsInEachPartOfItsWindow) {
    for (const std::size_t capacity : {1U, 2U, 10U, 100U}) {
        SpaceSaving sketch{capacity};
        std::mt19937_64 random{capacity};
        for (int part = 0; part < 10; ++part) {
            std::map<std::string, std::uint64_t> truth;
            for (int i = 0; i < 2'000; ++i) {
                const std::string key = draw(random);
                const std::uint64_t weight = 1 + random() % 5;
                sketch.add(key, weight);
                truth[key] += weight;
            }
            for (const SpaceSaving::Counted& one : sketch.all()) {
                EXPECT_GE(one.now.count, truth[one.key]) << part;
                EXPECT_LE(one.now.count - one.now.error, truth[one.key]) << part;
            }
            for (const auto& [key, count] : truth) {
                EXPECT_TRUE(sketch.find(key) != nullptr || count <= sketch.least()) << key;
            }
            sketch.rotate();
        }
    }
}

TEST(SpaceSaving, IsExactWhileThereIsRoom) {
    SpaceSaving sketch{4};
    sketch.add("a", 3, 10);
    sketch.add("b", 1, 20);
    sketch.add("a", 2, 30);
    EXPECT_EQ(sketch.find("a")->count(), 5U);
    EXPECT_EQ(sketch.find("a")->now.error, 0U);
    EXPECT_EQ(sketch.find("a")->now.squares, 13.0);
    EXPECT_EQ(sketch.find("a")->note, 30U);
    EXPECT_EQ(sketch.find("c"), nullptr);
    EXPECT_EQ(sketch.least(), 0U);
}

// What comes in the place of another has all that this one counted, in the part that runs.
TEST(SpaceSaving, ForgetsWhatIsTwoPartsOld) {
    SpaceSaving sketch{3};
    sketch.add("old", 1000);
    sketch.add("often", 1);
    sketch.rotate();
    EXPECT_EQ(sketch.find("old")->before.count, 1000U);
    EXPECT_EQ(sketch.find("old")->now.count, 0U);
    sketch.add("often", 5, 7);
    sketch.add("new", 2);
    EXPECT_EQ(sketch.find("often")->count(), 6U);
    EXPECT_EQ(sketch.least(), 2U);
    sketch.add("newer", 1);  // in the place of the least
    EXPECT_EQ(sketch.find("new"), nullptr);
    EXPECT_EQ(sketch.find("newer")->count(), 3U);
    EXPECT_EQ(sketch.find("newer")->now.error, 2U);
    sketch.rotate();
    EXPECT_EQ(sketch.find("old"), nullptr);
    EXPECT_EQ(sketch.find("often")->count(), 5U);
    EXPECT_EQ(sketch.find("often")->note, 7U);
    sketch.rotate();
    EXPECT_TRUE(sketch.all().empty());
    sketch.add("often", 1);
    EXPECT_EQ(sketch.find("often")->count(), 1U);
}

}  // namespace
}  // namespace sluice::space_saving_test
