#include "control/cli/explain/answer_text.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

}  // namespace

std::string answer_text(const AnswerAccount& answer) {
    std::string text = bold("answer") + "\n  ";
    text += answer.event.empty() ? "none" : fmt::format("{} ({})", answer.event, answer.help);
    text += answer.every == 1 ? "\n" : fmt::format(", of every {} of them one\n", answer.every);
    for (std::size_t at = 0; at < answer.head.size();) {
        const std::size_t end = answer.head.find('\n', at);
        text += "    " + answer.head.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return text;
}

Json answer_json(const AnswerAccount& answer) {
    Json json{{"event", answer.event}, {"every", answer.every}};
    if (answer.head.empty()) {
        return json;
    }
    const std::size_t first = answer.head.find('\n');
    json["status_line"] = answer.head.substr(0, first);
    json["headers"] = Json::object();
    for (std::size_t at = first + 1; at < answer.head.size();) {
        const std::size_t end = answer.head.find('\n', at);
        const std::string line = answer.head.substr(at, end - at);
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) {
            json["headers"][lower_case(line.substr(0, colon))] = line.substr(colon + 2);
        }
        at = end + 1;
    }
    json["body_bytes"] = answer.body_bytes;
    return json;
}

}  // namespace sluice
