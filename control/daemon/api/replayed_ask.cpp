#include "control/daemon/api/replayed_ask.hpp"

#include "control/base64_text.hpp"
#include "control/daemon/api/api.hpp"
#include "control/daemon/api/rule_draft.hpp"
#include "control/replay/rss_mapping.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostInside = 256;  // networks

// nullopt: it is no list of texts.
std::optional<std::vector<std::string>> texts_in(const Json& body, const char* name) {
    std::vector<std::string> texts;
    if (!body.contains(name)) {
        return texts;
    }
    if (!body[name].is_array() || body[name].size() > kMostInside) {
        return std::nullopt;
    }
    for (const Json& one : body[name]) {
        if (!one.is_string()) {
            return std::nullopt;
        }
        texts.push_back(one.get<std::string>());
    }
    return texts;
}

std::variant<std::vector<std::byte>, HttpResponse> capture_in(const Json& body) {
    if (!body.contains("capture") || !body["capture"].is_string()) {
        return bad_request("`capture` is the bytes of a pcap or pcapng file, in base64");
    }
    const auto& text = body["capture"].get_ref<const std::string&>();
    if (text.size() / 4 * 3 > kMostOfCapture + 2) {
        return problem_response(
            413, "too large",
            fmt::format("a capture is at most {} MiB here; send a part of it, or use sluicectl "
                        "replay",
                        kMostOfCapture >> 20));
    }
    std::optional<std::vector<std::byte>> bytes = bytes_of_base64(text);
    if (!bytes) {
        return bad_request("`capture` is not base64, padded and in one line");
    }
    return *std::move(bytes);
}

}  // namespace

std::variant<ReplayedAsk, HttpResponse> replayed_ask_of(const Json& body,
                                                        const HttpRequest& request) {
    std::variant<RuleDraft, HttpResponse> draft =
        draft_in(body, request, {"text", "capture", "inside"});
    if (auto* const refusal = std::get_if<HttpResponse>(&draft)) {
        return std::move(*refusal);
    }
    const std::optional<std::vector<std::string>> texts = texts_in(body, "inside");
    if (!texts) {
        return bad_request(
            fmt::format("`inside` is a list of at most {} networks, as texts", kMostInside));
    }
    Result<std::vector<IpPrefix>> inside = parse_prefixes(*texts);
    if (!inside) {
        return bad_request("`inside`: " + inside.error().what);
    }
    std::variant<std::vector<std::byte>, HttpResponse> capture = capture_in(body);
    if (auto* const refusal = std::get_if<HttpResponse>(&capture)) {
        return std::move(*refusal);
    }
    std::get<RuleDraft>(draft).from += " replay";
    return ReplayedAsk{std::get<RuleDraft>(std::move(draft)),
                       std::get<std::vector<std::byte>>(std::move(capture)), *std::move(inside)};
}

}  // namespace sluice
