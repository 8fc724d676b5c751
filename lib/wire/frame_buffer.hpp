#pragma once
#include "lib/base/bytes.hpp"
#include "lib/wire/message.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace sluice {

// Puts the messages of a stream together again, for a server that never waits. Memory grows as
// bytes arrive, never by what a length promises.
class FrameBuffer {
public:
    void feed(ByteView bytes) { held_.insert(held_.end(), bytes.begin(), bytes.end()); }

    // The next whole payload, or nullopt when more must come, or never will: see broken().
    [[nodiscard]] std::optional<std::vector<std::byte>> next() {
        if (broken() || held_.size() < sizeof(std::uint32_t) ||
            held_.size() - sizeof(std::uint32_t) < announced()) {
            return std::nullopt;
        }
        const auto first = held_.begin() + sizeof(std::uint32_t);
        const auto last = first + static_cast<std::ptrdiff_t>(announced());
        std::vector<std::byte> payload{first, last};
        held_.erase(held_.begin(), last);
        return payload;
    }
    // A message was announced that is larger than any may be.
    [[nodiscard]] bool broken() const noexcept {
        return held_.size() >= sizeof(std::uint32_t) && announced() > kMaxMessageSize;
    }
    // Inside a message: some of it came, the rest has not.
    [[nodiscard]] bool waiting() const noexcept { return !held_.empty(); }

private:
    [[nodiscard]] std::uint32_t announced() const noexcept {
        std::uint32_t size = 0;
        std::memcpy(&size, held_.data(), sizeof(size));
        return size;
    }
    std::vector<std::byte> held_;
};

}  // namespace sluice
