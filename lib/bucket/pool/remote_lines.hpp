#pragma once
#include "lib/bucket/pool/line_pool.hpp"

#include <array>
#include <cstddef>

namespace sluice {

// The lines of another core's pool, read only. Their owner may change them, or give them to another
// key, meanwhile: so reads stay within bounds and within a number of steps, and count only if the
// entry that led there is still the same.
class RemoteLines {
public:
    explicit RemoteLines(const LinePool& pool) noexcept : pool_{&pool} {}

    // A line that cannot be one, and all after too many, are zeroes.
    template <typename T>
    [[nodiscard]] const T& at(PoolLine line) const noexcept {
        static_assert(sizeof(T) <= kLineBytes);
        const bool is_one = line != kNoLine && line <= pool_->size() && ++steps_ <= kMostSteps;
        return is_one ? pool_->at<T>(line) : *reinterpret_cast<const T*>(kZeroes.bytes.data());
    }

private:
    // Records of a log that have expired and have not been dropped are read; mostly none.
    static constexpr unsigned kMostSteps = 512;
    struct alignas(kLineBytes) Zeroes {
        std::array<std::byte, kLineBytes> bytes;
    };
    static constexpr Zeroes kZeroes{};

    const LinePool* pool_;
    mutable unsigned steps_ = 0;
};

}  // namespace sluice
