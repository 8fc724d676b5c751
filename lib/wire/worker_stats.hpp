#pragma once
#include "lib/base/stat_row.hpp"
#include "lib/bucket/table/table_event.hpp"
#include "lib/l7/stream/connection_event.hpp"
#include "lib/l7/stream/track/track_reason.hpp"
#include "lib/l7/stream/unit_event.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/peer/merge/counters.hpp"
#include "lib/peer/reserve/ask_event.hpp"
#include "lib/respond/act/answer_event.hpp"
#include "lib/rules/stage.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The figures that a worker gives of each of its parts.
namespace sluice {

// The time of a worker by stage, of one of its turns in kTurnsPerSample.
struct StageStats {
    std::array<std::uint64_t, kStageCount> cycles{};  // of the time-stamp counter
    std::uint64_t packets = 0;                        // of those turns
    std::uint64_t turns = 0;
    std::uint64_t cycles_per_second = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.cycles, m.packets, m.turns, m.cycles_per_second);
    }
};

inline constexpr std::size_t kConnectionEventCount = kConnectionEvents.size();
inline constexpr std::size_t kTrackEventCount = kTrackEvents.size();

// The connections that a worker remembers between their packets, and what happened to them.
struct ConnectionStats {
    std::array<std::uint64_t, kConnectionEventCount> by_event{};
    std::array<std::uint64_t, kUnreadKinds> unread{};  // by unread_kind()
    // Now:
    std::uint64_t connections = 0;
    std::uint64_t half_heads = 0;
    std::uint64_t held_lines = 0;
    std::uint64_t refused = 0;
    std::uint64_t given_up = 0;
    std::uint64_t quic_hellos = 0;
    std::uint64_t quic_half_hellos = 0;

    static void fields(auto& archive, auto& m) {
        serialize_rows(archive, m);
        archive(m.unread);
    }
};

template <>
inline constexpr auto kStatRows<ConnectionStats> = std::tuple{
    StatArrayRow{
        &ConnectionStats::by_event,
        kConnectionEvents,
        "connection_events",
        {"sluice_connection_events_total", "What happened to connections, by name:", "event"}},
    StatRow{&ConnectionStats::connections,
            {"connections"},
            {"sluice_connections", "Connections that are remembered."}},
    StatRow{&ConnectionStats::half_heads,
            {"half_heads"},
            {"sluice_half_heads", "Heads of requests that are not whole yet."}},
    StatRow{&ConnectionStats::held_lines,
            {"held_lines"},
            {"sluice_held_lines", "Lines of 64 bytes that hold heads which are not whole."}},
    StatRow{&ConnectionStats::refused,
            {"refused_connections"},
            {"sluice_refused_connections", "Connections that a refusal sticks to."}},
    StatRow{&ConnectionStats::given_up,
            {"given_up_connections"},
            {"sluice_given_up_connections", "Connections whose head was given up."}},
    StatRow{&ConnectionStats::quic_hellos,
            {"quic_hellos"},
            {"sluice_quic_hellos",
             "What is remembered of hellos over QUIC: connections that were judged, half hellos "
             "and those given up."}},
    StatRow{&ConnectionStats::quic_half_hellos,
            {"quic_half_hellos"},
            {"sluice_quic_half_hellos", "Hellos over QUIC that are not whole yet."}},
};

// The questions that a worker has asked owners of keys, and those that it answered as one.
struct AskStats {
    std::array<std::uint64_t, kAskEventCount> by_event{};
    // Now:
    std::uint64_t waiting = 0;
    std::uint64_t reservations = 0;

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

template <>
inline constexpr auto kStatRows<AskStats> = std::tuple{
    StatArrayRow{
        &AskStats::by_event,
        kAskEvents,
        "ask_events",
        {"sluice_ask_events_total", "Questions of workers to the owners of keys:", "event"}},
    StatRow{&AskStats::waiting,
            {"waiting_packets"},
            {"sluice_ask_waiting_packets", "Packets that wait for owners of their keys."}},
    StatRow{&AskStats::reservations,
            {"reservations"},
            {"sluice_ask_reservations",
             "What owners of keys have promised and nobody has settled yet."}},
};

// The packets that a worker holds until their departures, now, and the most that it may hold.
struct ShapeStats {
    std::uint64_t held = 0;
    std::uint64_t room = 0;

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

template <>
inline constexpr auto kStatRows<ShapeStats> = std::tuple{
    StatRow{&ShapeStats::held,
            {"held_packets"},
            {"sluice_held_packets", "Packets that are held until their departures."}},
    StatRow{&ShapeStats::room,
            {"held_room"},
            {"sluice_held_room", "The most buffers of packets that may be held."}},
};

// One worker: numbers since its start, and what there is now.
struct WorkerStats {
    std::uint32_t lcore = 0;
    std::uint64_t bursts = 0;      // heartbeat: grows while the worker runs
    std::uint64_t stalled_ms = 0;  // 0: alive; else for how long no burst was seen
    std::uint64_t stalls = 0;      // how often the watchdog saw it stall
    std::array<std::uint64_t, kVerdictCount> by_verdict{};
    std::array<std::uint64_t, kVerdictCount> bytes_by_verdict{};  // of the frames on the wire
    std::array<std::uint64_t, kReasonCount> by_reason{};
    std::array<std::uint64_t, kTableEventCount> by_table_event{};
    std::array<std::uint64_t, kUnitEventCount> by_unit_event{};
    std::array<std::uint64_t, kAnswerEventCount> by_answer_event{};
    std::array<std::uint64_t, kReasonCount> would_refuse{};  // by services that monitor
    std::array<std::uint64_t, kTrackEventCount> by_track_event{};
    ConnectionStats connections;
    AskStats asks;
    ShapeStats shaping;
    std::uint64_t table_slots = 0;
    std::uint64_t table_entries = 0;    // live, as far as it has seen them end
    std::uint64_t table_evictions = 0;  // that have gone
    std::uint64_t handed_over = 0;      // frames that it received for other workers
    std::array<std::uint64_t, kLedgerEventCount> by_ledger_event{};
    std::vector<std::string> lanes;  // "uplink in q0": what it receives
    StageStats stages;

