#pragma once
#include "lib/packet/payload_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Changes that normalising makes to a frame that is forwarded.
class Normalization {
public:
    static constexpr std::size_t kMostLines = 4;

    bool clears_urgent = false;
    bool clears_options = false;  // TCP options of unknown kinds become padding
    // A probe goes on without its bytes, and with a number that its server is long past, which
    // answers by the one that it expects (RFC 9293, 3.10.7.4).
    bool is_probe = false;
    std::uint8_t raises_to = 0;  // its time to live from then on; 0: as it came

    // The header lines in these bytes become such as no server knows, of the same length. At most
    // kMostLines, each once.
    void void_line(PayloadRange line) noexcept {
        for (const PayloadRange& known : voided()) {
            if (known.begin == line.begin && known.end == line.end) {
                return;
            }
        }
        if (count_ < kMostLines) {
            lines_[count_++] = line;
        }
    }
    [[nodiscard]] std::span<const PayloadRange> voided() const noexcept {
        return std::span{lines_}.first(count_);
    }
    [[nodiscard]] bool any() const noexcept {
        return clears_urgent || clears_options || is_probe || raises_to != 0 || count_ != 0;
    }

private:
    std::uint8_t count_ = 0;
    std::array<PayloadRange, kMostLines> lines_{};
};

}  // namespace sluice
