#include "control/heatmap/heat_reading.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

// Each scenario is a population that is drawn anew in every column, the same in every run.
namespace sluice::heat_reading_test {
namespace {

using Columns = std::vector<std::optional<HeatColumn>>;
using Random = std::mt19937_64;
constexpr unsigned kStep = 60;

HeatTerms limit_of(double units) {
    return {.text = "a limit",
            .unit = "requests",
            .at_once = units,
            .window_s = kStep,
            .most = units,
            .step = kStep};
}

// Groups whose requests in a column are spread by their logarithm around a median.
struct Crowd {
    unsigned groups;
    double median;
    double spread;
};
unsigned drawn(const Crowd& crowd, Random& random) {
    std::normal_distribution<double> normal{std::log(crowd.median), crowd.spread};
    return static_cast<unsigned>(std::max(1.0, std::round(std::exp(normal(random)))));
}

// What a fixed window of `limit` makes of them.
void add(std::vector<HeatSample>& samples, unsigned offered, unsigned limit) {
    const unsigned refused = offered > limit ? offered - limit : 0;
    const unsigned left =
        refused != 0 ? 0 : std::max(1U, ((limit - offered) * 255 + limit - 1) / limit);
    samples.push_back({.digest = samples.size() + 1,
                       .offered = offered,
                       .refused = refused,
                       .least_left = static_cast<std::uint8_t>(left)});
}

using Crowds = std::function<std::vector<Crowd>(std::size_t column)>;
HeatReading reading_of(const Crowds& crowds, unsigned limit, std::size_t columns) {
    Random random{7};
    Columns drawn_columns;
    for (std::size_t at = 0; at < columns; ++at) {
        std::vector<HeatSample> samples;
        for (const Crowd& crowd : crowds(at)) {
            for (unsigned i = 0; i < crowd.groups; ++i) {
                add(samples, drawn(crowd, random), limit);
            }
        }
        ColumnJoin join{1U << 20};
        join.add(samples, 0, 0);
        drawn_columns.emplace_back(HeatColumn{static_cast<std::int64_t>(at) * kStep, join});
    }
    const HeatTerms terms = limit_of(limit);
    return heat_reading(heat_numbers(drawn_columns, kStep, terms), terms);
}
Crowds always(std::vector<Crowd> crowds) {
    return [crowds = std::move(crowds)](std::size_t) { return crowds; };
}

TEST(HeatReading, TypicalWhereMostAreFarFromTheLimitAndHardlyAnybodyMeetsIt) {
    const HeatReading reading = reading_of(always({{500, 10, 0.9}}), 200, 30);
    EXPECT_EQ(reading.kind, HeatKind::Typical) << reading.says;
    EXPECT_LT(reading.numbers.refused_share, 0.01);
    EXPECT_GT(reading.numbers.p99_q, 0.2);
    EXPECT_EQ(reading.numbers.columns, 30U);
    EXPECT_EQ(reading.numbers.watched, 15'000U);
    EXPECT_TRUE(reading.says.starts_with("typical: the limit had no room for 0.")) << reading.says;
}

// The same people under a limit that is too low for them: few requests each, and many refused.
TEST(HeatReading, FalsePositivesWhereManyAreRefusedThatHardlyOfferMoreThanIsAdmitted) {
    const HeatReading reading = reading_of(always({{500, 5, 0.4}}), 8, 30);
    EXPECT_EQ(reading.kind, HeatKind::FalsePositives) << reading.says;
    EXPECT_GT(reading.numbers.refused_share, 0.05);
    EXPECT_LT(reading.numbers.median_q_refused, 1.5);
}

// Flooders that ask for four times the rate, column after column, under a burst of two columns.
TEST(HeatReading, FloodersAreNoFalsePositivesWhereTheBurstIsLargerThanAColumn) {
    const auto bucket = Limit::make({Units{50}, std::chrono::seconds{1}}, Units{100});
    LimitSummary summary{.name = "1", .numbers = SharedNumbers{.limit = TokenBucketLimit{*bucket}}};
    const HeatTerms terms = heat_terms(summary);
    Columns drawn_columns;
    for (std::int64_t at = 0; at < 60; ++at) {
        std::vector<HeatSample> samples;
        for (std::uint64_t group = 1; group <= 43; ++group) {
            const bool floods = group > 40;
            samples.push_back({.digest = group,
                               .offered = floods ? 217U : 4U,
                               .refused = floods ? 167U : 0U,
                               .least_left = floods ? std::uint8_t{0} : std::uint8_t{250}});
        }
        ColumnJoin join{1000};
        join.add(samples, 0, 0);
        drawn_columns.emplace_back(HeatColumn{at, join});
    }
    const HeatReading reading = heat_reading(heat_numbers(drawn_columns, 1, terms), terms);
    EXPECT_GT(reading.numbers.refused_share, 0.05);
    EXPECT_GT(reading.numbers.median_q_refused, 3);
    EXPECT_NE(reading.kind, HeatKind::FalsePositives) << reading.says;
}

TEST(HeatReading, TooLooseWhereNobodyComesNearTheLimitForAnHour) {
    const HeatReading reading = reading_of(always({{500, 10, 0.5}}), 2000, 60);
    EXPECT_EQ(reading.kind, HeatKind::TooLoose) << reading.says;
    EXPECT_EQ(reading.numbers.refused_share, 0);
    EXPECT_NE(reading.says.find("would have refused nobody"), std::string::npos) << reading.says;
    EXPECT_LT(reading.numbers.most_offered, 200);
    EXPECT_EQ(reading_of(always({{500, 10, 0.5}}), 2000, 54).kind, HeatKind::TooLoose)
        << "a tenth of the hour was not read";
    const HeatReading shorter = reading_of(always({{500, 10, 0.5}}), 2000, 53);
    EXPECT_EQ(shorter.kind, HeatKind::Unclear);
    EXPECT_NE(shorter.says.find("53m"), std::string::npos) << shorter.says;
}

// Some that ask three times as often as they may, minute by minute, beside everybody else.
TEST(HeatReading, BotsWhereANarrowSteadyBandBeyondTheLimitHasMostOfTheUnits) {
    const HeatReading reading = reading_of(always({{500, 10, 0.9}, {125, 900, 0.05}}), 300, 30);
    EXPECT_EQ(reading.kind, HeatKind::Bots) << reading.says;
    EXPECT_GT(reading.numbers.octave_share, 0.5);
    EXPECT_LT(reading.numbers.octave_variation, 0.2);
    EXPECT_GE(reading.numbers.median_q_refused, 1.5);
    EXPECT_LE(reading.numbers.octave_from, 900);
    EXPECT_GE(2 * reading.numbers.octave_from, 900);
}

TEST(HeatReading, ACrowdThatComesAndGoesIsNoBand) {
    const Crowds crowd = [](std::size_t column) {
        return std::vector<Crowd>{{500, 10, 0.9}, {column % 3 == 0 ? 125U : 5U, 900, 0.05}};
    };
    const HeatReading reading = reading_of(crowd, 300, 30);
    EXPECT_EQ(reading.kind, HeatKind::Unclear) << reading.says;
    EXPECT_GT(reading.numbers.octave_variation, 0.2);
}

TEST(HeatReading, SaysNothingOfAFewGroupsOrWithoutData) {
    EXPECT_EQ(reading_of(always({{2, 10, 0.5}}), 300, 10).kind, HeatKind::Unclear);
    EXPECT_EQ(reading_of(always({{3, 10, 0.9}}), 300, 10).numbers.watched, 30U);
    const HeatTerms terms = limit_of(300);
    const Columns unknown(10);
    EXPECT_EQ(heat_reading(heat_numbers(unknown, kStep, terms), terms).kind, HeatKind::None);
}

// Numbers of groups, not of watched ones: a column that watches one of four counts four times.
TEST(HeatReading, WeighsColumnsByTheirSamplingRate) {
    std::vector<HeatSample> refused;
    std::vector<HeatSample> admitted;
    for (unsigned i = 0; i < 100; ++i) {
        add(refused, 400, 300);
        add(admitted, 10, 300);
    }
    ColumnJoin all{1000};
    all.add(refused, 0, 0);
    ColumnJoin some{1000};
    some.add(admitted, 2, 0);
    const Columns columns{HeatColumn{0, all}, HeatColumn{kStep, some}};
    const HeatNumbers numbers = heat_numbers(columns, kStep, limit_of(300));
    EXPECT_EQ(numbers.groups, 500);
    EXPECT_EQ(numbers.watched, 200U);
    EXPECT_DOUBLE_EQ(numbers.refused_share, 0.2);
    EXPECT_EQ(numbers.columns, 2U);
}

}  // namespace
}  // namespace sluice::heat_reading_test
