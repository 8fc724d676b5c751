#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/engine/burst/look.hpp"
#include "lib/engine/burst/scratch.hpp"
#include "lib/engine/burst/unit_room.hpp"
#include "lib/l7/http1/derived_texts.hpp"
#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/http1/response_stream.hpp"
#include "lib/l7/proxy/proxied_clients.hpp"
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/text_arena.hpp"
#include "lib/l7/stream/tracked_columns.hpp"
#include "lib/l7/stream/unit_event.hpp"
#include "lib/l7/stream/unit_finder.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/respond/answer/agreed_upgrade.hpp"
#include "lib/respond/answer/made_reset.hpp"
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

// What a parser of a later layer reads of one packet, which is well-formed, and what it is read
// for.
struct UnitSource {
    const PacketHeaders& headers;
    FrameView frame;
    std::uint64_t note = 0;        // what the parser's Select has noted of the packet; 0: nothing
    TextFieldSet wanted;           // the texts that rules read: others need not be found
    PerSet counted;                // the units that they count
    const RequestTexts& requests;  // the headers and cookies that they read
    const KeyHasher& hash;
    Instant now;
    bool answers = false;  // some rule answers requests
    ServicePacket service;
    // Where either is another than before, packets may have passed that the parser was not shown:
    // the number of the rule set, and how many bursts were forwarded unread.
    std::uint64_t load = 0;
    std::uint64_t unread_bursts = 0;
};

// A burst that a parser of later layers is about to read, and what it will be read for.
struct UnitColumns {
    const HeaderColumns& headers;
    const FrameColumns& frames;
    const RowEnds& ends;  // of rows of TCP, once they are selected from
    TextFieldSet wanted;
    PerSet counted;
    const KeyHasher& hash;
    Instant now;
    const ServiceRowsOutcome* services = nullptr;  // nullptr: there are none
};

// Where such a parser puts what it finds.
class UnitSink {
public:
    UnitSink(BurstUnits& units, std::size_t row, const ServicePacket& service) noexcept
        : units_{units}, row_{row}, service_{service} {}

    // The next unit of the packet, to be given its texts; nullptr: the packet has too many. One of
    // kind Per::Packet is the packet itself with texts of a later layer: it is the only one then.
    [[nodiscard]] UnitTexts* add(Per kind) noexcept;
    // The unit that was added last, as another server reads it: judged as one more, and what the
    // readings of one unit have in common is counted once. It begins with the texts of the first
    // reading.
    [[nodiscard]] UnitTexts* add_other_reading() noexcept;
    // The unit that was added last is such a request, as far as its answer is framed by that.
    void note_asked(AskedRequest request) noexcept;
    // The packet belongs to an enforced service, and is changed so where it is forwarded.
    [[nodiscard]] Normalization& normalize() noexcept;
    // For texts that the frame does not hold: what the packet's share has left, and its first
    // bytes as a text.
    [[nodiscard]] std::span<std::byte> room() noexcept;
    [[nodiscard]] ByteView keep(std::size_t size) noexcept;
    // There is no room for a text of the packet.
    void refuse() noexcept;
    // The packet repeats what was refused: it is dropped where an enforcing rule is
    // concerned.
    void drop_repeat() noexcept;
    // The packet cannot be read: the first reason stands. In an enforced service it is
    // dropped, in one that monitors it is counted as what would be, and elsewhere it passes.
    void drop(Reason reason) noexcept;
    // There was no room for what came before: more of the packet changes nothing.
    [[nodiscard]] bool is_refused() const noexcept;
    // The packet's verdict is to stick to these bytes: UnitFinder::settle() is told.
    void remember(const StickyBytes& bytes) noexcept;
    // The packet's verdict sticks to a datagram in fragments; behind its own remember(), if any.
    void remember_datagram(std::uint64_t datagram, std::uint8_t carrier) noexcept;
    // The packet repeats these bytes, whose verdict will be known when it is the packet's turn:
    // UnitFinder::refused() is asked then.
    void follow(const StickyBytes& bytes) noexcept;
    void stick(const Stickiness& of) noexcept;
    // The packet's connection begins with a PROXY protocol header, which names this client; of no
    // version: the header was not seen.
    void note_client(const VersionedAddress& client) noexcept;
    // An answer to what came before the packet's units may still be on its way to their sender.
    void note_awaits() noexcept;
    // The id that the connection of the packet's hello began with.
    void note_quic_dcid(const ConnectionId& id) noexcept;
    // What became of the packet, for people.
    void count(UnitEvent event, std::uint32_t times = 1) noexcept;

private:
    void note_drop(Reason reason) noexcept;

    BurstUnits& units_;
    std::size_t row_;
    const ServicePacket& service_;
};

// The units of the packets of one burst, all memory for them allocated at once.
class BurstUnits {
public:
    explicit BurstUnits(UnitFinder finder, UnitRoom room = UnitRoom::Shares);
    ~BurstUnits();
    BurstUnits(const BurstUnits&) = delete;
    BurstUnits& operator=(const BurstUnits&) = delete;

