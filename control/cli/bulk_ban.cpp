#include "control/cli/bulk_ban.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/terminal.hpp"
#include "control/text_file.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>

namespace sluice {
namespace {

constexpr std::size_t kMaxBanFile = 4U << 20;

Result<std::string> read_bans(const std::string& file) {
    if (file != "-") {
        return read_text_file(file, kMaxBanFile);
    }
    std::string text;
    std::array<char, 65'536> piece;
    while (text.size() <= kMaxBanFile && std::cin.read(piece.data(), piece.size()).gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(std::cin.gcount()));
    }
    if (text.size() > kMaxBanFile) {
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
ExitCode report_lines(const DaemonRefusal& refusal, const std::string& file,
                      const std::vector<std::uint32_t>& lines) {
    for (const Problem& problem : refusal.problems) {
        const std::size_t item = problem.at.line;
        const std::uint32_t line = item != 0 && item <= lines.size() ? lines[item - 1] : 0;
        fmt::print(stderr, "{}:{}: error: {}\n",
                   visible_line(file == "-" ? "standard input" : file), line,
                   visible_line(problem.message));
    }
    return report(refusal);
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
    const Result<std::string> text = read_bans(options.keys_file);
    if (!text) {
        return refuse(text.error().what);
    }
    KeyLines read = read_key_lines(*text);
    if (read.keys.empty()) {
        return refuse(options.keys_file + " holds no key; each stands on a line of its own");
    }
    Json body{{"keys", std::move(read.keys)}};
    if (options.tier != 0) {
        body["tier"] = options.tier;
    }
    if (!options.lasts.empty()) {
        body["for"] = options.lasts;
    }
    if (!options.reason.empty()) {
        body["reason"] = options.reason;
    }
    const auto answer =
        ask(options, post_json(fmt::format("/v1/rules/{}/bans", url_escape(options.rule)), body));
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report_lines(*refusal, options.keys_file, read.lines);
    }
    const Json& document = std::get<Json>(answer);
    print(options.json ? dump_line(document)
                       : fmt::format("rule {}: {} banned\n", text_at(document, "rule"),
                                     counted(count_at(document, "banned"), "key")));
    return ExitCode::Done;
}

}  // namespace sluice
