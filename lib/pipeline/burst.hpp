#pragma once
#include "lib/pipeline/packet.hpp"
#include "lib/pipeline/scratch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Packets that go through the stages together, and what the stages note of them for one another.
class Burst {
public:
    bool add(const FrameView& frame, Direction dir, std::uint64_t port,
             void* buffer = nullptr) noexcept {
        if (size_ == kMaxBurst) {
            return false;
        }
        rows_[size_++].come(frame, dir, port, buffer);
        return true;
    }
    // The same for so many at once, at most kMaxBurst: whoever asks for these rows fills them.
    [[nodiscard]] std::span<Packet> take_rows(std::size_t count) noexcept {
        clear();
        size_ = count;
        return packets();
    }
    void clear() noexcept {
        size_ = 0;
        scratch_.forget();
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<Packet> packets() noexcept { return std::span{rows_}.first(size_); }
    [[nodiscard]] std::span<const Packet> packets() const noexcept {
        return std::span{rows_}.first(size_);
    }
    // Only the first ones stay.
    void shrink(std::size_t size) noexcept { size_ = size; }
    [[nodiscard]] Scratch& scratch() noexcept { return scratch_; }
    [[nodiscard]] const Scratch& scratch() const noexcept { return scratch_; }

private:
    std::array<Packet, kMaxBurst> rows_{};
    std::size_t size_{0};
    Scratch scratch_;
};

}  // namespace sluice
