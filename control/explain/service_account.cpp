#include "control/explain/service_account.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string rewritten_text(const Normalization& rewritten) {
    std::string text = rewritten.clears_urgent ? ", its urgent pointer cleared" : "";
    if (rewritten.clears_options) {
        text += ", its TCP options of unknown kinds overwritten";
    }
    if (rewritten.is_probe) {
        text +=
            ", without its bytes and with an old number: its server answers by the one that it "
            "expects";
    }
    if (rewritten.raises_to != 0) {
        text += fmt::format(", its TTL raised to {}", rewritten.raises_to);
    }
    if (!rewritten.voided().empty()) {
        text += ", the lines taken out that ask for HTTP/2";
    }
    return text;
}

std::string fate_text(const ServiceOutcome& outcome) {
    const auto named = [](std::string_view fate, Reason reason) {
        return fmt::format("{}: {} ({})", fate, row_of(reason).name, row_of(reason).help);
    };
    if (outcome.refused) {
        return named("dropped", *outcome.refused);
    }
    if (outcome.would_refuse) {
        return named("passed; enforced, it would be dropped", *outcome.would_refuse);
    }
    return "passed" + rewritten_text(outcome.rewritten);
}

// By their places in the payload.
Json rewritten_lines(const Normalization& rewritten) {
    Json lines = Json::array();
    for (const PayloadRange& line : rewritten.voided()) {
        lines.push_back({line.begin, line.end});
    }
    return lines;
}

// The known state of a segment's connection.
std::string_view connection_text(const ServicePacket& packet) {
    if (packet.is_midstream) {
        return "nobody saw the beginning of its connection";
    }
    return packet.is_established ? "the handshake of its connection was completed"
                                 : "no handshake of its connection has been completed";
}

std::string unread_text(const Service& service) {
    return service.on_unreadable == OnUnreadable::Count
               ? "    what cannot be read of it passes, charged as one request, hello or query "
                 "for each 1,460 bytes (on_unreadable: count)\n"
               : "    what cannot be read of it passes uncharged (on_unreadable: pass)\n";
}

}  // namespace

std::string_view ServiceAccount::fate() const {
    if (outcome.refused) {
        return "dropped";
    }
    if (outcome.would_refuse) {
        return "would_refuse";
    }
    return outcome.rewritten.any() ? "rewritten" : "passed";
}

std::optional<ServiceAccount> service_account(const Burst& burst, const LoadedServices& services) {
    const std::optional<ServiceOutcome> outcome = service_outcome(burst, 0, services);
    if (!outcome) {
        return std::nullopt;
    }
    const Service& service = services.all[outcome->index];
    return ServiceAccount{
        .id = service.id,
        .protocol = kServiceProtocolNames[static_cast<std::size_t>(service.protocol)],
        .mode = kModeNames[static_cast<std::size_t>(service.mode)],
        .outcome = *outcome};
}

std::string service_text(const ServiceAccount& account) {
    const ServicePacket& packet = account.outcome.packet;
    std::string text = fmt::format(
        "service\n  {} ({}, {}), from the {}: {}\n", account.id, account.protocol, account.mode,
        packet.is_from_client ? "client" : "server", fate_text(account.outcome));
    if (packet.connection != 0) {
        text += fmt::format("    {}\n", connection_text(packet));
    }
    const bool from_client = packet.is_from_client && packet.service != nullptr;
    if (from_client && packet.service->on_unreadable != OnUnreadable::Refuse) {
        text += unread_text(*packet.service);
    }
    return text;
}

Json service_json(const ServiceAccount& account) {
    const ServiceOutcome& outcome = account.outcome;
    Json json{{"id", account.id},
              {"protocol", account.protocol},
              {"mode", account.mode},
              {"from", outcome.packet.is_from_client ? "client" : "server"},
              {"fate", account.fate()},
              {"established", outcome.packet.is_established},
              {"midstream", outcome.packet.is_midstream}};
    if (const auto reason = outcome.refused ? outcome.refused : outcome.would_refuse) {
        json["reason"] = row_of(*reason).name;
    }
    if (outcome.rewritten.any()) {
        json["clears_urgent"] = outcome.rewritten.clears_urgent;
        json["clears_options"] = outcome.rewritten.clears_options;
        json["is_probe"] = outcome.rewritten.is_probe;
        json["voided_lines"] = rewritten_lines(outcome.rewritten);
        json["ttl"] = outcome.rewritten.raises_to == 0 ? Json() : Json(outcome.rewritten.raises_to);
    }
    return json;
}

}  // namespace sluice
