#include "control/fleet/etcd_client.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::etcd_client_test {
namespace {

// What was posted, and what comes back.
struct Talk {
    struct Line {
        std::size_t server;
        std::string path;
        std::string token;
    };
    std::vector<Line> posted;
    std::deque<Result<EtcdReply>> replies;
};

class ScriptedTransport final : public EtcdTransport {
public:
    ScriptedTransport(Talk& talk, std::size_t servers) : talk_{talk}, servers_{servers} {}

    Result<EtcdReply> post(std::size_t server, const EtcdPost& post) override {
        talk_.posted.push_back({server, post.path, post.token});
        if (talk_.replies.empty()) {
            return Error{Errc::Unreachable, "no more replies"};
        }
        Result<EtcdReply> reply = std::move(talk_.replies.front());
        talk_.replies.pop_front();
        return reply;
    }
    [[nodiscard]] std::size_t servers() const override { return servers_; }

private:
    Talk& talk_;
    std::size_t servers_;
};

EtcdClient client(Talk& talk, std::size_t servers, EtcdLogin login = {}) {
    return {std::make_unique<ScriptedTransport>(talk, servers), std::move(login)};
}

constexpr auto kHeader = R"({"header":{"cluster_id":"9","revision":"4"}})";
const Error kAway{Errc::Unreachable, "away"};
const Error kSilent{Errc::Busy, "silent"};

TEST(EtcdClient, AsksTheNextServerWhereOneIsAway) {
    Talk talk{.posted = {}, .replies = {kAway, EtcdReply{200, kHeader}, EtcdReply{200, kHeader}}};
    EtcdClient etcd = client(talk, 2);
    ASSERT_TRUE(etcd.get({.key = "a"}));
    ASSERT_TRUE(etcd.get({.key = "a"}));
    ASSERT_EQ(talk.posted.size(), 3U);
    EXPECT_EQ(talk.posted[0].server, 0U);
    EXPECT_EQ(talk.posted[1].server, 1U);
    EXPECT_EQ(talk.posted[2].server, 1U) << "the one that answers is asked first from then on";
}

TEST(EtcdClient, AsksEachServerOnceAndTellsTheFirstError) {
    Talk talk{.posted = {}, .replies = {kSilent, kAway, EtcdReply{503, "{}"}}};
    EtcdClient etcd = client(talk, 3);
    const Result<EtcdRange> range = etcd.get({.key = "a"});
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().what, "silent");
    EXPECT_EQ(talk.posted.size(), 3U);
}

TEST(EtcdClient, TellsNobodyElseWhatMayHaveBeenWritten) {
    Talk talk{.posted = {}, .replies = {kSilent, EtcdReply{200, kHeader}}};
    EtcdClient etcd = client(talk, 2);
    const Result<EtcdOutcome> outcome = etcd.commit({.then = {EtcdPut{.key = "a", .value = "b"}}});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Errc::Busy);
    EXPECT_EQ(talk.posted.size(), 1U);
    ASSERT_TRUE(etcd.get({.key = "a"}));
    EXPECT_EQ(talk.posted.back().server, 1U) << "the next call begins with the next server";
}

TEST(EtcdClient, ALoginWithoutAnAnswerIsNoWriteWithoutOne) {
    Talk talk{.posted = {},
              .replies = {kSilent, EtcdReply{200, R"({"token":"one"})"}, EtcdReply{200, kHeader}}};
    EtcdClient etcd = client(talk, 2, {"box", "secret"});
    EXPECT_TRUE(etcd.commit({.then = {EtcdPut{.key = "a", .value = "b"}}}));
    EXPECT_EQ(talk.posted.back().server, 1U);
}

