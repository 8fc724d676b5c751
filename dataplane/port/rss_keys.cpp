#include "dataplane/port/rss_keys.hpp"

#include "dataplane/port/rss.hpp"

#include <cstdlib>

#include <sys/random.h>

namespace sluice {
namespace {

constexpr std::size_t kPart = 8;  // an IPv4 address meets no more bytes of a key

bool has_bad_part(std::span<const std::uint8_t> key) noexcept {
    for (std::size_t at = 0; at < key.size(); at += kPart) {
        if (is_degenerate(key.subspan(at, kPart))) {
            return true;
        }
    }
    return false;
}

// Sixteen bits that repeat within themselves leave a hash few values.
bool is_bad_pattern(std::span<const std::uint8_t> pattern) noexcept {
    return is_degenerate(pattern) || pattern[0] == pattern[1];
}

}  // namespace

RssKeys::RssKeys(const Seed& seed) noexcept : seed_{seed} {
    for (std::size_t i = 0; i < symmetric_.size(); ++i) {
        symmetric_[i] = seed_[kMaxRssKey + i % 2];
    }
}

std::optional<RssKeys> RssKeys::from(const Seed& seed) noexcept {
    const std::span<const std::uint8_t> all{seed};
    if (has_bad_part(all.first(kMaxRssKey)) || is_bad_pattern(all.subspan(kMaxRssKey))) {
        return std::nullopt;
    }
    return RssKeys{seed};
}

RssKeys RssKeys::make() noexcept {
    for (;;) {
        Seed seed{};
        if (::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size())) {
            std::abort();  // without randomness there is no key worth having
        }
        if (const std::optional<RssKeys> keys = from(seed)) {
            return *keys;
        }
    }
}

}  // namespace sluice
