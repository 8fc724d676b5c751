#pragma once
#include "lib/packet/parse.hpp"
#include "lib/packet/toeplitz.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// A frame's worker, worked out as a port's RSS would: the same fields, hash and key.
class SoftwareRss {
public:
    // `self` gets what has no IP address.
    SoftwareRss(const Toeplitz& hash, Rss how, std::size_t workers, std::size_t self) noexcept
        : hash_{hash}, how_{how}, workers_{workers}, self_{self} {}

    [[nodiscard]] std::size_t worker_of(const FrameView& frame) noexcept {
        parse_frame(frame, Tunnels{}, headers_);
        const RssBytes bytes{headers_, how_};
        return bytes.view().empty() ? self_ : worker_of(hash_(bytes.view()));
    }

private:
    [[nodiscard]] std::size_t worker_of(std::uint32_t hash) const noexcept {
        return static_cast<std::size_t>(std::uint64_t{hash} * workers_ >> 32);
    }

    const Toeplitz& hash_;
    Rss how_;
    std::size_t workers_;
    std::size_t self_;
    PacketHeaders headers_;
};

}  // namespace sluice
