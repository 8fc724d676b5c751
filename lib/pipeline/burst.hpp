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
    // Where a frame came in: the side of the pair, and port_name() of the pair.
    bool add(FrameView frame, Direction dir, std::uint64_t port, void* buffer = nullptr) noexcept {
        if (size_ == kMaxBurst) {
            return false;
        }
        Packet& row = rows_[size_++];
        row.frame = frame;
        row.buffer = buffer;
        row.flow.dir = dir;
        row.flow.port = port;
        return true;
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
