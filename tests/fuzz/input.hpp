#pragma once
#include "lib/base/bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace sluice::test {

// Aborts, which is what a fuzzer takes for a finding.
inline void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// What a fuzzer has made up, read from its beginning on: zeroes and nothing behind its end.
struct FuzzInput {
    const std::uint8_t* at;
    const std::uint8_t* end;

    [[nodiscard]] bool empty() const { return at == end; }
    std::uint8_t byte() { return empty() ? std::uint8_t{0} : *at++; }
    // So many bytes, or as many as are left.
    ByteView bytes(std::size_t size) {
        const auto* from = at;
        at += std::min<std::size_t>(size, static_cast<std::size_t>(end - at));
        return std::as_bytes(std::span{from, at});
    }
};

}  // namespace sluice::test
