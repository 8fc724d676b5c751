#pragma once
#include "lib/rules/override_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The length of an address in a key of one part, as its canonical bytes say it.
struct KeyNetwork {
    std::uint8_t version = 0;  // 4 or 6; 0: these are no bytes of such a key
    std::uint8_t length = 0;
};
[[nodiscard]] KeyNetwork network_of_key(ByteView key) noexcept;

// The addresses of a network of this length, but one.
[[nodiscard]] constexpr Wide addresses_but_one(std::uint8_t version, unsigned length) noexcept {
    const unsigned bits = (version == 4 ? 32 : 128) - length;
    return bits == 128 ? ~Wide{0} : (Wide{1} << bits) - 1;
}

// True if each row is the key of a network, and banned; of as many lengths as NetworkBans probes.
[[nodiscard]] bool are_sound_networks(const KeyOverrides& networks, const Overrides& all) noexcept;

// Networks that are banned under a key of one address: a probe for each length that any of them
// has, of which there are kMaxNetworkLengths at most, however many networks there are.
class NetworkBans {
public:
    NetworkBans(const KeyOverrides& networks, const Overrides& all, const HashSecret& secret);

    // The plans of the networks that the key lies in, the longest first, each with the number of
    // its addresses but one.
    template <typename Visit>
    void for_each(ByteView key, Visit&& visit) const noexcept {
        const KeyNetwork of = network_of_key(key);
        if (of.version == 0) {
            return;
        }
        for (const std::uint8_t length : lengths_[of.version == 4 ? 0 : 1].view()) {
            if (length > of.length) {
                continue;
            }
            const Wider wider{key, length};
            const OverridePlan* plan =
                table_.find(hash_.digest(wider.view()), [&]() noexcept { return wider.view(); });
            if (plan != nullptr) {
                visit(*plan, addresses_but_one(of.version, length));
            }
        }
    }
    [[nodiscard]] bool has(ByteView key) const noexcept {
        bool any = false;
        for_each(key, [&](const OverridePlan&, Wide) { any = true; });
        return any;
    }
    [[nodiscard]] std::uint64_t name() const noexcept { return table_.name(); }

private:
    struct Lengths {
        std::array<std::uint8_t, kMaxNetworkLengths> all{};
        std::size_t count = 0;
        [[nodiscard]] std::span<const std::uint8_t> view() const noexcept {
            return std::span{all}.first(count);
        }
    };
    // The bytes of the key's network of some length.
    class Wider {
    public:
        Wider(ByteView key, std::uint8_t length) noexcept;
        [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes_}.first(size_); }

    private:
        std::array<std::byte, 20> bytes_;
        std::size_t size_;
    };
    void add(KeyNetwork network) noexcept;

    std::array<Lengths, 2> lengths_;  // IPv4, IPv6; the longest first
    OverrideTable table_;
    KeyHasher hash_;
};

}  // namespace sluice
