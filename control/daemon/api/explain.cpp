#include "control/daemon/api/api.hpp"
#include "control/daemon/api/explain_account.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/list_readers.hpp"
#include "control/hex_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

// Explains a packet that has not come, by the worker that it would come to.
namespace sluice {
namespace {

constexpr std::string_view kForm =
    R"(the body is {"packet":{"frame":"hex","dir":"in"},"before":[],"port":"name"})";

using ReadFrame = std::variant<AskedFrame, HttpResponse>;

// A number from 0 on; nullopt: the member is another thing.
std::optional<std::uint64_t> number_in(const Json& json, const char* name) {
    if (!json.contains(name)) {
        return 0;
    }
    return json[name].is_number_unsigned() ? std::optional{json[name].get<std::uint64_t>()}
                                           : std::nullopt;
}

ReadFrame read_frame(const Json& json) {
    if (!json.is_object() || !json.contains("frame") || !json["frame"].is_string()) {
        return bad_request(std::string{kForm});
    }
    if (auto refusal = refuse_unknown(json, {"frame", "dir", "wire_bytes", "age_ns"})) {
        return *std::move(refusal);
    }
    const auto bytes = bytes_of_hex(json["frame"].get_ref<const std::string&>());
    if (!bytes || bytes->empty() || bytes->size() > kMostAskedBytes) {
        return bad_request(fmt::format("a `frame` is 1 to {} bytes in hex", kMostAskedBytes));
    }
    const auto wire = number_in(json, "wire_bytes");
    const auto age = number_in(json, "age_ns");
    const Json dir = json.value("dir", Json("in"));
    if (!wire || !age || *wire > std::numeric_limits<std::uint32_t>::max() ||
        (dir != "in" && dir != "out")) {
        return bad_request("`wire_bytes` and `age_ns` are numbers, `dir` is in or out");
    }
    return AskedFrame{.bytes = *bytes,
                      .wire_size = static_cast<std::uint32_t>(*wire),
                      .dir = dir == "out" ? Direction::Out : Direction::In,
                      .age_ns = *age};
}

// The question that a body asks, without the generation.
std::variant<AskPacket, HttpResponse> read_question(const Json& body) {
    if (!body.is_object() || !body.contains("packet") ||
        !body.value("before", Json::array()).is_array() ||
        !body.value("port", Json("")).is_string()) {
        return bad_request(std::string{kForm});
    }
    if (auto refusal = refuse_unknown(body, {"packet", "before", "port"})) {
        return *std::move(refusal);
    }
    const Json before = body.value("before", Json::array());
    if (before.size() > kMostFramesBefore) {
        return bad_request(fmt::format("`before` is {} frames at most", kMostFramesBefore));
    }
    AskPacket ask{.pair = body.value("port", "")};
    for (const Json& frame : before) {
        ReadFrame read = read_frame(frame);
        if (auto* const refusal = std::get_if<HttpResponse>(&read)) {
            return std::move(*refusal);
        }
        ask.before.push_back(std::get<AskedFrame>(std::move(read)));
    }
    ReadFrame read = read_frame(body["packet"]);
    if (auto* const refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    ask.packet = std::get<AskedFrame>(std::move(read));
    return ask;
}

// The rules that judge, in the order in which the dataplane has them.
class JudgingRules {
public:
    explicit JudgingRules(const RuleView& view) {
        for (const RuleSummary& rule : view.rules) {
            if (rule.mode != Mode::Off) {
                rules_.push_back(&rule);
            }
        }
    }
    [[nodiscard]] Json id(std::uint32_t rule) const {
        return rule < rules_.size() ? Json(rules_[rule]->id) : Json();
    }
    [[nodiscard]] Json limit(std::uint32_t rule, std::size_t limit) const {
        const bool known = rule < rules_.size() && limit < rules_[rule]->limits.size();
        return known ? Json(rules_[rule]->limits[limit].name) : Json();
    }

private:
    std::vector<const RuleSummary*> rules_;
};

Json told_wait(std::int64_t ns) {
    return ns == std::numeric_limits<std::int64_t>::max() ? Json("never") : Json(ns);
}

Json decision_json(const DecisionState& decision, const JudgingRules& rules) {
    const bool refused = decision.reason == Reason::OverLimit;
    return {{"verdict", name_of(decision.verdict)},
            {"reason", row_of(decision.reason).name},
            {"rule", rules.id(decision.rule)},
            {"limit", refused ? rules.limit(decision.rule, decision.limit) : Json()},
            {"wait_ns", told_wait(decision.wait_ns)}};
}

Json limit_json(const FoundLimit& found, const JudgingRules& rules) {
    return {{"rule", rules.id(found.rule)},
            {"limit", rules.limit(found.rule, found.limit)},
            {"index", found.limit},
            {"unit", found.unit},
            {"asked", found.asked},
            {"admitted", found.admitted},
            {"charged", found.charged},
            {"at_owner", found.at_owner},
            {"bucket", found.has_bucket},
            {"step", found.aggregation_level},
            {"cost", found.cost},
            {"remaining", found.remaining},
            {"wait_ns", told_wait(found.wait_ns)}};
}

Json ban_json(const FoundBan& found, const JudgingRules& rules) {
    return {{"rule", rules.id(found.rule)}, {"tier", found.key + 1U},
            {"unit", found.unit},           {"refusals", found.refusals},
            {"after", found.after},         {"left_ns", told_wait(found.left_ns)}};
}

Json state_json(const PacketState& state, const RuleView& view) {
    const JudgingRules rules{view};
    Json json = decision_json(state.decision, rules);
    json["generation"] = generation_text(view.generation);
    json["lcore"] = state.lcore;
    json["sure"] = state.is_sure;
    json["enforces"] = state.enforces;
    json["limits"] = Json::array();
    for (const FoundLimit& found : state.limits) {
        json["limits"].push_back(limit_json(found, rules));
    }
    json["bans"] = Json::array();
    for (const FoundBan& found : state.bans) {
        json["bans"].push_back(ban_json(found, rules));
    }
    json["units"] = Json::array();
    for (const DecisionState& unit : state.units) {
        json["units"].push_back(decision_json(unit, rules));
    }
    return json;
}

// The dataplane has new rules a moment before they are shown here.
Result<PacketState> ask_box(AskPacket& ask, std::shared_ptr<const RuleView>& view,
                            Services& services) {
    constexpr std::chrono::milliseconds kPause{20};
    constexpr int kTries = 50;
    for (int i = 0;; ++i) {
        view = services.rules.view();
        ask.generation = view->generation;
        Result<PacketState> state = ask_for<PacketState>(services.link, ask);
        if (state || state.error().code != Errc::Refused || i == kTries) {
            return state;
        }
        std::this_thread::sleep_for(kPause);
    }
}

HttpResponse with_account(const AnsweredQuestion& packet, const DataplaneLink& link) {
    Result<AskedAccount> account = explain_packet(packet, link);
    if (!account) {
        return not_explained(account.error());
    }
    Json json = state_json(packet.state, *packet.view);
    json["file"] = packet.view->file;
    json["notes"] = explain_notes(packet);
    json["account"] = std::move(account->json);
    json["text"] = std::move(account->text);
    return json_response(json);
}

}  // namespace

HttpResponse post_explain(const HttpRequest& request, Services& services) {
    const std::string account = argument(request, "account", "0");
    if (account != "0" && account != "1") {
        return bad_request("`account` is 0 or 1");
    }
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    std::variant<AskPacket, HttpResponse> read = read_question(std::get<Json>(parsed));
    if (auto* const refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    std::shared_ptr<const RuleView> view = services.rules.view();
    if (view->generation == 0) {
        return problem_response(404, "no rules", "no rules were ever applied");
    }
    // Held until all is told: questions wait for each other here, and not at the dataplane.
    const ExplainTurns::Turn turn = services.explain_turns.take();
    if (!turn) {
        return not_explained({Errc::TooMany, "other packets are being explained; try again"});
    }
    auto& ask = std::get<AskPacket>(read);
    const Result<PacketState> state = ask_box(ask, view, services);
    if (!state) {
        return state.error().code == Errc::Refused
                   ? problem_response(409, "refused by the dataplane", state.error().what)
                   : no_dataplane(state.error());
    }
    if (!state->answered) {
        return problem_response(
            503, "not answered",
            fmt::format("the worker on lcore {} has not answered", state->lcore));
    }
    if (account == "0") {
        return json_response(state_json(*state, *view));
    }
    return with_account({ask, *state, view, may_read_lists(request, *view)}, services.link);
}

}  // namespace sluice
