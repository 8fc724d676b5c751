#pragma once
#include "lib/base/result.hpp"
#include "lib/packet/rss.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

inline constexpr std::size_t kMaxRssKey = 64;

// The Toeplitz keys of an installation: random, so that nobody outside can aim a flood at one
// worker, and the same on every port and after every start, so that no key of a rule moves to
// another worker.
class RssKeys {
public:
    static constexpr std::size_t kSeedSize = kMaxRssKey + 2;
    using Seed = std::array<std::uint8_t, kSeedSize>;

    [[nodiscard]] static RssKeys make() noexcept;
    // nullopt: flows would bunch under these.
    [[nodiscard]] static std::optional<RssKeys> from(const Seed& seed) noexcept;

    [[nodiscard]] const Seed& seed() const noexcept { return seed_; }
    // Rss::Symmetric has a key that repeats 16 bits, which makes both directions of a flow hash
    // alike (Woo, Park 2012).
    [[nodiscard]] std::span<const std::uint8_t, kMaxRssKey> of(Rss how) const noexcept {
        return how == Rss::Symmetric
                   ? std::span<const std::uint8_t, kMaxRssKey>{symmetric_}
                   : std::span<const std::uint8_t, kSeedSize>{seed_}.first<kMaxRssKey>();
    }

private:
    explicit RssKeys(const Seed& seed) noexcept;

    Seed seed_;  // the key of all others, and the 16 bits
    std::array<std::uint8_t, kMaxRssKey> symmetric_{};
};

}  // namespace sluice
