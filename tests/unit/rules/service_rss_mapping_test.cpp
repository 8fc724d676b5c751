#include "lib/rules/service_rss_mapping.hpp"

#include <gtest/gtest.h>

namespace sluice::service_rss_mapping_test {
namespace {

using By = PortRssMapping::By;

RssMapping box(const PortRssMapping& outside, const PortRssMapping& inside,
               std::size_t workers = 4) {
    RssMapping made{.ports = {outside, inside}, .workers = workers};
    made.ports[0].pair = made.ports[1].pair = "uplink";
    made.ports[0].dir = Direction::In;
    made.ports[1].dir = Direction::Out;
    return made;
}

PortRssMapping port(Rss rss, By by = By::Handover, std::uint64_t way = 0) {
    return {.by = by, .rss = rss, .way = way};
}

TEST(ServiceSpread, DirectionsMeetWhereTheInsideMirrorsTheOutside) {
    EXPECT_FALSE(find_split(box(port(Rss::Source), port(Rss::Destination))));
    EXPECT_FALSE(find_split(box(port(Rss::Destination), port(Rss::Source))));
    EXPECT_FALSE(find_split(box(port(Rss::Symmetric), port(Rss::Symmetric))));
    EXPECT_FALSE(
        find_split(box(port(Rss::Source, By::OneWorker), port(Rss::Source, By::OneWorker))));
}

TEST(ServiceSpread, DirectionsPartElsewhere) {
    const auto split = find_split(box(port(Rss::Source), port(Rss::Source)));
    ASSERT_TRUE(split);
    EXPECT_NE(split->find("pair `uplink`"), std::string::npos);
    EXPECT_NE(split->find("`rss: destination` inside"), std::string::npos);
    EXPECT_TRUE(
        find_split(box(port(Rss::Source, By::Port, 1), port(Rss::Destination, By::Port, 2))));
    EXPECT_TRUE(
        find_split(box(port(Rss::Source, By::Unknown), port(Rss::Destination, By::Unknown))));
    EXPECT_TRUE(
        find_split(box(port(Rss::Source, By::OneWorker, 1), port(Rss::Source, By::OneWorker, 2))));
}

TEST(ServiceSpread, OneWorkerHasBoth) {
    EXPECT_FALSE(find_split(box(port(Rss::Source), port(Rss::Source), 1)));
}

TEST(ServiceSpread, OfABoxThatNothingIsKnownOfTheyMay) {
    EXPECT_FALSE(find_split(usual_rss_mapping()));
}

}  // namespace
}  // namespace sluice::service_rss_mapping_test
