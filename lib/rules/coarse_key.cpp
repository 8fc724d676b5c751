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

bool is_address(const KeyPart& part) noexcept {
    return row_of(part.field).kind == FieldKind::Address;
}

bool same(ByteView a, ByteView b) noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

CoarseKeys::CoarseKeys(const GroupingKey& key, MissingKey missing, const Flow& flow,
                       ByteView frame) noexcept {
    KeyBytes own;
    (void)key_of(key, missing, flow, frame, own);
    ByteView finer = own.view();
    std::array<KeyPart, kMaxKeyParts> parts;
    const std::span<KeyPart> widened{parts.data(), key.size()};
    std::copy(key.begin(), key.end(), widened.begin());
    for (const Widening& widening : kWidenings) {
        for (KeyPart& part : widened) {
            if (is_address(part)) {
                part.v4_length = std::min(part.v4_length, widening.v4);
                part.v6_length = std::min(part.v6_length, widening.v6);
            }
        }
        KeyBytes& wider = keys_[size_];
        (void)key_of(widened, missing, flow, frame, wider);
        if (!same(wider.view(), finer)) {
            finer = wider.view();
            ++size_;
        }
    }
}

std::uint8_t rule_step(const GroupingKey& key) noexcept {
    std::uint8_t v4 = 0;
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    for (const KeyPart& part : key) {
        if (is_address(part)) {
            v4 = part.v4_length > kWidenings[0].v4 ? 1 : v4;
            first = part.v6_length > kWidenings[0].v6 ? 1 : first;
            second = part.v6_length > kWidenings[1].v6 ? 1 : second;
        }
    }
    return static_cast<std::uint8_t>(1 + std::max<int>(v4, first + second));
}

}  // namespace sluice
