#include "control/daemon/api/api.hpp"
#include "control/daemon/notify/notice_sender.hpp"
#include "control/daemon/preview/preview_desk.hpp"
#include "control/json.hpp"
#include "lib/policy/compile.hpp"
#include "tests/unit/control/daemon/keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::previews_test {
namespace {

constexpr const char* kDraft =
    "id: d\nkey: [ip.src]\nlimits: [{algorithm: fixed_window, count: 50, window: 1h}]\n";

class Previews : public Keeper {
protected:
    void SetUp() override {
        start_dataplane();
        start_daemon();
        ASSERT_FALSE(apply(kOne).refusal);
        services_.reset(new Services{rules(), link(), audit_, counters_, notices_});
        services_->previews = &desk();
    }
    PreviewDesk& desk() {
        if (!desk_) {
            desk_ = std::make_unique<PreviewDesk>(link());
        }
        return *desk_;
    }
    void TearDown() override { desk_.reset(); }

    HttpResponse call(const std::string& method, const std::string& path,
                      const std::string& body = "", const std::string& rule = "") {
        HttpRequest request{.method = method, .path = path, .body = body};
        request.role = Role::Operate;
        if (!rule.empty()) {
            request.query["rule"] = rule;
        }
        return route(request, *services_);
    }
    static std::string body_of(const std::string& text, const Json& seconds = 10) {
        return Json{{"text", text}, {"seconds", seconds}}.dump();
    }
    std::string begin(const std::string& text = kDraft) {
        const HttpResponse response = call("POST", "/v1/previews", body_of(text));
        EXPECT_EQ(response.status, 201U) << response.body;
        return Json::parse(response.body).value("preview", "");
    }

    ApiCounters counters_;
    NoticeSender notices_{{}};
    std::unique_ptr<Services> services_;
    std::unique_ptr<PreviewDesk> desk_;
};

TEST_F(Previews, RefusesWhatItCannotPreview) {
    struct Row {
        std::string body;
        unsigned status;
        std::string says;
    };
    const std::vector<Row> rows{
        {"{}", 400, "the text of a rule"},
        {body_of(kDraft, 9), 400, "from 10 to 60"},
        {body_of(kDraft, 61), 400, "from 10 to 60"},
        {body_of(kDraft, "20"), 400, "from 10 to 60"},
        {R"({"text":"","more":1})", 400, "more"},
        {body_of("id: d\nwhen: ip.prot eq 17\nkey: []\n"), 422, "ip.prot"},
        {body_of("id: d\nkey: [ip.src]\nlimits: [{algorithm: concurrency, count: 3, idle: 30s}]\n"),
         422, "open connections"},
        {body_of("id: d\nwhen: http.header[\"x\"] eq \"1\"\nkey: []\nlimits: [{algorithm: "
                 "token_bucket, rate: 1/s, burst: 2}]\n"),
         422, "headers"},
    };
    for (const Row& row : rows) {
        const HttpResponse response = call("POST", "/v1/previews", row.body);
        EXPECT_EQ(response.status, row.status) << row.body << response.body;
        EXPECT_NE(response.body.find(row.says), std::string::npos) << response.body;
    }
    EXPECT_EQ(call("POST", "/v1/previews", body_of(kDraft), "a").status, 422U);
    const std::string other =
        "id: none\nkey: []\nlimits: [{algorithm: token_bucket, rate: 1/s, "
        "burst: 2}]\n";
    EXPECT_EQ(call("POST", "/v1/previews", body_of(other), "none").status, 404U);
    EXPECT_EQ(call("GET", "/v1/previews/1-1").status, 404U);
    EXPECT_EQ(call("DELETE", "/v1/previews/x").status, 404U);
}

TEST_F(Previews, TellsHowFarItIsAndEndsWhenAsked) {
    const std::string name = begin();
    const HttpResponse response = call("GET", "/v1/previews/" + name);
    ASSERT_EQ(response.status, 200U) << response.body;
    const Json json = Json::parse(response.body);
    EXPECT_EQ(json.at("preview"), name);
    EXPECT_EQ(json.at("state"), "watching");
    EXPECT_EQ(json.at("rule"), "d");
    EXPECT_EQ(json.at("seconds"), 10);
    EXPECT_EQ(json.at("unit"), "packets");
    EXPECT_TRUE(json.at("result").is_null());
    EXPECT_EQ(call("DELETE", "/v1/previews/" + name).status, 200U);
    EXPECT_EQ(call("GET", "/v1/previews/" + name).status, 410U);
    EXPECT_EQ(call("DELETE", "/v1/previews/" + name).status, 410U);
}

TEST_F(Previews, TheNewestTakesThePlaceOfTheOneBefore) {
    const std::string first = begin();
    const std::string second = begin();
    EXPECT_NE(first, second);
    const HttpResponse gone = call("GET", "/v1/previews/" + first);
    EXPECT_EQ(gone.status, 410U);
    EXPECT_NE(gone.body.find("newer preview"), std::string::npos) << gone.body;
    EXPECT_EQ(call("GET", "/v1/previews/" + second).status, 200U);
}

TEST_F(Previews, EndsWithItsDataplane) {
    const std::string name = begin();
    stop_dataplane();
    const HttpRequest request{.method = "GET", .path = "/v1/previews/" + name};
    const std::optional<PreviewRun::View> view = desk().read(name, 5s);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->state, PreviewRun::State::Ended);
    EXPECT_EQ(call("GET", "/v1/previews/" + name).status, 410U);
    EXPECT_EQ(call("POST", "/v1/previews", body_of(kDraft)).status, 503U);
}

