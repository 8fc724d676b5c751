#pragma once
#include "lib/match/pattern_database.hpp"
#include "lib/match/text_parts.hpp"
#include "lib/packet/text_field.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice::bench {

// hs_scan alone: the databases of a rule set over the texts that its rules read, which lie ready
// with readable bytes behind them.
class ScanAlone {
public:
    // Ends the program if a database is none for this CPU.
    explicit ScanAlone(const TextParts& parts);

    // A request more, whose texts are copied. Those of other fields are not scanned.
    void begin_request() { requests_.push_back(texts_.size()); }
    void add(TextField field, ByteView text);

    [[nodiscard]] std::size_t requests() const noexcept { return requests_.size(); }
    [[nodiscard]] std::size_t patterns() const noexcept { return patterns_; }
    // Patterns found in one request.
    std::size_t scan(std::size_t request) noexcept;

private:
    struct Database {
        TextField field{};
        PatternDatabase patterns;
    };
    struct Text {
        std::size_t database = 0;
        std::size_t at = 0;
        std::size_t size = 0;
    };

    std::vector<Database> databases_;
    std::size_t patterns_ = 0;
    PatternScratch scratch_;
    std::unique_ptr<PatternHits> hits_;
    PaddingBuffer padding_;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(kTextPadding);
    std::vector<Text> texts_;
    std::vector<std::size_t> requests_;  // where the texts of each begin
};

}  // namespace sluice::bench
