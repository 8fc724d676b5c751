#include "control/cli/bulk_ban.hpp"

#include "control/cli/alone_text.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/terminal.hpp"
#include "control/text_file.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

namespace sluice {
namespace {

constexpr std::size_t kMaxKeysFile = 4U << 20;

Result<std::string> read_keys(const std::string& file) {
    if (file != "-") {
        return read_text_file(file, kMaxKeysFile);
    }
    std::string text;
    std::array<char, 65'536> piece;
    while (text.size() <= kMaxKeysFile && std::cin.read(piece.data(), piece.size()).gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(std::cin.gcount()));
    }
    if (text.size() > kMaxKeysFile) {
        return Error{Errc::TooMany, "standard input is larger than 4 MiB"};
    }
    return text;
}

std::string_view trimmed(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    return first == std::string_view::npos
               ? std::string_view{}
               : line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// A list's faults name items; people look for lines.
void say_lines(const Json& faults, const std::string& file,
               const std::vector<std::uint32_t>& lines) {
    for (const Json& fault : faults) {
        const std::uint64_t item = count_at(fault, "line");
        const std::uint32_t line = item != 0 && item <= lines.size() ? lines[item - 1] : 0;
        fmt::print(stderr, "{}:{}: {}: {}\n", visible_line(file == "-" ? "standard input" : file),
                   line, visible_line(text_at(fault, "severity")),
                   visible_line(text_at(fault, "message")));
    }
}

// The answer about all keys of the file, with the lines that it tells said. nullopt: the command
// has ended, with `exit`.
struct BulkAnswer {
    std::optional<Json> document;
    ExitCode exit = ExitCode::Done;
};

BulkAnswer ask_about_file(const Options& options, std::string_view resource, Json body) {
    const Result<std::string> text = read_keys(options.keys_file);
    if (!text) {
        return {.document = std::nullopt, .exit = refuse(text.error().what)};
    }
    KeyLines read = read_key_lines(*text);
    if (read.keys.empty()) {
        return {
            .document = std::nullopt,
            .exit = refuse(options.keys_file + " holds no key; each stands on a line of its own")};
    }
    body["keys"] = std::move(read.keys);
    if (options.tier != 0) {
        body["tier"] = options.tier;
    }
    if (options.cluster) {
        body["cluster"] = true;
    }
    DaemonRequest request =
        post_json(fmt::format("/v1/rules/{}/{}", url_escape(options.rule), resource), body);
    request.timeout = kCompilePatience;
    auto answer = ask(options, request);
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        say_lines(to_json(refusal->problems), options.keys_file, read.lines);
        return {.document = std::nullopt, .exit = report(*refusal)};
    }
    BulkAnswer told{.document = std::get<Json>(std::move(answer))};
    if (told.document->contains("warnings")) {
        say_lines(told.document->at("warnings"), options.keys_file, read.lines);
    }
    return told;
}

}  // namespace

KeyLines read_key_lines(std::string_view text) {
    KeyLines read;
    for (std::uint32_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view key = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!key.empty() && !key.starts_with('#')) {
            read.keys.emplace_back(key);
            read.lines.push_back(number);
        }
    }
    return read;
}

ExitCode ban_all_in(const Options& options) {
    Json body = Json::object();
    if (!options.lasts.empty()) {
        body["for"] = options.lasts;
    }
    if (!options.reason.empty()) {
        body["reason"] = options.reason;
    }
    const BulkAnswer told = ask_about_file(options, "bans", std::move(body));
    if (!told.document) {
        return told.exit;
    }
    print(options.json ? dump_line(*told.document)
                       : fmt::format("rule {}: {} banned\n", text_at(*told.document, "rule"),
                                     counted(count_at(*told.document, "banned"), "key")) +
                             cluster_change_text(*told.document));
    return ExitCode::Done;
}

ExitCode unban_all_in(const Options& options) {
    const BulkAnswer told = ask_about_file(options, "unbans", Json::object());
    if (!told.document) {
        return told.exit;
    }
    const Json& document = *told.document;
    const std::uint64_t others = count_at(document, "not_banned");
    const std::uint64_t unanswered = count_at(document, "unanswered");
    print(options.json
              ? dump_line(document)
              : fmt::format(
                    "rule {}: {} unbanned{}{}\n", text_at(document, "rule"),
                    counted(count_at(document, "unbanned"), "key"),
                    others == 0 ? "" : fmt::format(", {} had no ban of their own", others),
                    unanswered == 0
                        ? ""
                        : fmt::format("; of {} not all penalty boxes have answered", unanswered)) +
                    cluster_change_text(document));
    return others == 0 && unanswered == 0 ? ExitCode::Done : ExitCode::Refused;
}

}  // namespace sluice
