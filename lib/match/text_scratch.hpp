#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/pattern_database.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

class TextMatcher;

// One thread's working memory for the texts of one rule set, allocated when that is loaded. Its
// owner alone touches it; what it holds of a packet is good until the next.
class TextScratch {
public:
    // TooMany: there is no memory.
    [[nodiscard]] static Result<std::unique_ptr<TextScratch>> make(const TextMatcher& matcher);

private:
    friend class TextMatcher;
    explicit TextScratch(const TextMatcher& matcher);

    // One block of clauses: what the tests that hold have opened, and what they have closed.
    struct Row {
        Block opened;
        Block closed;
    };

    void begin() noexcept;
    void hit(std::uint32_t test) noexcept {
        if (stamps_[test] != packet_) {
            stamps_[test] = packet_;
            hits_[hit_count_++] = test;
        }
    }
    [[nodiscard]] bool holds(std::uint32_t test) const noexcept { return stamps_[test] == packet_; }
    [[nodiscard]] Row& row(std::uint32_t block) noexcept {
        if (row_stamps_[block] != packet_) {
            row_stamps_[block] = packet_;
            rows_[block] = {};
        }
        return rows_[block];
    }

    PatternScratch patterns_;
    PatternHits pattern_hits_;
    PaddingBuffer padding_;
    std::vector<std::uint32_t> hits_;    // tests that hold, in any order
    std::vector<std::uint32_t> stamps_;  // by test: the last packet for which it held
    std::size_t hit_count_ = 0;
    std::vector<Row> rows_;                  // by block
    std::vector<std::uint32_t> row_stamps_;  // by block: the packet it is about
    std::uint32_t packet_ = 0;               // counts packets
    std::uint32_t looked_ = 0;  // of the packet: a bit for each field that has been read
};

}  // namespace sluice
