#include "control/daemon/api/explain_account.hpp"

#include "control/daemon/api/explained_rules.hpp"
#include "control/daemon/rule_compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace sluice {
namespace {

ExplainedRules& explained_rules() {
    static ExplainedRules rules;
    return rules;
}

// The pair that the question names, or the first.
std::string pair_of(const AskPacket& ask, const DataplaneLink& link) {
    const std::vector<PortRssMapping> ports = link.rss_mapping().ports;
    const auto first = std::ranges::find(ports, Direction::In, &PortRssMapping::dir);
    return !ask.pair.empty() || first == ports.end() ? ask.pair : first->pair;
}

// Says where a list's file is not what is in force; nullopt: it is, or the list was sent along.
std::optional<std::string> list_note(const RuleView& view, const std::string& path,
                                     const std::string& text) {
    if (view.sent.contains(path)) {
        return std::nullopt;
    }
    StoredRules place;  // and who reads there
    place.directory = view.directory;
    place.applied_by = view.applied_by;
    const Result<ListFile> file = read_list(place, path);
    if (file && *file->text == text) {
        return std::nullopt;
    }
    return "the list " + path + " is judged by as it is in force; its file is not that: " +
           (file ? "it has changed" : file.error().what);
}

}  // namespace

std::vector<std::string> explain_notes(const AnsweredQuestion& packet) {
    const PacketState& state = packet.state;
    const RuleView& view = *packet.view;
    std::vector<std::string> notes;
    if (!state.enforces) {
        notes.emplace_back(
            "`panic pass` is on: the box forwards every packet unjudged; this is what it would do "
            "without");
    }
    if (!packet.tells_lists) {
        notes.emplace_back(
            "the rules read lists, of which only root and who applied the rules are told: why a "
            "condition that reads one holds, or does not, is left out");
    }
    for (const auto& [path, text] : packet.tells_lists ? view.lists : ListTexts{}) {
        if (auto note = list_note(view, path, *text)) {
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

Result<AskedAccount> explain_packet(const AnsweredQuestion& packet, const DataplaneLink& link) {
    const auto rules = explained_rules().of(packet.view, link.rss_mapping());
    if (!rules) {
        return rules.error();
    }
    return asked_account({.ask = packet.ask,
                          .state = packet.state,
                          .treatment = link.treatment().value_or(PacketTreatment{}),
                          .pair = pair_of(packet.ask, link),
                          .tells_lists = packet.tells_lists},
                         **rules);
}

HttpResponse not_explained(const Error& error) {
    switch (error.code) {
        case Errc::TooMany:
            return busy_response(429, "busy", error.what);
        case Errc::Refused:
            return problem_response(409, "other rules", error.what);
        case Errc::NoMemory:
            return problem_response(507, "no memory", error.what);
        default:
            return problem_response(500, "not explained", error.what);
    }
}

void forget_explained(const std::shared_ptr<const RuleView>& in_force) {
    explained_rules().sweep(in_force, ExplainedRules::Clock::now());
}

}  // namespace sluice
