#pragma once
#include "lib/base/bytes.hpp"
#include "lib/load/quick_rule.hpp"
#include "lib/packet/flow.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sluice {

// The canonical bytes of a key that is an address, once more: of a rule of which keys have
// overrides, and a flow of a version that it keys quickly.
class AddressKey {
public:
    AddressKey(const QuickRule& rule, const Flow& flow) noexcept {
        const std::byte* address = rule.address_in(flow);
        if (flow.ip_version == rule.overridden_v4) {
            std::uint32_t word;
            std::memcpy(&word, address, sizeof(word));
            write(rule.v4_header | std::uint64_t{word & rule.v4_mask} << 32);
        } else {
            std::array<std::uint64_t, 2> words;
            std::memcpy(&words, address, sizeof(words));
            const std::uint64_t low = words[0] & rule.v6_mask[0];
            const std::uint64_t high = words[1] & rule.v6_mask[1];
            write(rule.v6_header | low << 32, low >> 32 | high << 32,
                  static_cast<std::uint32_t>(high >> 32));
        }
    }
    operator ByteView() const noexcept { return std::span{bytes_}.first(size_); }

private:
    // In words, as the hash reads them: a load that spans two stores waits for both.
    void write(const auto&... pieces) noexcept {
        ((std::memcpy(bytes_.data() + size_, &pieces, sizeof(pieces)), size_ += sizeof(pieces)),
         ...);
    }

    // Only what has been written is read.
    std::array<std::byte, 20> bytes_;
    std::size_t size_ = 0;
};

}  // namespace sluice
