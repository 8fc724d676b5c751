#pragma once
#include "lib/base/result.hpp"
#include "lib/match/padded_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct hs_database;
struct hs_scratch;

namespace sluice {

class PatternScratch;

// The patterns that were found in one text, each once.
class PatternHits {
public:
    // For databases of at most so many patterns.
    explicit PatternHits(std::size_t patterns)
        : found_{std::make_unique<std::uint32_t[]>(patterns)},
          seen_{std::make_unique<std::uint32_t[]>(patterns)},
          size_{patterns} {}

    void clear() noexcept {
        count_ = 0;
        if (++round_ == 0) {  // once in four thousand million texts
            std::fill_n(seen_.get(), size_, 0U);
            round_ = 1;
        }
    }
    void add(std::uint32_t pattern) noexcept {
        if (pattern < size_ && seen_[pattern] != round_) {
            seen_[pattern] = round_;
            found_[count_++] = pattern;
        }
    }
    [[nodiscard]] std::span<const std::uint32_t> found() const noexcept {
        return {found_.get(), count_};
    }

private:
    std::unique_ptr<std::uint32_t[]> found_;
    std::unique_ptr<std::uint32_t[]> seen_;  // by pattern: the round in which it was found last
    std::size_t size_;
    std::size_t count_ = 0;
    std::uint32_t round_ = 1;
};

// Compiled patterns, numbered from 0. Never changed once made; copies are the same database.
// Hyperscan's runtime is behind this and nowhere else.
class PatternDatabase {
public:
    // Loads what Hyperscan wrote. BadSyntax: it is corrupt; NotSupported: it was made for another
    // CPU or by another version.
    [[nodiscard]] static Result<PatternDatabase> load(ByteView serialised);

    // Notes each pattern that is somewhere in the text.
    void scan(PaddedText text, PatternScratch& scratch, PatternHits& hits) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    friend class PatternScratch;
    PatternDatabase(hs_database* database, std::size_t bytes);

    // Shared between the copies of a rule set; counted when sets are copied and freed, never by a
    // worker.
    std::shared_ptr<const hs_database> database_;
    std::size_t bytes_;
};

// Working memory for scans, of one thread.
class PatternScratch {
public:
    PatternScratch() = default;
    // Makes it large enough for this database too.
    [[nodiscard]] Result<Done> fit(const PatternDatabase& database);

private:
    friend class PatternDatabase;
    struct Free {
        void operator()(hs_scratch* scratch) const noexcept;
    };
    std::unique_ptr<hs_scratch, Free> scratch_;
};

}  // namespace sluice
