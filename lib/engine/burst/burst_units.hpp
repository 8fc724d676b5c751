#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/engine/burst/limit_check.hpp"
#include "lib/engine/burst/scratch.hpp"
#include "lib/l7/http1/derived_texts.hpp"
#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/http1/response_stream.hpp"
#include "lib/l7/proxy/proxied_clients.hpp"
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/l7/stream/agreed_upgrade.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/l7/stream/made_reset.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/text_arena.hpp"
#include "lib/l7/stream/tracked_columns.hpp"
#include "lib/l7/stream/unit_capacity.hpp"
#include "lib/l7/stream/unit_event.hpp"
#include "lib/l7/stream/unit_finder.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

// Units of later layers: the requests, queries and handshakes that a packet completes, each with
// texts of its own.
//
//   units in a packet   rows that stand for them
//   none                the packet's own, which has its headers and payload
//   one                 the packet's own
//   several             the packet's own for the first, a row of a further burst for each other one
//
// The rows of further bursts go through the same columnar stages as the packets' own. The general
// path then decides all units of a packet together, when it is the packet's turn.
namespace sluice {

class Burst;
class BurstUnits;
struct MeterPlan;
class HeldUnits;

// The units of the packets of one burst, all memory for them allocated at once.
class BurstUnits {
public:
    explicit BurstUnits(UnitFinder finder, UnitCapacity room = UnitCapacity::Shares);
    ~BurstUnits();
    BurstUnits(const BurstUnits&) = delete;
    BurstUnits& operator=(const BurstUnits&) = delete;

    // Another parser, between two bursts.
    void find_by(UnitFinder finder) noexcept { finder_ = finder; }

    // A new burst.
    void clear() noexcept;

    // True if units of the parser can change what such a rule does, or one of all rules.
    template <typename Plan>
    [[nodiscard]] bool concern(const Plan& plan) const noexcept {
        return !plan.counts.empty() || plan.texts.meets(finder_.texts);
    }
    // The same of a rule that matches already: its condition has been decided.
    [[nodiscard]] bool concern_matched(const RulePlan& rule) const noexcept {
        return !rule.counts.empty() || rule.key_texts.meets(finder_.texts);
    }
    // The rows whose packets can have units, by their headers alone.
    [[nodiscard]] RowMask possible(const UnitColumns& burst, RowMask rows) const noexcept {
        return finder_.possible == nullptr ? rows : finder_.possible(burst, rows);
    }
    // The rows that find() is called for, among those that a rule is concerned with.
    [[nodiscard]] RowMask select(const UnitColumns& burst, RowMask rows) noexcept {
        return finder_.select == nullptr ? rows
                                         : finder_.select(finder_.parser, burst, rows, notes_);
    }
    [[nodiscard]] std::uint64_t note(std::size_t row) const noexcept { return notes_[row]; }
    // Nothing is known of the services that rows of the burst belong to.
    void forget_services() noexcept { found_.services.clear(); }
    // Rows that waited have what services() was given of them, under the rule set of now.
    void meet_again(const TrackedColumns& burst) noexcept {
        if (finder_.meet_again != nullptr) {
            finder_.meet_again(finder_.parser, burst, found_.services);
        }
    }
    // Follows the connections of services that rows of the burst belong to.
    void track(const TrackedColumns& burst, RowMask rows) noexcept {
        found_.services.clear();
        if (finder_.track != nullptr) {
            finder_.track(finder_.parser, burst, rows, found_.services);
        }
    }
    void note_reset(const MadeReset& reset, Instant now) noexcept {
        if (finder_.note_reset != nullptr) {
            finder_.note_reset(finder_.parser, reset, now);
        }
    }
    void note_upgrade(const AgreedUpgrade& upgrade) noexcept {
        if (finder_.note_upgrade != nullptr) {
            finder_.note_upgrade(finder_.parser, upgrade);
        }
    }
    [[nodiscard]] const ServiceRowsOutcome& services() const noexcept { return found_.services; }
    [[nodiscard]] ServiceRowsOutcome& services() noexcept { return found_.services; }
    [[nodiscard]] const ServicePacket& service(std::size_t row) const noexcept {
        return found_.services.packets[row];
    }
    // Calls the parser for one packet. Of one that has too many units, which is counted, none is
    // kept.
    void find(std::size_t row, const UnitSource& packet) noexcept;
    // The same of a packet that has waited, and that the parser has seen before. It looks again
    // only where other rules want other texts.
    void find_again(std::size_t row, const UnitSource& packet, const HeldUnits& held) noexcept;
    // Before the first find(): the rule set that the burst's units are found for, and how many of
    // its rows are read.
    void begin(std::uint64_t load, const MeterPlan& plan, std::size_t rows) noexcept;
    [[nodiscard]] std::uint64_t load() const noexcept { return load_; }
    [[nodiscard]] std::size_t count(std::size_t row) const noexcept { return found_.counts[row]; }

    // The rows that cannot be judged, and why; those of them that a service refuses.
    [[nodiscard]] RowMask unjudgeable() const noexcept { return found_.unjudgeable; }
    [[nodiscard]] RowMask unreadable() const noexcept { return found_.unreadable; }
    // Rows of services that monitor, which these would refuse, and why.
    [[nodiscard]] RowMask would_refuse() const noexcept { return found_.would_refuse; }
    [[nodiscard]] Reason why_would_refuse(std::size_t row) const noexcept {
        return found_.would_why[row];
    }
    [[nodiscard]] Reason why(std::size_t row) const noexcept { return found_.why[row]; }
    // The rows that repeat what another packet's verdict decides.
    [[nodiscard]] RowMask following() const noexcept { return found_.following; }
    void keep_following(RowMask rows) noexcept { found_.following &= rows; }
    // Rows whose bytes remember what becomes of them.
    [[nodiscard]] RowMask remembered() const noexcept { return found_.remembered; }

