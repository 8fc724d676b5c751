#include "control/daemon/api/explain_account.hpp"

#include "control/daemon/rule_compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr std::chrono::seconds kTurn{10};

StoredRules stored_in(const RuleView& view) {
    return {.file = view.file,
            .text = view.text,
            .modes = view.modes,
            .lives = view.lives,
            .directory = view.directory,
            .applied_by = view.applied_by,
            .lists = view.lists,
            .sent = view.sent,
            .keys = view.keys,
            .slices = view.slices};
}

// The pair that the question names, or the first.
std::string pair_of(const AskPacket& ask, const DataplaneLink& link) {
    const std::vector<PortRssMapping> ports = link.rss_mapping().ports;
    const auto first = std::ranges::find(ports, Direction::In, &PortRssMapping::dir);
    return !ask.pair.empty() || first == ports.end() ? ask.pair : first->pair;
}

// Says where a list's file is not what is in force; nullopt: it is, or the list was sent along.
std::optional<std::string> list_note(const StoredRules& rules, const std::string& path,
                                     const std::string& text) {
    if (rules.sent.contains(path)) {
        return std::nullopt;
    }
    const Result<ListFile> file = read_list(rules, path);
    if (file && *file->text == text) {
        return std::nullopt;
    }
    return "the list " + path + " is judged by as it is in force; its file is not that: " +
           (file ? "it has changed" : file.error().what);
}

}  // namespace

std::vector<std::string> explain_notes(const PacketState& state, const RuleView& view) {
    std::vector<std::string> notes;
    if (!state.enforces) {
        notes.emplace_back(
            "`panic pass` is on: the box forwards every packet unjudged; this is what it would do "
            "without");
    }
    const StoredRules rules = stored_in(view);
    for (const auto& [path, text] : rules.lists) {
        if (auto note = list_note(rules, path, *text)) {
            notes.push_back(*std::move(note));
        }
    }
    if (!state.is_sure) {
        notes.push_back(
            fmt::format("only the port knows which worker the packet comes to; this is what the "
                        "one on lcore {} would make of it",
                        state.lcore));
    }
    if (std::ranges::any_of(state.limits, &FoundLimit::at_owner)) {
        notes.emplace_back(
            "the owner of a key of the packet would be asked, which no question does: it is taken "
            "to have room");
    }
    return notes;
}

Result<AskedAccount> explain_packet(const AskPacket& ask, const PacketState& state,
                                    const RuleView& view, const DataplaneLink& link) {
    static std::timed_mutex one_at_a_time;
    const std::unique_lock turn{one_at_a_time, kTurn};
    if (!turn.owns_lock()) {
        return Error{Errc::TooMany, "other packets are being explained"};
    }
    StoredRules rules = stored_in(view);
    Compiled compiled = compile(rules, link.rss_mapping());
    if (!compiled.rules) {
        const auto error =
            std::ranges::find(compiled.problems, Severity::Error, &Problem::severity);
        return Error{Errc::TooMany,
                     "the rules in force cannot be compiled again" +
                         (error == compiled.problems.end() ? "" : ": " + error->message)};
    }
    return asked_account({.ask = ask,
                          .state = state,
                          .treatment = link.treatment().value_or(PacketTreatment{}),
                          .pair = pair_of(ask, link)},
                         *std::move(compiled.rules));
}

}  // namespace sluice
