#include "control/cli/replay/summary.hpp"

#include "control/cli/table.hpp"
#include "control/service_json.hpp"
#include "lib/policy/services/stance_text.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

// Names of the verdicts when they are counted, in the order of the documentation.
struct VerdictName {
    Verdict verdict;
    std::string_view counted;
};
constexpr auto kCounted = std::to_array<VerdictName>({
    {Verdict::Pass, "passed"},
    {Verdict::Tag, "tagged"},
    {Verdict::Shape, "shaped"},
    {Verdict::Drop, "dropped"},
    {Verdict::Reply, "replied"},
    {Verdict::Reset, "reset"},
    {Verdict::Decoy, "decoyed"},
});
static_assert(kCounted.size() == kVerdictCount);

std::uint64_t matched(const RuleCounts& totals) {
    return totals.admitted + totals.exceeded + totals.skipped;
}

std::string verdict_table(const ReplaySummary& summary) {
    Table table{{{"FRAMES"}, {"COUNT", kRight}}};
    for (const VerdictName& name : kCounted) {
        const std::uint64_t count = summary.by_verdict[static_cast<std::size_t>(name.verdict)];
        if (count != 0 || name.verdict == Verdict::Pass || name.verdict == Verdict::Drop) {
            table.row({std::string{name.counted}, grouped(count)});
        }
    }
    table.row({"all", grouped(summary.packets())});
    if (summary.not_ethernet != 0) {
        table.row({"not Ethernet, left out", grouped(summary.not_ethernet)});
    }
    return table.text();
}

std::string reason_table(const ReplaySummary& summary) {
    Table table{{{"REASON"}, {"COUNT", kRight}, {"MEANS"}}};
    for (const ReasonRow& row : kReasons) {
        const std::uint64_t count = summary.by_reason[static_cast<std::size_t>(row.reason)];
        if (count != 0) {
            table.row({std::string{row.name}, grouped(count), std::string{row.help}});
        }
    }
    return table.text();
}

std::string rule_table(const ReplaySummary& summary) {
    Table table{{{"RULE"},
                 {"MODE"},
                 {"MATCHED", kRight},
                 {"ADMITTED", kRight},
                 {"EXCEEDED", kRight},
                 {"SKIPPED", kRight}}};
    for (const ReplaySummary::RuleRow& row : summary.rules) {
        table.row({row.id, std::string{kModeNames[static_cast<std::size_t>(row.mode)]},
                   grouped(matched(row.totals)), grouped(row.totals.admitted),
                   grouped(row.totals.exceeded), grouped(row.totals.skipped)});
    }
    return table.text();
}

// The table in the words of `check`; empty: no rule is over layer 7.
std::string stance_table(const ReplaySummary& summary) {
    Table table{{{"RULE"}, {"READS LAYER 7 OF"}}};
    bool some = false;
    for (const ReplaySummary::RuleRow& row : summary.rules) {
        if (const std::string stance = text_of(row.stance); !stance.empty()) {
            table.row({row.id, stance});
            some = true;
        }
    }
    return some ? table.text() : "";
}

// Packets that are none of the matched; empty: no rule has banned their source.
std::string banned_source_table(const ReplaySummary& summary) {
    Table table{{{"BANNED SOURCES OF"}, {"PACKETS", kRight}}};
    for (const ReplaySummary::RuleRow& row : summary.rules) {
        if (row.totals.banned_sources != 0) {
            table.row({row.id, grouped(row.totals.banned_sources)});
        }
    }
    return table.empty() ? "" : table.text();
}

std::string_view name_of(ChecksumTrust trust) {
    return kChecksumTrustNames[static_cast<std::size_t>(trust)];
}

// The state of the checksums of each side of each service.
std::string checksum_table(const ReplaySummary& summary) {
    Table table{{{"SERVICE"}, {"CHECKSUMS OF CLIENTS"}, {"OF SERVERS"}}};
    bool trusts = false;
    for (const ReplaySummary::ChecksumRow& row : summary.checksums) {
        table.row({row.id, std::string{name_of(row.checksums.clients)},
                   std::string{name_of(row.checksums.servers)}});
        trusts = trusts || row.checksums.clients == ChecksumTrust::Trusting ||
                 row.checksums.servers == ChecksumTrust::Trusting;
    }
    return table.text() + (trusts ? "trusting: " + std::string{kTrustingAdvice} + "\n" : "");
}

