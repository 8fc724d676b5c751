#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The ends of host names under which anybody may register names (publicsuffix.org), compiled: what
// crosses the wire, and what a worker asks.
namespace sluice {

// A rule of the list, with what else begins at the same name.
struct SuffixRule {
    static constexpr std::uint8_t kExact = 1;      // `co.uk`
    static constexpr std::uint8_t kWildcard = 2;   // `*.ck`: every name right below it, and `ck`
    static constexpr std::uint8_t kException = 4;  // `!www.ck`: a registered name nevertheless

    std::string name;  // lower-case, in A-labels (RFC 5890), without the `*.` or `!`
    std::uint8_t kinds = 0;

    [[nodiscard]] bool operator==(const SuffixRule&) const noexcept = default;
};

// Bounds on the table that is built from a message: the list has a tenth of them today.
inline constexpr std::size_t kMaxSuffixRules = std::size_t{1} << 17;
inline constexpr std::size_t kMaxHostName = 253;  // bytes (RFC 1035)

// True if the names are host names, each is there once, and their number is within its bound.
[[nodiscard]] bool are_sound(const std::vector<SuffixRule>& rules);

// Immutable. Rules are found by hashing the ends of a name, label by label from the right.
class PublicSuffixes {
public:
    // `rules` are sound.
    explicit PublicSuffixes(const std::vector<SuffixRule>& rules);

    // The part of a host name that was registered: the longest public suffix and one label more.
    // The whole of it where there is no such part: of a public suffix itself, a name of one label,
    // an address. `host` is lower-case and has no dot at its end; a dot behind a backslash is a
    // part of its label, as names in DNS are written (RFC 1035, 5.1).
    [[nodiscard]] std::string_view registrable_domain(std::string_view host) const noexcept;

private:
    struct Slot {
        std::uint32_t tag = 0;   // the upper half of the name's hash
        std::uint32_t at = 0;    // of the name in names_, whose first byte is its length
        std::uint8_t kinds = 0;  // 0: empty
    };

    [[nodiscard]] std::uint8_t kinds_of(std::string_view name, std::uint64_t hash) const noexcept;
    void put(const SuffixRule& rule);

    std::vector<Slot> slots_;  // a power of two, at most half of them taken
    std::string names_;
    std::size_t most_labels_ = 0;  // of any rule
};

}  // namespace sluice
