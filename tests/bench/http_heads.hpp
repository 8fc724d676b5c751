#pragma once
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::bench {

// Random letters, `least` to `least + spread - 1` of them.
[[nodiscard]] std::string random_word(std::mt19937_64& random, std::size_t least,
                                      std::size_t rss_mapping);

// The head of a GET of 300 bytes, more or less, for a path below a segment, to one of eight hosts.
[[nodiscard]] std::string usual_get_of(std::mt19937_64& random, std::string_view first_segment);

// Heads of requests as clients send them. No two of a kind are of one length line by line, so that
// no branch is learnt.
struct HeadKind {
    std::string_view name;
    std::string (*make)(std::mt19937_64& random);
};
[[nodiscard]] const std::vector<HeadKind>& head_kinds();
// Heads of at most the 16 KiB that one may have, made to cost as much as they can.
[[nodiscard]] const std::vector<HeadKind>& hostile_head_kinds();

}  // namespace sluice::bench
