#pragma once
#include "lib/base/wide.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sluice::bench {

// A list of networks as feeds of them are: three in five IPv4, mostly /24 and single addresses;
// IPv6 within 2000::/3, mostly /48 and /64. The same for the same seed.
class LargeList {
public:
    LargeList(std::size_t entries, std::uint64_t seed) : random_{seed} {
        text_.reserve(entries * 22);
        for (std::size_t i = 0; i < entries; ++i) {
            random_() % 5 < 3 ? add_v4() : add_v6();
        }
    }

    [[nodiscard]] const std::string& text() const { return text_; }
    // An address inside of each network.
    [[nodiscard]] const std::vector<IpAddress>& v4() const { return v4_; }
    [[nodiscard]] const std::vector<IpAddress>& v6() const { return v6_; }

private:
    static constexpr std::uint8_t kV4Lengths[] = {24, 24, 24, 24, 24, 32, 32, 32, 32, 20, 22, 28};
    static constexpr std::uint8_t kV6Lengths[] = {48, 48, 48, 48, 48, 64, 64, 64, 64, 32, 40, 128};

    static IpAddress address_of(Wide value, std::size_t size) {
        IpAddress address;
        for (std::size_t i = size; i-- > 0; value >>= 8) {
            address.bytes[i] = static_cast<std::byte>(value & 0xFF);
        }
        return address;
    }
    void add_v4() {
        const std::uint8_t length = kV4Lengths[random_() % std::size(kV4Lengths)];
        const IpAddress inside = address_of(random_() & 0xFFFF'FFFF, 4);
        add(IpVersion::V4, masked(inside, length), length);
        v4_.push_back(inside);
    }
    void add_v6() {
        const std::uint8_t length = kV6Lengths[random_() % std::size(kV6Lengths)];
        const Wide low = (Wide{random_()} << 64) | random_();
        const IpAddress inside = address_of((Wide{1} << 125) | (low >> 3), 16);
        add(IpVersion::V6, masked(inside, length), length);
        v6_.push_back(inside);
    }
    void add(IpVersion version, const IpAddress& network, unsigned length) {
        text_ += to_text(version, network) + "/" + std::to_string(length) + "\n";
    }

    std::mt19937_64 random_;
    std::string text_;
    std::vector<IpAddress> v4_;
    std::vector<IpAddress> v6_;
};

}  // namespace sluice::bench
