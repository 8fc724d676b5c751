#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/body_framing.hpp"
#include "lib/l7/http1/chunk_scanner.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Steps over the body behind one head, piece by piece, to where the next head of the connection
// begins.
class BodyScanner {
public:
    explicit BodyScanner(BodyFraming framing) noexcept
        : kind_{framing.kind}, left_{framing.length} {}

    // How many of the bytes belong to the body; what is behind them is the next head's.
    [[nodiscard]] std::size_t feed(ByteView bytes, HeadShapes& shapes) noexcept;
    // Steps over bytes that nobody has seen. False: where the body ends is not known any more.
    [[nodiscard]] bool skip(std::uint64_t bytes) noexcept;

    [[nodiscard]] bool is_done() const noexcept;
    // The end cannot be found: find_request_start() (resync.hpp) may find the next head.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_ || chunks_.is_broken(); }

private:
    BodyFraming::Kind kind_;
    bool is_broken_ = false;
    std::uint64_t left_;  // of Length
    ChunkScanner chunks_;
};

}  // namespace sluice
