#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Values of one head's headers, or of its cookies, beside the first and the last of each, every one
// once.
class FurtherValues {
public:
    // An honest client and the proxies on its way, each with a line, add no more, nor does a
    // browser with cookies of one name for several paths.
    static constexpr std::size_t kMost = 4;
    struct Value {
        std::uint8_t place = 0;  // among WantedHeaders
        ByteView text;
    };

    void add(std::uint8_t place, ByteView text) noexcept {
        const bool is_known = std::ranges::any_of(values(), [&](const Value& known) {
            return known.place == place && http1::as_text(known.text) == http1::as_text(text);
        });
        if (is_known) {
            return;
        }
        is_cut_ = is_cut_ || count_ == kMost;
        if (count_ < kMost) {
            values_[count_++] = {place, text};
        }
    }
    void clear() noexcept {
        count_ = 0;
        is_cut_ = false;
    }
    [[nodiscard]] std::span<const Value> values() const noexcept {
        return {values_.data(), count_};
    }
    // There are more than are kept.
    [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

private:
    std::uint32_t count_ = 0;
    bool is_cut_ = false;
    std::array<Value, kMost> values_{};
};

}  // namespace sluice