TEST(EtcdClient, LogsInAnewWhereItsTokenHasEnded) {
    Talk talk{.posted = {},
              .replies = {EtcdReply{200, R"({"token":"one"})"}, EtcdReply{200, kHeader},
                          EtcdReply{401, R"({"message":"invalid auth token"})"},
                          EtcdReply{200, R"({"token":"two"})"}, EtcdReply{200, kHeader}}};
    EtcdClient etcd = client(talk, 1, {"box", "secret"});
    ASSERT_TRUE(etcd.get({.key = "a"}));
    ASSERT_TRUE(etcd.get({.key = "a"}));
    ASSERT_EQ(talk.posted.size(), 5U);
    EXPECT_EQ(talk.posted[0].path, "/auth/authenticate");
    EXPECT_EQ(talk.posted[1].token, "one");
    EXPECT_EQ(talk.posted[3].path, "/auth/authenticate");
    EXPECT_EQ(talk.posted[4].token, "two");
}

TEST(EtcdClient, ARefusedUserIsToldAndNotTriedElsewhere) {
    Talk talk{.posted = {}, .replies = {EtcdReply{400, R"({"message":"authentication failed"})"}}};
    EtcdClient etcd = client(talk, 3, {"box", "wrong"});
    const Result<EtcdRange> range = etcd.get({.key = "a"});
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().what, "etcd does not let in the user box: authentication failed");
    EXPECT_EQ(talk.posted.size(), 1U);
}

TEST(EtcdClient, AnAnswerThatIsNoneIsAnError) {
    for (const char* body : {"", "[]", "{}", "null", R"({"header":[]})",
                             R"({"header":{"cluster_id":9}})", R"({"header":{},"kvs":{}})",
                             R"({"header":{},"kvs":[1]})", R"({"header":{},"kvs":[{"key":"!"}]})",
                             R"({"header":{},"kvs":[{"mod_revision":"1x"}]})"}) {
        Talk talk{.posted = {}, .replies = {EtcdReply{200, body}}};
        EtcdClient etcd = client(talk, 1);
        const Result<EtcdRange> range = etcd.get({.key = "a"});
        ASSERT_FALSE(range) << body;
        EXPECT_EQ(range.error().code, Errc::BadSyntax) << body;
    }
}

TEST(EtcdClient, ReadsKeysAndWhatATransactionRead) {
    Talk talk{.posted = {},
              .replies = {EtcdReply{200, R"({"header":{"cluster_id":"9","revision":"4"},
        "succeeded":true,"responses":[{"response_put":{}},{"response_range":{"kvs":[{"key":"L2E=",
        "value":"aGk=","create_revision":"2","mod_revision":"3","lease":"7"}]}},
        {"response_range":{}}]})"}}};
    EtcdClient etcd = client(talk, 1);
    const Result<EtcdOutcome> outcome = etcd.commit({});
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->held);
    EXPECT_EQ(outcome->revision, 4);
    EXPECT_EQ(outcome->cluster, 9U);
    ASSERT_EQ(outcome->read.size(), 2U);
    ASSERT_EQ(outcome->read[0].size(), 1U);
    const EtcdKey& key = outcome->read[0][0];
    EXPECT_EQ(key.key, "/a");
    EXPECT_EQ(key.value, "hi");
    EXPECT_EQ(key.created, 2);
    EXPECT_EQ(key.modified, 3);
    EXPECT_EQ(key.lease, 7);
    EXPECT_TRUE(outcome->read[1].empty());
}

TEST(EtcdClient, ALeaseThatHasEndedIsToldApartFromOneThatHolds) {
    Talk talk{.posted = {},
              .replies = {EtcdReply{200, R"({"result":{"ID":"5","TTL":"10"}})"},
                          EtcdReply{200, R"({"result":{"ID":"5"}})"}, kAway,
                          EtcdReply{404, R"({"message":"requested lease not found"})"}}};
    EtcdClient etcd = client(talk, 1);
    EXPECT_TRUE(*etcd.keep_alive(5));
    EXPECT_FALSE(*etcd.keep_alive(5));
    EXPECT_FALSE(etcd.keep_alive(5)) << "nobody knows";
    EXPECT_TRUE(etcd.revoke(5)) << "it has ended already";
}

}  // namespace
}  // namespace sluice::etcd_client_test
