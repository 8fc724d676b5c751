#include "lib/rules/coarse_key.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

struct Widening {
    std::uint8_t v4;
    std::uint8_t v6;
};
constexpr std::array<Widening, CoarseKeys::kMost> kWidenings{{{24, 64}, {24, 48}}};

bool same(ByteView a, ByteView b) noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// The same key with its addresses cut to a network.
void widen(ByteView finer, const Widening& widening, KeyBytes& wider) noexcept {
    wider.clear();
    while (finer.size() > sizeof(KeyPartHeader)) {
        KeyPartHeader header;
        std::memcpy(&header, finer.data(), sizeof(header));
        const ByteView value = finer.subspan(sizeof(header), header.size);
        if (header.version != 0) {
            VersionedAddress address{static_cast<IpVersion>(header.version), {}};
            std::memcpy(address.address.bytes.data(), value.data(), value.size());
            wider.append_address(
                {static_cast<Field>(header.field), std::min(header.prefix_length, widening.v4),
                 std::min(header.prefix_length, widening.v6)},
                address);
        } else {
            wider.append(finer.first(sizeof(header) + header.size));
        }
        finer = finer.subspan(sizeof(header) + header.size);
    }
    wider.append(finer);  // a shared key is one byte, and no wider
}

}  // namespace

CoarseKeys::CoarseKeys(ByteView key) noexcept {
    for (const Widening& widening : kWidenings) {
        KeyBytes& wider = keys_[size_];
        widen(key, widening, wider);
        if (!same(wider.view(), key)) {
            key = wider.view();
            ++size_;
        }
    }
}

CoarseKeys::CoarseKeys(const GroupingKey& key, MissingKey missing, const PacketHeaders& headers,
                       ByteView frame) noexcept
    : CoarseKeys{[&] {
          KeyBytes own;
          (void)key_of(key, missing, headers, frame, own);
          return own;
      }()
                     .view()} {}

std::array<GroupingKey, CoarseKeys::kMost> widened(const GroupingKey& key) {
    std::array<GroupingKey, CoarseKeys::kMost> wider;
    for (std::size_t step = 0; step < wider.size(); ++step) {
        wider[step] = key;
        for (KeyPart& part : wider[step]) {
            if (part.is_address()) {
                part.v4_length = std::min(part.v4_length, kWidenings[step].v4);
                part.v6_length = std::min(part.v6_length, kWidenings[step].v6);
            }
        }
    }
    return wider;
}

namespace {

// The owner of a part's address: those of one owner have one IP version in a packet.
enum class Owner : std::uint8_t { None, Packet, OuterPacket, Client };
Owner owner_of(Field field) noexcept {
    switch (field) {
        case Field::OuterIpSrc:
        case Field::OuterIpDst:
            return Owner::OuterPacket;
        case Field::ClientIp:
        case Field::ProxiedClient:
            return Owner::Client;
        default:
            return Owner::Packet;
    }
}

}  // namespace

std::uint8_t rule_level(const GroupingKey& key) noexcept {
    std::uint8_t v4 = 0;
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    Owner owner = Owner::None;
    bool may_mix = false;
    for (const KeyPart& part : key) {
        if (part.is_address()) {
            v4 = part.v4_length > kWidenings[0].v4 ? 1 : v4;
            first = part.v6_length > kWidenings[0].v6 ? 1 : first;
            second = part.v6_length > kWidenings[1].v6 ? 1 : second;
            may_mix = may_mix || (owner != Owner::None && owner != owner_of(part.field));
            owner = owner_of(part.field);
        }
    }
    const int of_one_version = std::max<int>(v4, first + second);
    const int of_both = std::max<int>(v4, first) + second;
    return static_cast<std::uint8_t>(1 + (may_mix ? of_both : of_one_version));
}

}  // namespace sluice
