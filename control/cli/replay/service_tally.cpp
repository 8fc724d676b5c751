#include "control/cli/replay/service_tally.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "lib/packet/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

using ReasonCounts = std::array<std::uint64_t, kReasonCount>;

std::uint64_t sum_of(const ReasonCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

Json counts_json(const ReasonCounts& counts) {
    Json json = Json::object();
    for (const ReasonRow& row : kReasons) {
        if (const std::uint64_t count = counts[static_cast<std::size_t>(row.reason)]; count != 0) {
            json[std::string{row.name}] = count;
        }
    }
    return json;
}

std::string name_of(ServiceProtocol protocol) {
    return std::string{kServiceProtocolNames[static_cast<std::size_t>(protocol)]};
}

std::string name_of(Mode mode) {
    return std::string{kModeNames[static_cast<std::size_t>(mode)]};
}

std::string table_of_services(const ServiceTally& tally) {
    Table table{{{"SERVICE"},
                 {"PROTOCOL"},
                 {"MODE"},
                 {"FROM CLIENTS", kRight},
                 {"FROM SERVERS", kRight},
                 {"REFUSED", kRight},
                 {"WOULD REFUSE", kRight},
                 {"REWRITTEN", kRight}}};
    for (const ServiceTally::Row& row : tally.rows()) {
        table.row({row.id, name_of(row.protocol), name_of(row.mode), grouped(row.from_clients),
                   grouped(row.from_servers), grouped(sum_of(row.refused)),
                   grouped(sum_of(row.would_refuse)), grouped(row.rewritten)});
    }
    return table.text();
}

std::string table_of_reasons(const ServiceTally& tally) {
    Table table{
        {{"SERVICE"}, {"REASON"}, {"REFUSED", kRight}, {"WOULD REFUSE", kRight}, {"MEANS"}}};
    bool some = false;
    for (const ServiceTally::Row& row : tally.rows()) {
        for (const ReasonRow& reason : kReasons) {
            const auto place = static_cast<std::size_t>(reason.reason);
            if (row.refused[place] + row.would_refuse[place] != 0) {
                table.row({row.id, std::string{reason.name}, grouped(row.refused[place]),
                           grouped(row.would_refuse[place]), std::string{reason.help}});
                some = true;
            }
        }
    }
    return some ? "\n" + table.text() : "";
}

// The reason for which most frames of a service were refused, or would have been; nullptr: none
// was.
const ReasonRow* usual_refusal(const ServiceTally::Row& row) {
    const auto count_of = [&row](const ReasonRow& reason) {
        const auto place = static_cast<std::size_t>(reason.reason);
        return row.refused[place] + row.would_refuse[place];
    };
    const auto* const usual = std::ranges::max_element(kReasons, {}, count_of);
    return count_of(*usual) == 0 ? nullptr : &*usual;
}

// The servers send from inside and from no other side, so that no --inside is one cause, and
// handshakes that the service refuses are another.
std::string text_without_servers(const ServiceTally::Row& row, std::uint64_t from_inside) {
    if (from_inside == 0) {
        return fmt::format(
            "no frame came from the servers of `{}`, whose connections cannot be followed so; "
            "--inside PREFIX names the networks behind the box",
            row.id);
    }
    const ReasonRow* const refusal = usual_refusal(row);
    if (refusal == nullptr) {
        return fmt::format(
            "{} came from inside, but none of a connection of `{}`: its servers are not inside, "
            "or the capture has no beginning of its connections",
            counted(from_inside, "frame"), row.id);
    }
    const std::string text = fmt::format(
        "{} came from inside, but none of a connection that `{}` took up: it refuses "
        "its clients' frames, most as {}",
        counted(from_inside, "frame"), row.id, refusal->name);
    return refusal->reason == Reason::WrongChecksum
               ? text +
                     "; where the capture was made before the sender's adapter filled in "
                     "checksums, replay with `checksums: trust`"
               : text;
}

}  // namespace

ServiceTally::ServiceTally(const std::vector<ServiceSummary>& summaries,
                           const LoadedServices& running) {
    auto next = running.all.begin();
    for (const ServiceSummary& summary : summaries) {
        Row row{.id = summary.id, .protocol = summary.protocol};
        if (next != running.all.end() && next->id == summary.id) {
            row.mode = next->mode;
            places_.push_back({rows_.size(), next->path == ServicePath::Both});
            ++next;
        }
        rows_.push_back(std::move(row));
    }
}

void ServiceTally::count(const ServiceOutcome& outcome) {
    Row& row = rows_[places_[outcome.index].row];
    ++(outcome.packet.is_from_client ? row.from_clients : row.from_servers);
    row.segments_from_clients += outcome.packet.is_from_client && outcome.is_segment ? 1 : 0;
    row.rewritten += outcome.rewritten.any() ? 1 : 0;
    if (outcome.refused) {
        ++row.refused[static_cast<std::size_t>(*outcome.refused)];
    }
    if (outcome.would_refuse) {
        ++row.would_refuse[static_cast<std::size_t>(*outcome.would_refuse)];
    }
}

std::vector<std::string> ServiceTally::without_servers() const {
    std::vector<std::string> texts;
    for (const Place& place : places_) {
        const Row& row = rows_[place.row];
        // Datagrams are of no connection.
        if (place.sees_both && row.segments_from_clients != 0 && row.from_servers == 0) {
            texts.push_back(text_without_servers(row, from_inside_));
        }
    }
    return texts;
}

Json services_json(const ServiceTally& tally) {
    Json list = Json::array();
    for (const ServiceTally::Row& row : tally.rows()) {
        list.push_back({{"id", row.id},
                        {"protocol", name_of(row.protocol)},
                        {"mode", name_of(row.mode)},
                        {"frames", row.frames()},
                        {"from_clients", row.from_clients},
                        {"from_servers", row.from_servers},
                        {"rewritten", row.rewritten},
                        {"refused", counts_json(row.refused)},
                        {"would_refuse", counts_json(row.would_refuse)}});
    }
    return list;
}

std::string services_text(const ServiceTally& tally) {
    return tally.rows().empty() ? "" : table_of_services(tally) + table_of_reasons(tally);
}

}  // namespace sluice
