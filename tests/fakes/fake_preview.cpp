#include "tests/fakes/fake_preview.hpp"

#include "lib/watch/trace/preview_tap.hpp"

#include <string>

namespace sluice {
namespace {

constexpr std::uint64_t kBytes = 100;

}  // namespace

std::uint64_t FakePreview::begin() {
    counted_ = {};
    return ++number_;
}

PreviewedPackets FakePreview::read(std::uint64_t number, std::uint8_t bits, std::int64_t utc_ns) {
    if (number != number_) {
        return {};
    }
    PreviewedPackets shown{.known = true, .judges = true, .generation = 1, .bits = bits};
    for (std::uint64_t group = 0; group <= kGroups; ++group) {
        const bool is_flood = group == kGroups;
        const std::uint64_t packets = is_flood ? kFlood : 1;
        const PreviewAmounts amounts{.packets = packets, .bytes = packets * kBytes};
        counted_ += amounts;
        const std::uint64_t digest = preview_digest(group + 1);
        if (digest <= ~std::uint64_t{0} >> bits) {
            shown.records.push_back({utc_ns, {digest, 0}, amounts});
            if (group % 10 != 9) {
                shown.keys.push_back({digest, is_flood ? "flood" : std::to_string(group)});
            }
        }
    }
    shown.counted = counted_;
    return shown;
}

}  // namespace sluice