    // A new burst.
    void clear() noexcept;

    // What the parser finds can change what such a rule does, or one of all rules.
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
    // Of rows that a rule is concerned with, those that find() is called for.
    [[nodiscard]] RowMask select(const UnitColumns& burst, RowMask rows) noexcept {
        return finder_.select == nullptr ? rows
                                         : finder_.select(finder_.parser, burst, rows, notes_);
    }
    [[nodiscard]] std::uint64_t note(std::size_t row) const noexcept { return notes_[row]; }
    // Nothing is known of the services that rows of the burst belong to.
    void forget_services() noexcept { services_.clear(); }
    // Rows that waited have what services() was given of them, under the rule set of now.
    void meet_again(const TrackedColumns& burst) noexcept {
        if (finder_.meet_again != nullptr) {
            finder_.meet_again(finder_.parser, burst, services_);
        }
    }
    // Follows the connections of services that rows of the burst belong to.
    void track(const TrackedColumns& burst, RowMask rows) noexcept {
        services_.clear();
        if (finder_.track != nullptr) {
            finder_.track(finder_.parser, burst, rows, services_);
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
    [[nodiscard]] const ServiceRowsOutcome& services() const noexcept { return services_; }
    [[nodiscard]] ServiceRowsOutcome& services() noexcept { return services_; }
    [[nodiscard]] const ServicePacket& service(std::size_t row) const noexcept {
        return services_.packets[row];
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
    [[nodiscard]] std::size_t count(std::size_t row) const noexcept { return counts_[row]; }

    // The rows that cannot be judged, and why; those of them that a service refuses.
    [[nodiscard]] RowMask unjudgeable() const noexcept { return unjudgeable_; }
    [[nodiscard]] RowMask unreadable() const noexcept { return unreadable_; }
    // Rows of services that monitor, which these would refuse, and why.
    [[nodiscard]] RowMask would_refuse() const noexcept { return would_refuse_; }
    [[nodiscard]] Reason why_would_refuse(std::size_t row) const noexcept {
        return would_why_[row];
    }
    [[nodiscard]] Reason why(std::size_t row) const noexcept { return why_[row]; }
    // The rows that repeat what another packet's verdict decides.
    [[nodiscard]] RowMask following() const noexcept { return following_; }
    void keep_following(RowMask rows) noexcept { following_ &= rows; }
    // Rows whose bytes remember what becomes of them.
    [[nodiscard]] RowMask remembered() const noexcept { return remembered_; }

    [[nodiscard]] Stickiness stickiness(std::size_t row) const noexcept {
        return {has_row(remembered_, row),
                has_row(following_, row),
                has_row(awaiting_, row),
                sticky_[row],
                followed_[row],
                quic_dcids_[row],
                has_row(services_.in_fragments, row) ? services_.ports[row] : DatagramPorts{},
                has_row(unjudgeable_, row),
                why_[row],
                {has_row(proxied_, row), clients_[row]}};
    }
    // The rows whose senders may still await an answer to what came before.
    [[nodiscard]] RowMask awaiting() const noexcept { return awaiting_; }

    // Of a row that completes a hello of QUIC.
    [[nodiscard]] ByteView quic_dcid(std::size_t row) const noexcept {
        return quic_dcids_[row].bytes();
    }

    // Tells the parser what became of rows that are remembered: those of `rows`, each once.
    void settle(const Burst& burst, RowMask rows, const MeterPlan& plan) noexcept;
    // Whether what a following row repeats was kept back, all rows before it being settled.
    [[nodiscard]] bool repeats_refused(std::size_t row) const noexcept {
        return finder_.refused(finder_.parser, followed_[row]);
    }

    // One unit of a packet.
    struct Unit {
        Per kind = Per::Request;
        bool is_other_reading = false;  // of the unit before it
        AskedRequest asked;             // of HTTP
        UnitTexts texts;
    };
    [[nodiscard]] const Unit& unit(std::size_t row, std::size_t number) const noexcept {
        return units_[first_unit_[row] + number];
    }

    // Gives each request of a trusted proxy its client.
    void name_clients(std::size_t row, const ProxiedClients& clients) noexcept;
    // The rows whose connections begin with a PROXY protocol header.
    [[nodiscard]] RowMask proxied() const noexcept { return proxied_; }
    // Gives such a row, and each of its units, the client that the header names.
    void name_proxied(std::size_t row, const ProxiedClients& clients,
                      HeaderColumns& headers) noexcept;
    // Gives each unit of a packet the texts that are made of its own.
    void derive_texts(std::size_t row, const DerivedTexts& derived) noexcept;
    // The texts that are made again whenever the packet's own are found.
    [[nodiscard]] TextFieldSet derived() const noexcept { return derived_; }

    // What the parser has counted since the burst began.
    [[nodiscard]] const std::array<std::uint32_t, kUnitEventCount>& events() const noexcept {
        return events_;
    }
    // Calls visit(event, times) for each event that was counted.
    template <typename Visit>
    void for_each_event(Visit&& visit) const {
        for (std::size_t i = 0; i < counted_events_; ++i) {
            visit(which_events_[i], events_[which_events_[i]]);
        }
    }

    // Adds a row for each further unit of a packet of the burst, which has been parsed.
    void add_further(const Burst& burst, std::size_t row) noexcept;
    // The bursts of further units that are in use.
    [[nodiscard]] std::span<Burst> further() noexcept;
    // Gives the rows of a further burst that has been parsed their texts.
    void set_texts(Burst& further) noexcept;
    // Where a unit of a packet is matched, keyed and located; the first one's is the packet's own.
    struct Place {
        Burst* burst = nullptr;
        std::size_t row = 0;
    };
    [[nodiscard]] Place place_of(Burst& burst, std::size_t row, std::size_t number) noexcept;
    // The rows of a further burst whose packets are in these rows.
    [[nodiscard]] RowMask rows_of(const Burst& further, RowMask packets) const noexcept;

    // What became of each unit, once its packet has been decided.
    [[nodiscard]] Decision& decision(std::size_t row, std::size_t number) noexcept {
        return decisions_[first_unit_[row] + number];
    }

    // Of the one packet that is decided: its units, and room for the matches and checks of all of
    // them. By rule, the latest of its matches, counted from 1 on; all 0 between packets.
    LazyArray<Match> matches = uninitialized_array<Match>(kUnitsUnderAnyRules * kMaxRules);
    LazyArray<LimitCheck> checks =
        uninitialized_array<LimitCheck>(kUnitsUnderAnyRules * kMaxLimits);
    std::array<JudgedUnit, kMaxUnits> judged;
    LazyArray<std::uint32_t> latest_match = zeroed_array<std::uint32_t>(kMaxRules);

private:
    friend class UnitSink;

    // One of several units, and not the first, of a packet.
    struct FurtherUnit {
        std::uint8_t row = 0;     // of the packet
        std::uint8_t number = 0;  // in it
    };
    static constexpr std::size_t kMostUnits = kMaxBurst + kMaxFurther;

    // A unit of the packet that is looked at.
    [[nodiscard]] Unit& unit_at(std::size_t row, std::size_t number) noexcept {
        return units_[first_unit_[row] + number];
    }
    void begin_row(std::size_t row) noexcept;
    // Units that the packet that is looked at may have.
    [[nodiscard]] std::size_t most_now() const noexcept;
    // A row that has too many units keeps none.
    void end_row(std::size_t row, UnitSink& sink) noexcept;
    [[nodiscard]] std::size_t first_of(const Burst& further) const noexcept;
    [[nodiscard]] UnitFate fate_of(const Decision& decision, const StickyBytes& bytes,
                                   const MeterPlan& plan) const noexcept;

    UnitFinder finder_;
    UnitRoom room_;
    ServiceRowsOutcome services_;
    std::uint64_t load_ = 0;
    std::size_t most_ = kMaxUnits;  // of a packet, under the rule set
    std::size_t rows_left_ = 0;     // to be read behind it
    RowMask crowded_out_ = 0;       // their units had no room beside those of others
    RowMask unjudgeable_ = 0;
    RowMask unreadable_ = 0;
    RowMask would_refuse_ = 0;
    RowMask following_ = 0;
    RowMask remembered_ = 0;
    RowMask awaiting_ = 0;
    RowMask proxied_ = 0;
    std::array<VersionedAddress, kMaxBurst> clients_{};  // of rows that are proxied
    std::array<Reason, kMaxBurst> why_{};
    std::array<Reason, kMaxBurst> would_why_{};
    std::array<StickyBytes, kMaxBurst> followed_{};
    std::array<StickyBytes, kMaxBurst> sticky_{};
    std::array<ConnectionId, kMaxBurst> quic_dcids_{};
    TextArena arena_;
    TextFieldSet derived_;
    bool refused_ = false;  // the packet that is looked at
    std::array<std::uint8_t, kMaxBurst> counts_{};
    std::array<std::uint32_t, kUnitEventCount> events_{};
    std::array<std::uint8_t, kUnitEventCount> which_events_{};  // those that are not 0
    std::size_t counted_events_ = 0;
    RowNotes notes_{};
    std::array<std::uint16_t, kMaxBurst> first_further_{};
    std::array<FurtherUnit, kMaxFurther> of_further_{};
    std::size_t further_count_ = 0;
    std::unique_ptr<Burst[]> further_;
    // A packet's lie one behind the other, those of the packet that was read first before all.
    std::array<std::uint16_t, kMaxBurst> first_unit_{};
    std::size_t unit_count_ = 0;  // of the packets that have been read
    LazyArray<Unit> units_ = uninitialized_array<Unit>(kMostUnits);
    LazyArray<Decision> decisions_ = uninitialized_array<Decision>(kMostUnits);
};

}  // namespace sluice
