#include "control/daemon/notify/notice.hpp"

#include "control/json.hpp"

#include <gtest/gtest.h>

namespace sluice::notice_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Notice, ABanHasItsRuleItsCountAndEventsAsTheyAreListed) {
    const Notice notice{.kind = NoticeKind::Ban,
                        .to = "ops",
                        .rule = "login",
                        .mode = Mode::Enforce,
                        .first = 1'764'460'800 * kSecond,
                        .last = 1'764'460'801 * kSecond,
                        .count = 12,
                        .missed = 3,
                        .examples = {{.number = 7,
                                      .kind = KeyEventKind::BanStart,
                                      .utc_ns = 1'764'460'800 * kSecond,
                                      .for_ns = 60 * kSecond,
                                      .lcore = 1,
                                      .rule = "login",
                                      .key = "192.0.2.7"}}};
    EXPECT_EQ(body_of(notice, "0001-1", "box-1"),
              R"({"version":1,"id":"0001-1","host":"box-1","event":"ban","rule":"login",)"
              R"("mode":"enforce","count":12,"first":"2025-11-30T00:00:00.000000000Z",)"
              R"("last":"2025-11-30T00:00:01.000000000Z","missed":3,"examples":[{"seq":7,)"
              R"("time":"2025-11-30T00:00:00.000000000Z","event":"ban","edge":"start",)"
              R"("rule":"login","key":"192.0.2.7","lcore":1,"for_s":60.0}]})");
}

TEST(Notice, TheEndHasItsLengthAndStateItsCount) {
    const Notice over{.kind = NoticeKind::Over,
                      .rule = "login",
                      .first = kSecond,
                      .last = 3 * kSecond / 2 + kSecond,
                      .count = 2};
    EXPECT_EQ(Json::parse(body_of(over, "1", "")).at("for_s"), 1.5);
    const Notice state{.kind = NoticeKind::State, .survives = false, .not_kept = 4};
    EXPECT_EQ(body_of(state, "1", "b"),
              R"({"version":1,"id":"1","host":"b","event":"state","survives":false,"not_kept":4})");
    EXPECT_EQ(body_of({.kind = NoticeKind::Test}, "1", "b"),
              R"({"version":1,"id":"1","host":"b","event":"test"})");
}

TEST(Notice, NewsOfTheClusterAreItsEvents) {
    const Notice notice{.kind = NoticeKind::Cluster,
                        .count = 1,
                        .news = {{.kind = ClusterEventKind::MemberLeft, .number = 7, .node = "b"}}};
    const Json body = Json::parse(body_of(notice, "1", "a"));
    EXPECT_EQ(body.at("event"), "cluster");
    EXPECT_EQ(body.at("examples").at(0).at("event"), "member_left");
    EXPECT_EQ(body.at("examples").at(0).at("node"), "b");
}

TEST(Notice, BytesOfAKeyThatAreNoTextDoNotBreakTheDocument) {
    const Notice notice{.kind = NoticeKind::Limit,
                        .rule = "path",
                        .examples = {{.rule = "path", .key = "\xFF\x01\"\n"}}};
    EXPECT_TRUE(Json::accept(body_of(notice, "1", "b")));
}

}  // namespace
}  // namespace sluice::notice_test
