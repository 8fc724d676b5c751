#include "control/cli/live_text.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kNobodyKnows = "-";

std::string packet_rate(const Json& rate) {
    if (rate.is_null()) {
        return std::string{kNobodyKnows};
    }
    const double number = rate.get<double>();
    return number < 100 && number != std::floor(number)
               ? fmt::format("{:.1f}", number)
               : grouped(static_cast<std::uint64_t>(std::llround(number)));
}
std::string live_bit_rate(const Json& rate) {
    return rate.is_null() ? std::string{kNobodyKnows} : bit_rate_text(rate.get<double>());
}
std::string live_count(const Json& count) {
    return count.is_null() ? std::string{kNobodyKnows} : grouped(count.get<std::uint64_t>());
}
std::string share_text(const Json& share) {
    return share.is_null() ? std::string{kNobodyKnows}
                           : fmt::format("{:.1f} %", share.get<double>() * 100);
}

// The box, what it does now, and of which second all of this is.
std::string frame_text(const Json& live) {
    const Json& box = live.at("box");
    const Json& since = box.at("since");
    const Json& why = box.at("why");
    const Json& generation = box.at("generation");
    std::string text = bold(fmt::format("{}: {}", text_at(box, "name"), text_at(box, "state")));
    text += since.is_null() ? "" : " since " + since.get<std::string>();
    text += why.is_null() ? "" : ": " + why.get<std::string>();
    text += fmt::format(
        "\n{}, {}, of {}\n",
        generation.is_null() ? "no generation" : "generation " + generation.get<std::string>(),
        sluice::counted(count_at(box, "workers"), "worker"), text_at(live, "at"));
    return text + unconfirmed_text({{"unconfirmed", live.at("trial")}});
}

std::string totals_text(const Json& rates) {
    if (rates.is_null()) {
        return "\nnobody can say what passes: there is no dataplane, or no second of it yet\n";
    }
    Table table{{{""}, {"PACKETS/S", kRight}, {"BIT/S", kRight}}};
    for (const auto& [name, words] : {std::pair{"offered", "offered"},
                                      {"passed", "passed"},
                                      {"refused", "refused"},
                                      {"answered", "of these answered"},
                                      {"would_refuse", "would refuse"}}) {
        const Json& rate = rates.at(name);
        table.row({words, packet_rate(rate.at("pps")), live_bit_rate(rate.at("bps"))});
    }
    return "\n" + table.text();
}

std::string problems_text(const Json& problems) {
    std::string text;
    for (const Json& problem : problems) {
        text += fmt::format("{}: {}\n  do: {}\n", bold(text_at(problem, "severity")),
                            text_at(problem, "text"), text_at(problem, "do"));
    }
    return text.empty() ? "" : "\n" + text;
}

std::string live_rules_text(const Json& rules) {
    Table table{{{"RULE"},
                 {"MODE"},
                 {"MATCHED/S", kRight},
                 {"REFUSED/S", kRight},
                 {"WOULD REFUSE/S", kRight},
                 {"BIT/S", kRight},
                 {"LIVE KEYS", kRight},
                 {"LIMITED", kRight},
                 {"OF TABLE", kRight},
                 {"COUNTED"}}};
    for (const Json& rule : rules.at("rows")) {
        const std::string state = text_at(rule, "state");
        const Json& placement = rule.at("placement");
        table.row({text_at(rule, "id"),
                   text_at(rule, "mode") + (state == "active" ? "" : ", " + state),
                   packet_rate(rule.at("matched_pps")), packet_rate(rule.at("refused_pps")),
                   packet_rate(rule.at("would_refuse_pps")), live_bit_rate(rule.at("matched_bps")),
                   live_count(rule.at("live_keys")), live_count(rule.at("limited_now")),
                   share_text(rule.at("table_share")),
                   placement.is_null() ? std::string{kNobodyKnows} : placement.get<std::string>()});
    }
    const std::uint64_t matching = count_at(rules, "matching");
    if (table.empty()) {
        return fmt::format("\nno rule of {} is shown\n", count_at(rules, "total"));
    }
    const std::size_t shown = rules.at("rows").size();
    return "\n" + table.text() +
           (matching > shown ? fmt::format("{} of {} rules\n", shown, matching) : "");
}

}  // namespace

std::string live_text(const Json& live) {
    return frame_text(live) + totals_text(live.at("rates")) + problems_text(live.at("problems")) +
           live_rules_text(live.at("rules"));
}

std::string stale_text(const Json& live, const std::string& why) {
    return bold(fmt::format("STALE: what follows is of {}, and nothing newer is known: {}",
                            text_at(live, "at"), why)) +
           "\n";
}

}  // namespace sluice
