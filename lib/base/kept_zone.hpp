#pragma once
#include "lib/base/zone_offsets.hpp"

#include <cstddef>

namespace sluice {

// A zone's offsets that stay in one place until the process ends, so that the numbers of limits,
// which are copied as they lie, can name them and never look for their owner. Equal ones are kept
// once, and none is given up, be it of rules that are refused or only checked.
class KeptZone {
public:
    static constexpr std::size_t kMost = 1024;

    KeptZone() = default;
    // Names none if the process has kMost already.
    [[nodiscard]] static KeptZone keep(ZoneOffsets offsets);

    [[nodiscard]] explicit operator bool() const noexcept { return offsets_ != nullptr; }
    [[nodiscard]] const ZoneOffsets& operator*() const noexcept { return *offsets_; }
    [[nodiscard]] const ZoneOffsets* operator->() const noexcept { return offsets_; }
    [[nodiscard]] bool operator==(const KeptZone&) const noexcept = default;

private:
    explicit KeptZone(const ZoneOffsets* offsets) noexcept : offsets_{offsets} {}

    const ZoneOffsets* offsets_ = nullptr;
};

}  // namespace sluice
