#include "control/cli/replay/service_tally.hpp"

#include <gtest/gtest.h>

namespace sluice::service_tally_test {
namespace {

ServiceSummary summary(const std::string& id, ServiceProtocol protocol) {
    ServiceSummary made;
    made.id = id;
    made.protocol = protocol;
    return made;
}

LoadedService running(const std::string& id, Mode mode, ServicePath path = ServicePath::Both) {
    LoadedService made;
    made.id = id;
    made.mode = mode;
    made.path = path;
    return made;
}

class Tally : public testing::Test {
protected:
    ServiceOutcome of(std::size_t index, bool from_client) const {
        ServiceOutcome outcome{.index = index};
        outcome.packet.is_from_client = from_client;
        outcome.is_segment = true;
        return outcome;
    }

    const std::vector<ServiceSummary> summaries_{
        summary("a", ServiceProtocol::Http), summary("b", ServiceProtocol::Tls),
        summary("c", ServiceProtocol::Dns), summary("d", ServiceProtocol::Http)};
    // The set leaves out `b`, which is off.
    const LoadedServices running_{nullptr,
                                  {running("a", Mode::Enforce), running("c", Mode::Monitor),
                                   running("d", Mode::Enforce, ServicePath::Inbound)}};
    ServiceTally tally_{summaries_, running_};
};

TEST_F(Tally, HasAllServicesOfTheFileInItsOrder) {
    const auto& rows = tally_.rows();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].mode, Mode::Enforce);
    EXPECT_EQ(rows[1].mode, Mode::Off);
    EXPECT_EQ(rows[2].id, "c");
    EXPECT_EQ(rows[2].mode, Mode::Monitor);
    EXPECT_EQ(rows[3].protocol, ServiceProtocol::Http);
}

TEST_F(Tally, CountsEachPacketAtItsService) {
    ServiceOutcome refused = of(0, true);
    refused.refused = Reason::BadAck;
    ServiceOutcome would_refuse = of(1, true);
    would_refuse.would_refuse = Reason::Midstream;
    ServiceOutcome rewritten = of(0, true);
    rewritten.rewritten.raises_to = 32;
    for (const ServiceOutcome& outcome :
         {refused, refused, would_refuse, rewritten, of(0, false)}) {
        tally_.count(outcome);
    }
    const Json json = services_json(tally_);
    EXPECT_EQ(json[0].dump(),
              R"({"id":"a","protocol":"http","mode":"enforce","frames":4,"from_clients":3,)"
              R"("from_servers":1,"rewritten":1,"refused":{"bad_ack":2},"would_refuse":{}})");
    EXPECT_EQ(json[1]["frames"], 0);
    EXPECT_EQ(json[2]["would_refuse"].dump(), R"({"midstream":1})");
    const std::string text = services_text(tally_);
    EXPECT_NE(text.find("bad_ack"), std::string::npos);
    EXPECT_NE(text.find("midstream"), std::string::npos);
}

TEST_F(Tally, KnowsWhyServersWereNotSeen) {
    tally_.count_from_inside();
    tally_.count(of(0, true));
    ASSERT_EQ(tally_.without_servers().size(), 1U);
    EXPECT_NE(tally_.without_servers()[0].find("1 frame came from inside, but none of a "
                                               "connection of `a`"),
              std::string::npos)
        << tally_.without_servers()[0];
    tally_.count_from_inside();
    ServiceOutcome refused = of(0, true);
    refused.refused = Reason::WrongChecksum;
    tally_.count(refused);
    const std::string text = tally_.without_servers()[0];
    EXPECT_NE(text.find("2 frames came from inside"), std::string::npos) << text;
    EXPECT_NE(text.find("most as wrong_checksum"), std::string::npos) << text;
    EXPECT_NE(text.find("`checksums: trust`"), std::string::npos) << text;
    EXPECT_EQ(text.find("--inside"), std::string::npos) << text;
}

TEST_F(Tally, DatagramsAreFollowedWithoutTheirServers) {
    ServiceOutcome query = of(1, true);
    query.is_segment = false;
    tally_.count(query);
    EXPECT_TRUE(tally_.without_servers().empty());
}

TEST_F(Tally, KnowsWhoseServersWereNotSeen) {
    EXPECT_TRUE(tally_.without_servers().empty());
    tally_.count(of(0, true));
    tally_.count(of(2, true));  // whose path is inbound
    ASSERT_EQ(tally_.without_servers().size(), 1U);
    EXPECT_NE(tally_.without_servers()[0].find("no frame came from the servers of `a`"),
              std::string::npos);
    tally_.count(of(0, false));
    EXPECT_TRUE(tally_.without_servers().empty());
}

TEST(ServiceTally, OfNoServicesSaysNothing) {
    EXPECT_EQ(services_text(ServiceTally{}), "");
}

}  // namespace
}  // namespace sluice::service_tally_test
