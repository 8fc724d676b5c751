#include "control/daemon/api/change.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/fair_turns.hpp"
#include "control/daemon/rule_compile.hpp"
#include "control/hex_text.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/policy/expression/token.hpp"
#include "lib/policy/rules/lone_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

// Traces: what becomes of packets as they pass. The dataplane holds them; here is nothing to keep.
namespace sluice {
namespace {

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json packet_json(const TracedPacket& packet) {
    const IpVersion version = packet.is_v6 ? IpVersion::V6 : IpVersion::V4;
    Json json{{"time", utc_ns_text(packet.utc_ns)},
              {"utc_ns", packet.utc_ns},
              {"port", packet.pair},
              {"dir", packet.dir == Direction::In ? "in" : "out"}};
    if (packet.has_ip) {
        json["src"] = to_text(version, packet.src);
        json["dst"] = to_text(version, packet.dst);
        json["proto"] = packet.proto;
    }
    if (packet.has_ports) {
        json["sport"] = packet.sport;
        json["dport"] = packet.dport;
    }
    json["bytes"] = packet.wire_size;
    json["verdict"] = name_of(packet.verdict);
    json["reason"] = row_of(packet.reason).name;
    json["rule"] = text_or_null(packet.rule);
    json["key"] = text_or_null(packet.key);
    json["limit"] = text_or_null(packet.limit);
    json["service"] = text_or_null(packet.service);
    json["would_refuse"] =
        packet.would_refuse ? Json(row_of(packet.why_would_refuse).name) : Json();
    json["wait_s"] = seconds_json(packet.wait_ns);  // 0: nothing refused it
    json["matched"] = packet.matched;
    json["matched_count"] = packet.matched_count;
    json["lcore"] = packet.lcore;
    if (!packet.frame.empty()) {
        json["frame"] = hex_text(packet.frame);
    }
    return json;
}

// Packets of a trace as the API tells of them, oldest first.
Json traced_json(const TracedPackets& packets) {
    Json list = Json::array();
    for (const TracedPacket& packet : packets.packets) {
        list.push_back(packet_json(packet));
    }
    return {{"judges", packets.judges},
            {"has_rule", packets.has_rule},
            {"left_out", packets.left_out},
            {"packets", std::move(list)}};
}

constexpr std::size_t kMostOfCondition = 2048;  // bytes
constexpr std::size_t kMostPatterns = 8;

// The reason for a condition to be too much for somebody who only looks; empty: it is not. Patterns
// may take seconds of processor time each.
std::string too_much_in(const std::string& when) {
    if (when.size() > kMostOfCondition) {
        return fmt::format("a condition of a trace has at most {} bytes", kMostOfCondition);
    }
    const std::vector<Token> tokens = split_into_tokens(when);
    const bool has_pattern = std::ranges::any_of(tokens, [](const Token& token) {
        return token.kind == Token::Kind::Word && token.text == "matches";
    });
    const auto texts = std::ranges::count(tokens, Token::Kind::Text, &Token::kind);
    return has_pattern && static_cast<std::size_t>(texts) > kMostPatterns
               ? fmt::format("a condition of a trace that `matches` patterns has at most {} texts",
                             kMostPatterns)
               : "";
}

struct ConditionCompiler {
    FairTurns turns{{.another = FairTurns::Another::Waits, .patience = std::chrono::seconds{10}}};
    PatternCache patterns;
};
ConditionCompiler& condition_compiler() {
    static ConditionCompiler one;
    return one;
}

// Askers who come by the dashboard are told apart by name, all others by user.
std::string asker_of(const HttpRequest& request) {
    return request.via_web() ? request.user : fmt::format("uid {}", request.peer.uid);
}

// The condition of a trace. One compiles at a time, with the patterns of conditions before it,
// which are kept apart from those of rules; it ends when the process does. nullopt: no turn.
std::optional<LoneCondition> compile_condition(const std::string& when, const std::string& asker,
                                               const RssMapping& box) {
    ConditionCompiler& with = condition_compiler();
    const std::variant<FairTurns::Turn, FairTurns::Refused> turn = with.turns.enter(asker);
    if (std::holds_alternative<FairTurns::Refused>(turn)) {
        return std::nullopt;
    }
    return compile_lone_condition(when, box, &with.patterns, compile_stop().get_token());
}

constexpr std::string_view kTraceFolder = "/v1/traces/";
constexpr std::uint32_t kLongestTraceWait = 5;  // seconds: it must be read more often than it ends
constexpr std::chrono::milliseconds kTraceLookAgain{50};

struct TraceName {
    std::uint64_t origin = 0;
    std::uint64_t number = 0;
};

std::string text_of_trace(const TraceName& name) {
    return fmt::format("{:x}-{}", name.origin, name.number);
}

// The name in a path, as text_of_trace() has it.
std::optional<TraceName> name_in(std::string_view path) {
    const std::string_view text = path.substr(std::min(kTraceFolder.size(), path.size()));
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto origin = whole_number(text.substr(0, dash), 16);
    const auto number = whole_number(text.substr(dash + 1));
    return origin && number ? std::optional{TraceName{*origin, *number}} : std::nullopt;
}

HttpResponse no_such_trace() {
    return problem_response(404, "no such trace", "`trace` of the answer that began it names it");
}

HttpResponse trace_ended(const TracedPackets& packets) {
    return problem_response(410, "the trace has ended",
                            packets.other_start
                                ? "the dataplane was started anew since it began"
                                : "it was ended, or nobody had read it for ten seconds");
}

// The trace to begin; or why it cannot be.
struct AskedTrace {
    BeginTrace begin;
    std::string when;
    std::string wrong;
};

bool read_trace_word(const Json& body, const char* name, std::string& value) {
    const auto found = body.find(name);
    if (found == body.end()) {
        return true;
    }
    if (!found->is_string() || found->get<std::string>().empty()) {
        return false;
    }
    value = found->get<std::string>();
    return true;
}

void read_trace_flag(const Json& body, const char* name, bool& value, std::string& wrong) {
    const auto found = body.find(name);
    if (found == body.end()) {
        return;
    }
    if (!found->is_boolean()) {
        wrong = fmt::format("`{}` is true or false", name);
        return;
    }
    value = found->get<bool>();
}

AskedTrace read_asked_trace(const Json& body) {
    AskedTrace asked;
    constexpr auto kWords =
        std::to_array<std::string_view>({"when", "rule", "dropped", "would_refuse", "snap"});
    if (!body.is_object()) {
        asked.wrong =
            R"(the body is {"when":"…","rule":"…","dropped":true,"would_refuse":true,"snap":128}, or some of it)";
        return asked;
    }
    for (const auto& [name, value] : body.items()) {
        if (std::find(kWords.begin(), kWords.end(), name) == kWords.end()) {
            asked.wrong = "there is no `" + name +
                          "`; there are `when`, `rule`, `dropped`, `would_refuse` and `snap`";
        }
    }
    if (!read_trace_word(body, "when", asked.when) ||
        !read_trace_word(body, "rule", asked.begin.rule)) {
        asked.wrong = "`when` is a condition and `rule` the id of a rule";
    }
    read_trace_flag(body, "dropped", asked.begin.refused, asked.wrong);
    read_trace_flag(body, "would_refuse", asked.begin.would_refuse, asked.wrong);
    if (const auto snap = body.find("snap"); snap != body.end()) {
        const bool fits =
            snap->is_number_unsigned() && snap->get<std::uint64_t>() <= kMostTracedBytes;
        asked.wrong = fits ? asked.wrong
                           : fmt::format("`snap` is a number of bytes up to {}", kMostTracedBytes);
        asked.begin.snap = fits ? snap->get<std::uint32_t>() : 0;
    }
    return asked;
}

// Compiles the condition into the request, or says what is wrong with it.
std::optional<HttpResponse> add_condition(AskedTrace& asked, const std::string& asker,
                                          const DataplaneLink& link, Json& warnings) {
    if (asked.when.empty()) {
        return std::nullopt;
    }
    if (const std::string wrong = too_much_in(asked.when); !wrong.empty()) {
        return problem_response(422, "too much of a condition", wrong);
    }
    std::optional<LoneCondition> condition =
        compile_condition(asked.when, asker, link.rss_mapping());
    if (!condition) {
        return busy_response(429, "busy",
                             "the conditions of other traces are being compiled; try again");
    }
    if (!condition->rules) {
        return problem_response(422, "the condition does not compile", "nothing is traced",
                                to_json(condition->problems));
    }
    asked.begin.conditional = true;
    asked.begin.condition = *std::move(condition->rules);
    asked.begin.seal = link.seal(asked.begin.condition);
    warnings = to_json(condition->problems);
    return std::nullopt;
}

// The packets that have passed, with an end to the wait for them.
Result<TracedPackets> read_trace_waiting(const TraceName& name, std::chrono::seconds wait,
                                         DataplaneLink& link) {
    const auto deadline = std::chrono::steady_clock::now() + wait;
    while (true) {
        Result<TracedPackets> packets =
            ask_for<TracedPackets>(link, ReadTrace{name.origin, name.number});
        if (!packets || !packets->known || !packets->packets.empty() ||
            std::chrono::steady_clock::now() >= deadline || compile_stop().stop_requested()) {
            return packets;
        }
        std::this_thread::sleep_for(kTraceLookAgain);
    }
}

HttpResponse packets_response(const TracedPackets& packets) {
    return packets.known ? json_response(traced_json(packets)) : trace_ended(packets);
}

}  // namespace

HttpResponse post_traces(const HttpRequest& request, Services& services) {
    const std::variant<Json, HttpResponse> parsed =
        request.body.empty() ? Json::object() : parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    AskedTrace asked = read_asked_trace(std::get<Json>(parsed));
    if (!asked.wrong.empty()) {
        return bad_request(asked.wrong);
    }
    if (!asked.begin.rule.empty() &&
        find_rule(services.rules.view()->rules, asked.begin.rule) == nullptr) {
        return problem_response(404, "no such rule",
                                "no rule in force is called " + asked.begin.rule);
    }
    Json warnings = Json::array();
    if (std::optional<HttpResponse> refusal =
            add_condition(asked, asker_of(request), services.link, warnings)) {
        return *std::move(refusal);
    }
    const std::string rule = asked.begin.rule;
    const Result<TraceBegun> begun = ask_for<TraceBegun>(services.link, std::move(asked.begin));
    if (!begun) {
        return no_dataplane(begun.error());
    }
    write_audit(services, request,
                {.call = "trace" + (rule.empty() ? "" : " rule " + rule),
                 .before = "",
                 .after = asked.when,
                 .outcome = "done",
                 .changes = false});
    HttpResponse response = json_response({{"trace", text_of_trace({begun->origin, begun->number})},
                                           {"most_per_second", begun->most_per_second},
                                           {"unread_after_s", begun->unread_after_ms / 1000.0},
                                           {"unread_fields", begun->unread_fields},
                                           {"warnings", std::move(warnings)}});
    response.status = 201;
    return response;
}

HttpResponse get_trace(const HttpRequest& request, Services& services) {
    const std::optional<TraceName> name = name_in(request.path);
    if (!name) {
        return no_such_trace();
    }
    const auto wait = whole_number<std::uint32_t>(argument(request, "wait", "0"));
    if (!wait || *wait > kLongestTraceWait) {
        return bad_request(
            fmt::format("`wait` is a number of seconds up to {}", kLongestTraceWait));
    }
    const Result<TracedPackets> packets =
        read_trace_waiting(*name, std::chrono::seconds{*wait}, services.link);
    return packets ? packets_response(*packets) : no_dataplane(packets.error());
}

HttpResponse delete_trace(const HttpRequest& request, Services& services) {
    const std::optional<TraceName> name = name_in(request.path);
    if (!name) {
        return no_such_trace();
    }
    const Result<TracedPackets> packets =
        ask_for<TracedPackets>(services.link, EndTrace{name->origin, name->number});
    return packets ? packets_response(*packets) : no_dataplane(packets.error());
}

}  // namespace sluice
