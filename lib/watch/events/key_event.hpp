#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// Events told of one key. `Lost` stands in the place of events that could not be told. `Bridged` is
// told of a pair: the kernel forwarded its frames while no box took them. `ChecksumsTrusted` of a
// side of a service: its checksums are not verified from then on. `DebtsForgiven` of one key, by
// its reset, or of all that have been forgiven under a rule set since the last one.
enum class KeyEventKind : std::uint8_t {
    LimitStart,
    LimitEnd,
    Refill,
    BanStart,
    BanEnd,
    Lost,
    Bridged,
    ChecksumsTrusted,
    DebtsForgiven
};
inline constexpr auto kKeyEventKindNames =
    std::to_array<std::string_view>({"limit_start", "limit_end", "refill", "ban_start", "ban_end",
                                     "lost", "bridged", "checksums_trusted", "debts_forgiven"});
inline constexpr std::size_t kKeyEventKindCount = kKeyEventKindNames.size();

// One event, as those are told of it who follow them.
struct KeyEvent {
    std::uint64_t number = 0;  // one more than that of the event before it
    KeyEventKind kind = KeyEventKind::LimitStart;
    std::int64_t utc_ns = 0;  // when it was, since 1970
    // LimitStart: until the key is admitted again; the largest number: never, or not known here.
    // LimitEnd: from its start to the last refusal. BanStart: the ban's length.
    std::int64_t for_ns = 0;
    std::uint32_t lcore = 0;    // of the worker that saw it
    std::uint64_t lost = 0;     // of Lost: how many
    std::uint64_t packets = 0;  // of Bridged: how many; of DebtsForgiven: buckets
    std::string rule{};         // empty: of none, or of DebtsForgiven by a rule set
    std::string limit{};        // empty: a ban; of ChecksumsTrusted: "clients" or "servers"
    std::string key{};  // its text, part|part; of Bridged the pair, of ChecksumsTrusted the service

    [[nodiscard]] bool operator==(const KeyEvent&) const = default;
};

}  // namespace sluice