    [[nodiscard]] Stickiness stickiness(std::size_t row) const noexcept {
        return {has_row(found_.remembered, row),
                has_row(found_.following, row),
                has_row(found_.awaiting, row),
                found_.sticky[row],
                found_.followed[row],
                found_.quic_dcids[row],
                has_row(found_.services.in_fragments, row) ? found_.services.ports[row]
                                                           : DatagramPorts{},
                has_row(found_.unjudgeable, row),
                found_.why[row],
                {has_row(found_.proxied, row), found_.clients[row]}};
    }
    // The rows whose senders may still await an answer to what came before.
    [[nodiscard]] RowMask awaiting() const noexcept { return found_.awaiting; }

    // The id of a row that completes a hello of QUIC.
    [[nodiscard]] ByteView quic_dcid(std::size_t row) const noexcept {
        return found_.quic_dcids[row].bytes();
    }

    // Tells the parser what became of rows that are remembered: those of `rows`, each once.
    void settle(const Burst& burst, RowMask rows, const MeterPlan& plan) noexcept;
    // True if the bytes that a following row repeats were kept back, all rows before it settled.
    [[nodiscard]] bool repeats_refused(std::size_t row) const noexcept {
        return finder_.refused(finder_.parser, found_.followed[row]);
    }

    using Unit = FoundUnit;
    [[nodiscard]] const Unit& unit(std::size_t row, std::size_t number) const noexcept {
        return found_.units[found_.first_unit[row] + number];
    }

    // Gives each request of a trusted proxy its client.
    void name_clients(std::size_t row, const ProxiedClients& clients) noexcept;
    // The rows whose connections begin with a PROXY protocol header.
    [[nodiscard]] RowMask proxied() const noexcept { return found_.proxied; }
    // Gives such a row, and each of its units, the client that the header names.
    void name_proxied(std::size_t row, const ProxiedClients& clients,
                      HeaderColumns& headers) noexcept;
    // Gives each unit of a packet the texts that are made of its own.
    void derive_texts(std::size_t row, const DerivedTexts& derived) noexcept;
    // The texts that are made again whenever the packet's own are found.
    [[nodiscard]] TextFieldSet derived() const noexcept { return derived_; }

    // Events that the parser has counted since the burst began.
    [[nodiscard]] const std::array<std::uint32_t, kUnitEventCount>& events() const noexcept {
        return found_.events;
    }
    // Ambiguous and malformed shapes in requests of the burst.
    [[nodiscard]] const RequestDoubts& doubts() const noexcept { return found_.doubts; }
    // Calls visit(event, times) for each event that was counted.
    template <typename Visit>
    void for_each_event(Visit&& visit) const {
        for (std::size_t i = 0; i < found_.counted_events; ++i) {
            visit(found_.which_events[i], found_.events[found_.which_events[i]]);
        }
    }

    // Adds a row for each further unit of a packet of the burst, which has been parsed.
    void add_further(const Burst& burst, std::size_t row) noexcept;
    // The bursts of further units that are in use.
    [[nodiscard]] std::span<Burst> further() noexcept;
    // Gives the rows of a further burst that has been parsed their texts.
    void set_texts(Burst& further) noexcept;
    // The row in which a unit is matched, keyed and located; the first one's is the packet's.
    struct Place {
        Burst* burst = nullptr;
        std::size_t row = 0;
    };
    [[nodiscard]] Place place_of(Burst& burst, std::size_t row, std::size_t number) noexcept;
    // The rows of a further burst whose packets are in these rows.
    [[nodiscard]] RowMask rows_of(const Burst& further, RowMask packets) const noexcept;

    // The decision of each unit, once its packet has been decided.
    [[nodiscard]] Decision& decision(std::size_t row, std::size_t number) noexcept {
        return decisions_[found_.first_unit[row] + number];
    }
    [[nodiscard]] const Decision& decision(std::size_t row, std::size_t number) const noexcept {
        return decisions_[found_.first_unit[row] + number];
    }

    // The units of the one packet that is decided, and room for the matches and checks of all of
    // them. By rule, the latest of its matches, counted from 1 on; all 0 between packets.
    LazyArray<Match> matches = uninitialized_array<Match>(kUnitsUnderAnyRules * kMaxRules);
    LazyArray<LimitCheck> checks =
        uninitialized_array<LimitCheck>(kUnitsUnderAnyRules * kMaxLimits);
    std::array<EvaluatedUnit, kMaxUnits> evaluated;
    LazyArray<std::uint32_t> latest_match = zeroed_array<std::uint32_t>(kMaxRules);

private:
    // One of several units, and not the first, of a packet.
    struct FurtherUnit {
        std::uint8_t row = 0;     // of the packet
        std::uint8_t number = 0;  // in it
    };

    void begin_row(std::size_t row) noexcept;
    // A row that has too many units keeps none.
    void end_row(std::size_t row, UnitSink& sink) noexcept;
    [[nodiscard]] std::size_t first_of(const Burst& further) const noexcept;
    [[nodiscard]] UnitOutcome outcome_of(const Decision& decision, const StickyBytes& bytes,
                                         const MeterPlan& plan) const noexcept;

    UnitFinder finder_;
    UnitCapacity room_;
    std::uint64_t load_ = 0;
    FoundUnits found_;
    TextFieldSet derived_;
    RowNotes notes_{};
    std::array<std::uint16_t, kMaxBurst> first_further_{};
    std::array<FurtherUnit, kMaxFurther> of_further_{};
    std::unique_ptr<Burst[]> further_;
    LazyArray<Decision> decisions_ = uninitialized_array<Decision>(FoundUnits::kMostUnits);
};

}  // namespace sluice
