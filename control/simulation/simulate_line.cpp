#include "control/simulation/simulate_line.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Option = std::pair<std::string_view, const std::string*>;

bool is_plain(std::string_view text, std::string_view besides) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               besides.find(c) != std::string_view::npos;
    });
}

// One word of a shell, whatever is in it.
std::string shell_word(std::string_view text) {
    if (is_plain(text, "-_./:,+")) {
        return std::string{text};
    }
    std::string word = "'";
    for (const char c : text) {
        word += c == '\'' ? "'\\''" : std::string{c};
    }
    return word + "'";
}

std::string yaml_value(std::string_view text) {
    if (is_plain(text, "-_./")) {
        return std::string{text};
    }
    std::string value = "\"";
    for (const char c : text) {
        value += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return value + "\"";
}

void add_option(std::string& line, std::string_view name, std::string_view value) {
    line += " --" + std::string{name} + " " + shell_word(value);
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
        all += (all.empty() ? "" : ",") + text;
    }
    return all;
}

// The options of a load beside its cost.
std::vector<Option> options_of(const RunWords& words) {
    if (words.load == "backlog") {
        return {{"backlog", &words.backlog}, {"ask-every", &words.ask_every}};
    }
    if (words.load == "bursts") {
        return {{"size", &words.size}, {"every", &words.every}};
    }
    if (words.load == "edge") {
        return {{"size", &words.size}, {"edge-at", &words.edge_at}, {"apart", &words.apart}};
    }
    if (words.load == "on-off") {
        return {{"offer", &words.offer}, {"on", &words.on}, {"off", &words.off}};
    }
    return words.load == "hits" ? std::vector<Option>{}
                                : std::vector<Option>{{"offer", &words.offer}};
}

void add_limit(std::string& line, const LoneLimit& limit) {
    add_option(line, "algorithm", limit.algorithm);
    for (const auto& [key, value] : limit.words) {
        // Requests, queries and handshakes are counted as packets are.
        const bool is_told = key != "algorithm" && (key != "per" || limit.per <= Per::Connection);
        if (is_told) {
            std::string name = key;
            std::replace(name.begin(), name.end(), '_', '-');
            add_option(line, name, value);
        }
    }
}

void add_course(std::string& line, const RunWords& words) {
    const RunWords usual;
    for (const std::string& stall : words.stalls) {
        add_option(line, "stall", stall);
    }
    for (const auto& [name, value, otherwise] :
         {std::tuple{"seed", &words.seed, &usual.seed},
          std::tuple{"duration", &words.duration, &usual.duration},
          std::tuple{"bar", &words.bar, &usual.bar},
          std::tuple{"start", &words.start, &usual.start}}) {
        if (*value != *otherwise) {
            add_option(line, name, *value);
        }
    }
}

}  // namespace

std::string simulate_line(const LoneLimit& limit, const RunWords& words) {
    std::string line = "sluicectl simulate";
    add_limit(line, limit);
    add_option(line, "load", words.load);
    for (const Option& option : options_of(words)) {
        add_option(line, option.first, *option.second);
    }
    if (words.load == "hits") {
        add_option(line, "hits", joined(words.hits));
    }
    add_option(line, "cost", words.cost);
    add_course(line, words);
    return line;
}

std::string limit_yaml(const LoneLimit& limit) {
    std::string text;
    for (const auto& [key, value] : limit.words) {
        text += (text.empty() ? "{" : ", ") + key + ": " + yaml_value(value);
    }
    return text + "}";
}

}  // namespace sluice
