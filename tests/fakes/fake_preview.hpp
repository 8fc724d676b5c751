#pragma once
#include "lib/wire/preview_messages.hpp"

#include <cstdint>

namespace sluice {

// A dataplane's end of previews: the one that began last. Each time it is read, a thousand groups
// have sent a packet of 100 bytes each, and group `flood` a hundred, all at `utc_ns`; a tenth of
// the groups have no name.
class FakePreview {
public:
    static constexpr std::uint64_t kFirstNumber = 100;
    static constexpr std::uint64_t kGroups = 1'000;
    static constexpr std::uint64_t kFlood = 100;

    // The number of the new one.
    [[nodiscard]] std::uint64_t begin();
    [[nodiscard]] PreviewedPackets read(std::uint64_t number, std::uint8_t bits,
                                        std::int64_t utc_ns);

private:
    std::uint64_t number_ = kFirstNumber - 1;
    PreviewAmounts counted_;
};

}  // namespace sluice
