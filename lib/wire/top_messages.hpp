#pragma once
#include "lib/watch/top/top_keys.hpp"

#include <cstdint>
#include <string>
#include <vector>

// The keys that the rules count most for.
namespace sluice {

// Asks for the keys that the rules count the most packets for.
struct GetTop {
    std::string rule;  // empty: all rules
    TopOrder order = TopOrder::Hits;
    TopWindow window = TopWindow::TenSeconds;
    std::uint32_t count = 0;  // at most so many keys

    static void fields(auto& archive, auto& m) {
        archive(m.rule);
        archive.word(m.order, TopOrder::Bits);
        archive.word(m.window, TopWindow::Minute);
        archive(m.count);
    }
};

struct Top {
    std::uint64_t window_ns = 0;  // that was asked for
    std::uint64_t samples = 0;
    std::uint64_t lost = 0;    // samples for which there was no room, since the start
    std::vector<TopKey> keys;  // each with its text, part|part, in the place of its bytes

    static void fields(auto& archive, auto& m) { archive(m.window_ns, m.samples, m.lost, m.keys); }
};

}  // namespace sluice
