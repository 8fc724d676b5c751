#include "lib/wire/frame_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr std::size_t kHeadSize = sizeof(std::uint32_t);

}  // namespace

// Bytes that were read are dropped here, once for all messages of the last feed: a flood of tiny
// ones does not move the rest each time.
void FrameBuffer::feed(ByteView bytes) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(read_));
    read_ = 0;
    const std::size_t skipped = std::min(skip_, bytes.size());
    skip_ -= skipped;
    bytes = bytes.subspan(skipped);
    held_.insert(held_.end(), bytes.begin(), bytes.end());
}

std::optional<std::vector<std::byte>> FrameBuffer::next() {
    if (left() < kHeadSize || broken() || left() - kHeadSize < announced()) {
        return std::nullopt;
    }
    const std::byte* first = held_.data() + read_ + kHeadSize;
    std::vector<std::byte> payload{first, first + announced()};
    read_ += kHeadSize + payload.size();
    return payload;
}

std::size_t FrameBuffer::incoming() const noexcept {
    const bool inside = left() >= kHeadSize && left() - kHeadSize < announced();
    return inside && !broken() ? announced() : 0;
}

void FrameBuffer::skip() noexcept {
    if (const std::size_t size = incoming(); size != 0) {
        skip_ = kHeadSize + size - left();
        held_ = {};
        read_ = 0;
    }
}

bool FrameBuffer::broken() const noexcept {
    return left() >= kHeadSize && announced() > most_;
}

std::uint32_t FrameBuffer::announced() const noexcept {
    std::uint32_t size = 0;
    std::memcpy(&size, held_.data() + read_, sizeof(size));
    return size;
}

}  // namespace sluice
