#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/stream/unit_budget.hpp"
#include "lib/packet/parse_columns.hpp"
#include "tests/packets/frame.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The words of a parser of units about packets, one after the other, as text.
namespace sluice::test {

struct ProbedPacket {
    // Of each unit: its kind, and its texts by the names of their fields.
    std::vector<std::string> kinds;
    std::vector<std::map<std::string, std::string>> texts;
    std::map<std::string, unsigned> events;
    std::string dropped;      // why, or nothing
    VersionedAddress client;  // that a PROXY header names
    bool remembered = false;
    bool follows = false;
    bool repeats_refused = false;  // of a packet that follows

    [[nodiscard]] std::size_t units(std::string_view kind) const {
        std::size_t count = 0;
        for (const std::string& one : kinds) {
            count += one == kind ? 1 : 0;
        }
        return count;
    }
};

// An enforced service of the protocol.
[[nodiscard]] inline const Service* enforced_service(ServiceProtocol protocol) {
    static const std::array<Service, 4> services = [] {
        std::array<Service, 4> made;
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i].protocol = static_cast<ServiceProtocol>(i);
            made[i].mode = Mode::Enforce;
        }
        return made;
    }();
    return &services[static_cast<std::size_t>(protocol)];
}

// What few connections at a time need: a parser with it is made in no time.
[[nodiscard]] inline UnitBudget small_unit_budget() {
    return {.connections = {.connections = 64,
                            .half_heads = 16,
                            .refusals = 64,
                            .given_up = 64,
                            .begun = 64,
                            .half_head_lines = 4096},
            .quic = {.connections = 64, .half_hellos = 4, .half_hellos_per_source = 4},
            .fragments = {.datagrams = 64}};
}

class UnitProbe {
public:
    explicit UnitProbe(UnitFinder finder) : units_{finder} {
        for (const TextFieldRow& row : kTextFields) {
            wanted.add(row.field);
        }
    }

    TextFieldSet wanted;
    bool counts_handshakes = true;
    const Service* service = nullptr;  // whose packets they are
    std::uint32_t proxied_from = 0;    // number of the first byte of a proxy's; 0: of nobody's
    std::uint64_t unread_bursts = 0;   // of others than those taken
    std::uint64_t load = 0;            // of the rule set

    // Whether a packet is read at all.
    [[nodiscard]] bool selects(const Octets& frame, Instant now) {
        parse(frame);
        const UnitColumns burst = columns(now);
        return units_.select(burst, units_.possible(burst, headers_.well_formed())) != 0;
    }
    // One packet, which is forwarded or not.
    ProbedPacket take(const Octets& frame, Instant now, bool forwarded = true) {
        units_.clear();
        if (selects(frame, now)) {
            const UnitColumns burst = columns(now);
            (void)units_.find(0, {.headers = headers_.headers(0),
                                  .frame = frames_.frame(0),
                                  .note = units_.note(0),
                                  .wanted = burst.wanted,
                                  .counted = burst.counted,
                                  .requests = requests_,
                                  .hash = hash_,
                                  .now = now,
                                  .service = services_.packets[0],
                                  .load = load,
                                  .unread_bursts = unread_bursts});
        }
        ProbedPacket probed = read();
        settle(probed, forwarded);
        return probed;
    }

    // Of the latest packet.
    [[nodiscard]] const RequestDoubts& doubts() const { return units_.doubts(); }

private:
    void parse(const Octets& frame) {
        frames_ = {};
        frames_.add(frame, static_cast<std::uint32_t>(frame.size()));
        parse_columns(frames_, {}, headers_);
        fill_connection_ends(headers_, headers_.well_formed(), hash_, ends_);
        services_.clear();
        if (service != nullptr) {
            services_.packets[0] = {.service = service,
                                    .connection = ends_[0].along(),
                                    .first = proxied_from,
                                    .is_from_client = true,
                                    .is_proxied = proxied_from != 0,
                                    .is_readable = true};
            services_.with_service = 1;
        }
    }
    [[nodiscard]] UnitColumns columns(Instant now) const {
        const PerSet counted =
            counts_handshakes ? PerSet{Per::Query, Per::Request, Per::Handshake} : PerSet{};
        return {headers_, frames_, ends_, wanted,
                counted,  hash_,   now,   service != nullptr ? &services_ : nullptr};
    }
    [[nodiscard]] ProbedPacket read() const {
        constexpr std::string_view kKinds[] = {"packet",  "byte",  "connection",
                                               "request", "query", "handshake"};
        ProbedPacket probed;
        for (std::size_t i = 0; i < units_.count(0); ++i) {
            const BurstUnits::Unit& unit = units_.unit(0, i);
            probed.kinds.emplace_back(kKinds[static_cast<std::size_t>(unit.kind)]);
            auto& texts = probed.texts.emplace_back();
            for (const TextFieldRow& row : kTextFields) {
                if (unit.texts.has(row.field)) {
                    const ByteView text = unit.texts.text(row.field);
                    texts[std::string{row.name}] = {reinterpret_cast<const char*>(text.data()),
                                                    text.size()};
                }
            }
        }
        for (const auto& row : kUnitEvents) {
            if (const unsigned count = units_.events()[static_cast<std::size_t>(row.event)]) {
                probed.events[std::string{row.name}] = count;
            }
        }
        probed.dropped = units_.unjudgeable() == 0 ? "" : row_of(units_.why(0)).name;
        probed.client = units_.stickiness(0).client.address;
        probed.remembered = units_.remembered() != 0;
        probed.follows = units_.following() != 0;
        return probed;
    }
    void settle(ProbedPacket& probed, bool forwarded) {
        probed.repeats_refused = probed.follows && units_.repeats_refused(0);
        burst_.clear();
        const Octets any = Frame{17}.bytes();
        (void)burst_.add({any, static_cast<std::uint32_t>(any.size())}, Direction::In, 0);
        const bool passes = forwarded && !probed.repeats_refused && probed.dropped.empty();
        burst_.packets()[0].decision.verdict = passes ? Verdict::Pass : Verdict::Drop;
        units_.settle(burst_, 1, MeterPlan{});
    }

    BurstUnits units_;
    // Of the packet that is settled: one for all tests, since it is large.
    static inline Burst burst_;
    FrameColumns frames_;
    HeaderColumns headers_;
    RowEnds ends_;
    ServiceRowsOutcome services_;
    RequestTexts requests_;
    KeyHasher hash_{HashSecret{1, 2}};
};

// A segment of TCP from 10.0.0.1 to port `dport`.
[[nodiscard]] inline Octets segment(std::uint32_t seq, const Octets& payload,
                                    std::uint16_t dport = 443, std::uint16_t sport = 40'000,
                                    std::uint16_t flags = 0x10) {
    return Frame{6}
        .src("10.0.0.1")
        .sport(sport)
        .dport(dport)
        .flags(flags)
        .seq(seq)
        .carries(payload)
        .bytes();
}

// The SYN of a connection whose first byte has that number.
[[nodiscard]] inline Octets opening(std::uint32_t first, std::uint16_t dport = 443,
                                    std::uint16_t sport = 40'000) {
    return segment(first - 1, {}, dport, sport, 0x02);
}

}  // namespace sluice::test
