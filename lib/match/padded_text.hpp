#pragma once
#include "lib/base/bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace sluice {

// Hyperscan 5.4.0 reads past the end of what it scans and faults where the next page is not mapped.
// With 8 readable bytes behind the end no fault was seen; a vector register's width is the promise.
inline constexpr std::size_t kTextPadding = 64;
// A longer text is scanned up to here: more than any IP packet has payload.
inline constexpr std::size_t kMaxScannedText = 65'535;

// A text that may be scanned: at least kTextPadding bytes behind its end can be read. Made by a
// PaddingBuffer alone.
class PaddedText {
public:
    [[nodiscard]] ByteView bytes() const noexcept { return bytes_; }

private:
    friend class PaddingBuffer;
    explicit PaddedText(ByteView bytes) noexcept : bytes_{bytes} {}
    ByteView bytes_;
};

// Room to which texts without such bytes behind them are copied, one at a time. One per worker.
class PaddingBuffer {
public:
    // `readable_behind`: so many bytes behind the end of the text can be read. What comes back is
    // good for as long as the text is, and until the next call.
    [[nodiscard]] PaddedText pad(ByteView text, std::size_t readable_behind) noexcept {
        const ByteView scanned = text.first(std::min(text.size(), kMaxScannedText));
        if (readable_behind + (text.size() - scanned.size()) >= kTextPadding && !text.empty()) {
            return PaddedText{scanned};
        }
        if (!scanned.empty()) {
            std::memcpy(bytes_.get(), scanned.data(), scanned.size());
        }
        return PaddedText{{bytes_.get(), scanned.size()}};
    }

private:
    std::unique_ptr<std::byte[]> bytes_ =
        std::make_unique<std::byte[]>(kMaxScannedText + kTextPadding);
};

}  // namespace sluice