TEST_F(Previews, AnotherCallOfTheDataplaneDoesNotEndThem) {
    EXPECT_EQ(why_over(Error{Errc::Busy, "another call"}), std::nullopt);
    EXPECT_EQ(why_over(Error{Errc::Unreachable, "no socket"}), "the dataplane is away");
    EXPECT_EQ(why_over(Error{Errc::BadSyntax, "no message"}), "no message");
    EXPECT_EQ(why_over(Reply{Failure{"no room"}}), "no room");
    EXPECT_EQ(why_over(Reply{PreviewedPackets{.known = true}}), std::nullopt);
    EXPECT_EQ(why_over(Reply{PreviewedPackets{.other_start = true}}),
              "the dataplane was started anew since");
    EXPECT_EQ(why_over(Reply{PreviewedPackets{}}), "a newer preview has taken its place");
}

// A thousand groups keep to the limit for each packet that they send; the flood does not.
TEST_F(Previews, AnswersWithASentenceAndNames) {
    Problems problems{"d"};
    std::optional<CompiledRules> alone = compile_rules(
        {.file = "d",
         .text = std::string{"version: 1\nrules:\n  - {id: d, mode: monitor, key: "
                             "[ip.src], limits: [{algorithm: fixed_window, count: 50, "
                             "window: 1h}]}\n"}},
        Purpose::Enforce, {}, problems);
    ASSERT_TRUE(alone);
    Result<DraftRules> draft = draft_rules(*alone);
    ASSERT_TRUE(draft);
    BeginTrace begin{.conditional = true, .condition = alone->set, .preview = true};
    begin.seal = link().seal(begin.condition);
    Result<TraceBegun> begun = ask_for<TraceBegun>(link(), std::move(begin));
    ASSERT_TRUE(begun);
    desk().begin("one", {*std::move(draft), *std::move(begun), 350ms});
    std::optional<PreviewRun::View> view = desk().read("one", 5s);
    ASSERT_TRUE(view);
    ASSERT_EQ(view->state, PreviewRun::State::Done);
    const Json& result = view->json.at("result");
    EXPECT_EQ(result.at("groups"), 1'001);
    EXPECT_EQ(result.at("refused_groups"), 1);
    EXPECT_EQ(result.at("is_exact"), true);
    const auto matched = result.at("matched").get<std::uint64_t>();
    EXPECT_EQ(matched % 1'100, 0U);
    EXPECT_GT(matched, 0U);
    EXPECT_EQ(result.at("refused"), matched / 11 - 50);
    ASSERT_EQ(result.at("names").size(), 1U);
    EXPECT_EQ(result.at("names")[0].at("key"), "flood");
    EXPECT_EQ(result.at("heatmaps").size(), 1U);
    const std::string says = result.at("says").get<std::string>();
    EXPECT_NE(says.find("packets match; "), std::string::npos) << says;
    EXPECT_NE(says.find("of 1 of 1,001 groups"), std::string::npos) << says;
}

}  // namespace
}  // namespace sluice::previews_test
