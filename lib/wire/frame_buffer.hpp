#pragma once
#include "lib/base/bytes.hpp"
#include "lib/wire/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// Puts the messages of a stream together again, for a server that never waits. Memory grows as
// bytes arrive, never by what a length promises.
class FrameBuffer {
public:
    FrameBuffer() noexcept = default;
    // `most`: bytes that a message may have.
    explicit FrameBuffer(std::uint32_t most) noexcept : most_{most} {}

    void feed(ByteView bytes);

    // The next whole payload, or nullopt when more must come, or never will: see broken().
    [[nodiscard]] std::optional<std::vector<std::byte>> next();

    // A message was announced that is larger than any may be.
    [[nodiscard]] bool broken() const noexcept;
    // Inside a message: some of it came, the rest has not.
    [[nodiscard]] bool waiting() const noexcept { return left() != 0 || is_skipping(); }
    // How long the message that is coming in will be; 0: none is, or too little of it is there.
    [[nodiscard]] std::size_t incoming() const noexcept;
    // Lets go of the message that is coming in, and of the rest of it as it comes.
    void skip() noexcept;
    [[nodiscard]] bool is_skipping() const noexcept { return skip_ != 0; }
    // Bytes that came and were not given out yet.
    [[nodiscard]] std::size_t left() const noexcept { return held_.size() - read_; }

private:
    [[nodiscard]] std::uint32_t announced() const noexcept;

    std::uint32_t most_ = kMaxMessageSize;
    std::vector<std::byte> held_;
    std::size_t read_ = 0;  // how much of it next() has given out
    std::size_t skip_ = 0;  // how much that is still to come belongs to a message let go of
};

}  // namespace sluice
