#pragma once
#include "lib/base/result.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/policy/keys/key_range.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The subject of GET /v1/find, in the spelling that packets have.
struct Sought {
    enum class Kind : std::uint8_t { Address, Network, Range, Host, Key };

    Kind kind = Kind::Key;
    std::string text;
    IpPrefix network{};  // of Address and Network; of a Range the smallest that has all of it
    IpAddress first{};   // of all three
    IpAddress last{};
    // The IPv4 address that is written in one of IPv6; empty: there is none.
    std::string inside{};

    [[nodiscard]] bool has_network() const noexcept { return kind <= Kind::Range; }
};
inline constexpr std::string_view kSoughtNames[] = {"address", "network", "range", "host", "key"};

inline constexpr std::size_t kMostSought = 2048;  // bytes

// An address, a network, a range, the name of a host, or a key as `part|part`. An Error says what
// it is instead, and what was meant where that is known: host bits, a port behind a host, an IDN.
[[nodiscard]] Result<Sought> read_sought(std::string_view text);

// True if a network, or a range of keys, has an address of what is sought.
[[nodiscard]] bool meets(const IpPrefix& network, const Sought& sought) noexcept;
[[nodiscard]] bool meets(const KeyRange& range, const Sought& sought) noexcept;

// True if a part of the key, by its canonical bytes, is what is sought: an address or network that
// overlaps with it, or the text.
[[nodiscard]] bool has_part(const GroupingKey& key, ByteView bytes, const Sought& sought);

// True if keys of this form that concern what is sought can have parts that it does not say: they
// are found among keys that are known by name.
[[nodiscard]] bool leaves_open(const GroupingKey& key, const Sought& sought);

}  // namespace sluice