    static void fields(auto& archive, auto& m) {
        serialize_rows(archive, m);
        archive(m.connections, m.asks, m.shaping, m.by_ledger_event, m.lanes, m.stages);
    }
};

template <>
inline constexpr auto kStatRows<WorkerStats> = std::tuple{
    StatRow{&WorkerStats::lcore, {"lcore"}},
    StatRow{&WorkerStats::bursts,
            {"bursts"},
            {"sluice_worker_rounds_total", "Rounds of a worker over its queues: its heartbeat."}},
    StatRow{&WorkerStats::stalled_ms,
            {"stalled_ms"},
            {.family = "sluice_worker_stalled_seconds",
             .help = "For how long a worker has stood still; 0 while it runs.",
             .divisor = 1'000}},
    StatRow{&WorkerStats::stalls,
            {"stalls"},
            {"sluice_worker_stalls_total", "How often a worker was seen to stall."}},
    StatRow{&WorkerStats::handed_over,
            {"handed_over"},
            {"sluice_worker_handed_over_total",
             "Frames that a worker received and passed on to the worker they belong to."}},
    StatRow{&WorkerStats::table_slots,
            {"table_slots"},
            {"sluice_worker_table_slots", "Places in a worker's bucket table."}},
    StatRow{&WorkerStats::table_entries,
            {"table_entries"},
            {"sluice_worker_table_entries",
             "Live buckets in a worker's tables, as far as it has seen them end."}},
    StatRow{&WorkerStats::table_evictions,
            {"table_evictions"},
            {"sluice_worker_table_evictions_total",
             "Buckets that had nothing to say any more and went from a worker's tables."}},
    StatArrayRow{&WorkerStats::by_verdict,
                 kVerdictNames,
                 "verdicts",
                 {"sluice_packets_total", "Packets by what happened to them.", "verdict"}},
    StatArrayRow{&WorkerStats::bytes_by_verdict,
                 kVerdictNames,
                 "verdict_bytes",
                 {"sluice_bytes_total",
                  "Bytes of frames on the wire by what happened to their packets.", "verdict"}},
    StatArrayRow{
        &WorkerStats::by_reason,
        kReasons,
        "reasons",
        {"sluice_packet_reasons_total", "Packets by the reason of their verdict:", "reason"}},
    StatArrayRow{
        &WorkerStats::by_table_event,
        kTableEvents,
        "table",
        {"sluice_table_events_total", "Keys without a bucket, and open connections:", "event"}},
    StatArrayRow{
        &WorkerStats::by_unit_event,
        kUnitEvents,
        "units",
        {"sluice_units_total", "What was found of later layers where rules read them:", "event"}},
    StatArrayRow{
        &WorkerStats::by_answer_event,
        kAnswerEvents,
        "answers",
        {"sluice_answers_total", "What the box sent in somebody's name, or did not:", "event"}},
    StatArrayRow{&WorkerStats::would_refuse,
                 kReasons,
                 "would_refuse",
                 {"sluice_would_refuse_total",
                  "Packets that services in monitor mode would refuse, by reason:", "reason"}},
    StatArrayRow{&WorkerStats::by_track_event,
                 kTrackEvents,
                 "tracking",
                 {"sluice_service_events_total",
                  "What happened to connections of declared services:", "event"}},
};

}  // namespace sluice
