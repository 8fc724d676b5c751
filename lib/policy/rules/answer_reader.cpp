#include "lib/policy/rules/answer_reader.hpp"

#include "lib/respond/answer/made_response.hpp"

#include <array>
#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr std::uint16_t kMostStatus = 599;
constexpr auto kFallbackWords = std::to_array<std::string_view>({"reset", "alert"});
constexpr auto kThenWords = std::to_array<std::string_view>({"drop", "reset"});

void read_status(const MapReader& map, ResponseSpec& response) {
    if (const std::optional<std::uint64_t> status = map.number("status", kMostStatus)) {
        response.status = static_cast<std::uint16_t>(*status);
    }
}

void read_headers(const MapReader& map, ActionText& action, ResponseSpec& response) {
    const YamlNode* headers = map.find("headers");
    if (headers == nullptr) {
        return;
    }
    if (!headers->is_map()) {
        action.fault = {headers->at,
                        "`headers` is a map of names and values, found " + kind_name(*headers)};
        return;
    }
    for (const YamlEntry& entry : headers->entries) {
        if (!entry.value.is_scalar()) {
            action.fault = {entry.value.at,
                            "the value of a header is a text, found " + kind_name(entry.value)};
            return;
        }
        response.fields.push_back({entry.key.text, entry.value.text});
    }
}

void read_slip(const MapReader& map, ActionText& action) {
    if (const std::optional<std::uint64_t> slip = map.number("slip", kMaxSlip)) {
        action.action.answer.slip = static_cast<std::uint32_t>(*slip);
        action.text += " slip " + std::to_string(*slip);
    }
}

}  // namespace

void read_reply(const MapReader& map, ActionText& action) {
    ResponseSpec response{.status = action.reply_status};
    read_status(map, response);
    read_headers(map, action, response);
    response.body = map.text("body");
    if (response.body == kProblemDetails) {
        response.body.reset();
    }
    response.content_type = map.text("content_type").value_or("");
    response.x_rate_limit = map.flag("x_ratelimit").value_or(false);
    action.action.verdict = Verdict::Reply;
    action.text += " " + std::to_string(response.status);
    if (map.word("tls_fallback", kFallbackWords) == 1U) {
        action.action.answer.tls_alert = true;
        action.text += " tls_fallback alert";
    }
    read_slip(map, action);
    action.names_policy = true;
    action.response = std::move(response);
}

void read_decoy(const MapReader& map, ActionText& action) {
    ResponseSpec response;
    response.status = 200;
    read_status(map, response);
    response.body = map.text("body");
    response.content_type = map.text("content_type").value_or("");
    action.action.verdict = Verdict::Decoy;
    action.text += " " + std::to_string(response.status);
    read_slip(map, action);
    action.response = std::move(response);
}

void read_dns_truncate(const MapReader& map, ActionText& action) {
    action.action.verdict = Verdict::Reply;
    read_slip(map, action);
    if (const std::optional<std::size_t> then = map.word("then", kThenWords)) {
        action.resets_rest = *then == 1;
        action.text += " then " + std::string{kThenWords[*then]};
    }
}

void complete_response(ActionText& action, const ResponseRule& rule, Problems& problems) {
    ResponseSpec& response = *action.response;
    if (action.names_policy) {
        response.policy = rule.id;
        response.unit = rule.per != nullptr && rule.per->text == "byte" ? QuotaUnit::ContentBytes
                                                                        : QuotaUnit::Requests;
    }
    const Result<MadeResponse> made = MadeResponse::compile(response);
    if (!made) {
        problems.error(action.at, made.error().what);
    }
}

}  // namespace sluice