std::string unread_table(const ReplaySummary& summary) {
    Table table{{{"UNREAD CONNECTIONS"}, {"COUNT", kRight}}};
    table.row({"of services", grouped(summary.unread.of_services)});
    table.row({"anywhere else", grouped(summary.unread.anywhere)});
    return table.text();
}

}  // namespace

void ReplaySummary::count(const Decision& decision) {
    ++by_verdict[static_cast<std::size_t>(decision.verdict)];
    ++by_reason[static_cast<std::size_t>(decision.reason)];
}

std::uint64_t ReplaySummary::packets() const {
    return std::accumulate(by_verdict.begin(), by_verdict.end(), std::uint64_t{0});
}

void ReplaySummary::collect(const ReplayRules& replayed, const WorkerSet& workers) {
    // Both lists are in the order of the file; the set leaves out the rules that are off.
    auto running = replayed.loaded.set().rules.begin();
    for (const RuleSummary& rule : replayed.summaries) {
        RuleRow row{.id = rule.id, .mode = Mode::Off, .totals = {}, .stance = rule.stance};
        if (running != replayed.loaded.set().rules.end() && running->id == rule.id) {
            row.mode = running->mode;
            row.totals = workers.totals(*running);
            ++running;
        }
        rules.push_back(std::move(row));
    }
    for (const Service& service : replayed.loaded.set().services.all) {
        checksums.push_back({service.id, workers.checksums_of(service)});
    }
    table_full = workers.table_full();
    unread = workers.unread();
    clock_stopped = workers.clock_stopped();
}

Json summary_json(const ReplaySummary& summary) {
    Json json{{"packets", summary.packets()}};
    for (const VerdictName& name : kCounted) {
        json[std::string{name.counted}] =
            summary.by_verdict[static_cast<std::size_t>(name.verdict)];
    }
    for (const ReplaySummary::ChecksumRow& row : summary.checksums) {
        json["checksums"][row.id] = {{"clients", name_of(row.checksums.clients)},
                                     {"servers", name_of(row.checksums.servers)}};
    }
    json["rules"] = Json::array();
    for (const ReplaySummary::RuleRow& row : summary.rules) {
        json["rules"].push_back({{"id", row.id},
                                 {"matched", matched(row.totals)},
                                 {"admitted", row.totals.admitted},
                                 {"exceeded", row.totals.exceeded},
                                 {"skipped", row.totals.skipped}});
        if (row.stance.kind != Stance::Kind::None) {
            json["rules"].back()["stance"] = stance_json(row.stance);
        }
        if (row.totals.exempted != 0) {
            json["rules"].back()["exempted"] = row.totals.exempted;
        }
        if (row.totals.bans != 0 || row.totals.banned != 0) {
            json["rules"].back()["banned"] = row.totals.banned;
            json["rules"].back()["bans"] = row.totals.bans;
        }
        if (row.totals.banned_sources != 0) {
            json["rules"].back()["banned_sources"] = row.totals.banned_sources;
        }
    }
    if (!summary.services.rows().empty()) {
        json["services"] = services_json(summary.services);
        json["unread"] = {{"services", summary.unread.of_services},
                          {"anywhere", summary.unread.anywhere}};
    }
    if (summary.not_ethernet != 0) {
        json["not_ethernet"] = summary.not_ethernet;
    }
    return json;
}

std::string summary_text(const ReplaySummary& summary) {
    std::string text = verdict_table(summary);
    if (summary.packets() != 0) {
        text += "\n" + reason_table(summary);
    }
    if (!summary.rules.empty()) {
        text += "\n" + rule_table(summary);
    }
    if (const std::string sources = banned_source_table(summary); !sources.empty()) {
        text += "\n" + sources;
    }
    if (const std::string stances = stance_table(summary); !stances.empty()) {
        text += "\n" + stances;
    }
    if (!summary.services.rows().empty()) {
        text += "\n" + services_text(summary.services) + "\n" + unread_table(summary);
    }
    if (!summary.checksums.empty()) {
        text += "\n" + checksum_table(summary);
    }
    return text;
}

}  // namespace sluice
