#include "lib/rules/network_bans.hpp"

#include "lib/rules/group.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace sluice {
KeyNetwork network_of_key(ByteView key) noexcept {
    const KeyPartHeader header = address_header_of(key);
    return {header.version, header.prefix_length};
}

bool are_sound_networks(const KeyOverrides& networks, const Overrides& all) noexcept {
    std::array<std::array<bool, 129>, 2> seen{};
    std::array<std::size_t, 2> lengths{};
    for (std::size_t row = 0; row < networks.rows.size(); ++row) {
        const KeyNetwork network = network_of_key(networks.key(row));
        if (network.version == 0 || !all.plans[networks.rows[row].plan].banned) {
            return false;
        }
        const std::size_t version = network.version == 4 ? 0 : 1;
        lengths[version] += seen[version][network.length] ? 0U : 1U;
        seen[version][network.length] = true;
    }
    return networks.rows.size() <= kMaxBannedNetworks && lengths[0] <= kMaxNetworkLengths &&
           lengths[1] <= kMaxNetworkLengths;
}

NetworkBans::Wider::Wider(ByteView key, std::uint8_t length) noexcept : size_{key.size()} {
    KeyPartHeader header;
    std::memcpy(&header, key.data(), sizeof(header));
    header.prefix_length = length;
    std::memcpy(bytes_.data(), &header, sizeof(header));
    for (std::size_t i = 0; i < header.size; ++i) {
        const std::size_t kept = std::clamp<std::size_t>(length, 8 * i, 8 * i + 8) - 8 * i;
        const auto mask = static_cast<std::byte>(0xFF00U >> kept);
        bytes_[sizeof(header) + i] = key[sizeof(header) + i] & mask;
    }
}

NetworkBans::NetworkBans(const KeyOverrides& networks, const Overrides& all,
                         const HashSecret& secret)
    : table_{networks, all, secret}, hash_{secret} {
    for (std::size_t row = 0; row < networks.rows.size(); ++row) {
        add(network_of_key(networks.key(row)));
    }
    for (Lengths& lengths : lengths_) {
        std::sort(lengths.all.begin(), lengths.all.begin() + lengths.count, std::greater{});
    }
}

void NetworkBans::add(KeyNetwork network) noexcept {
    Lengths& lengths = lengths_[network.version == 4 ? 0 : 1];
    const auto known = lengths.view();
    if (network.version != 0 && lengths.count < kMaxNetworkLengths &&
        std::find(known.begin(), known.end(), network.length) == known.end()) {
        lengths.all[lengths.count++] = network.length;
    }
}

}  // namespace sluice
