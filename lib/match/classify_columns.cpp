#include "lib/match/classifier.hpp"

#include <bit>

// Matching a burst in columns.
namespace sluice {
namespace {

// Calls use(rule) for the rule of each clause of a block.
template <typename Use>
void each_rule(const Block& clauses, const std::uint32_t* rules, Use&& use) {
    for (const std::uint64_t word : clauses.words) {
        for (std::uint64_t bits = word; bits != 0; bits &= bits - 1) {
            use(rules[static_cast<unsigned>(std::countr_zero(bits))]);
        }
        rules += 64;
    }
}

}  // namespace

void Classifier::match_headers(const HeaderColumns& columns, RowMask rows,
                               RuleMatches& matches) const noexcept {
    matches.clear();
    if (rows == 0) {
        return;
    }
    if (!program_.empty()) {
        program_.match(columns, rows, parts_, dimensions_, matches);
    } else {
        match_by_index(columns, rows, matches);
    }
}

void Classifier::find_rows(const HeaderColumns& columns, RowMask valid,
                           ClausePlanes::Rows& rows) const noexcept {
    const std::span<const BitPlane> planes = planes_.planes();
    for (std::size_t plane = 0; plane < planes.size(); ++plane) {
        std::uint32_t* const to = rows[plane].data();
        const std::span<const BitPlane::Factor> factors = planes[plane].factors();
        const std::uint32_t first = factors.front().dimension;
        dimensions_[first].find_rows<Dimension::To::Set>(columns, valid, parts_.dimensions[first],
                                                         to);
        for (const BitPlane::Factor& factor : factors.subspan(1)) {
            const std::uint32_t other = factor.dimension;
            dimensions_[other].find_rows<Dimension::To::Add>(columns, valid,
                                                             parts_.dimensions[other], to);
        }
    }
}

// Rows outside `valid` go along up to its last row: what is found of them is dropped.
void Classifier::match_by_index(const HeaderColumns& columns, RowMask valid,
                                RuleMatches& matches) const noexcept {
    ClausePlanes::Search search;
    search.packets = kMaxBurst - static_cast<std::size_t>(std::countl_zero(valid));
    find_rows(columns, valid, search.rows);
    for (const std::uint32_t rule : parts_.always) {
        matches.hits_.add(rule, valid);
    }
    if (asks_text() || planes_.planes().empty()) [[unlikely]] {
        planes_.list_open(search);
        split_open(search, valid, matches);
        list_pending(matches);
    } else {
        matches.found_.clear();
        FoundRules::Adder adder{matches.found_};
        planes_.find(search, parts_.rule_of.data(), adder);
        matches.found_.each_added(search.packets, [&](std::size_t packet, std::uint32_t rule) {
            matches.hits_.add(rule, row_bit(packet) & valid);
        });
    }
    matches.hits_.drain([&](std::uint32_t rule, RowMask rows) { matches.add_matched(rule, rows); });
}

// Clauses decided by headers alone are found; those that ask for texts become candidates.
void Classifier::split_open(const ClausePlanes::Search& search, RowMask valid,
                            RuleMatches& matches) const noexcept {
    for (const OpenBlocks::Open& open : search.open.all()) {
        if (!has_row(valid, open.packet)) {
            continue;
        }
        Block by_headers = planes_.satisfied(search, open);
        Block with_text;
        for (std::size_t word = 0; word < kBlockWords; ++word) {
            const std::uint64_t asking = text_clauses_[open.block].words[word];
            with_text.words[word] = by_headers.words[word] & asking;
            by_headers.words[word] &= ~asking;
        }
        each_rule(by_headers, &parts_.rule_of[open.block * kBlockBits],
                  [&](std::uint32_t rule) { matches.hits_.add(rule, row_bit(open.packet)); });
        if (with_text != Block{}) {
            matches.candidates_.add(open.block, open.packet, with_text);
            matches.pending_rows_ |= row_bit(open.packet);
        }
    }
}

// By rule, with the rows of all candidates: to separate them would cost more than it saves.
void Classifier::list_pending(RuleMatches& matches) const noexcept {
    std::array<Block, kMaxBlocks> clauses;
    std::array<std::uint64_t, kMaxSummary> blocks{};  // that have been written
    for (const TextCandidates::Candidate& candidate : matches.candidates_.all()) {
        std::uint64_t& word = blocks[candidate.block / 64U];
        const std::uint64_t bit = std::uint64_t{1} << (candidate.block % 64U);
        Block& of_block = clauses[candidate.block];
        if ((word & bit) == 0) {
            word |= bit;
            of_block = Block{};
        }
        for (std::size_t i = 0; i < kBlockWords; ++i) {
            of_block.words[i] |= candidate.clauses.words[i];
        }
    }
    for (std::size_t word = 0; word < blocks.size(); ++word) {
        for (; blocks[word] != 0; blocks[word] &= blocks[word] - 1) {
            const std::size_t block =
                word * 64 + static_cast<unsigned>(std::countr_zero(blocks[word]));
            each_rule(clauses[block], &parts_.rule_of[block * kBlockBits],
                      [&](std::uint32_t rule) { matches.pending_marks_.mark(rule); });
        }
    }
    matches.pending_marks_.drain([&](std::uint32_t rule) {
        matches.add_pending(rule, matches.pending_rows_ & ~matches.hits_.rows_of(rule));
    });
}

// Settles a program's pending clauses for rows that have no text at all.
void Classifier::match_without_texts(RowMask bare, RuleMatches& matches) const noexcept {
    for (const RuleMatches::PendingClause& pending : matches.pending_clauses()) {
        const Block& open = texts_.without_texts(pending.number / kBlockBits);
        const bool holds =
            (open.words[pending.number % kBlockBits / 64] >> (pending.number % 64) & 1) != 0;
        if (holds && (pending.rows & bare) != 0) {
            matches.hits_.add(parts_.rule_of[pending.number], pending.rows & bare);
        }
    }
}

void Classifier::match_without_texts(const TextCandidates::Candidate& candidate,
                                     RuleMatches& matches) const noexcept {
    Block satisfied = candidate.clauses;
    for (std::size_t word = 0; word < kBlockWords; ++word) {
        satisfied.words[word] &= texts_.without_texts(candidate.block).words[word];
    }
    each_rule(satisfied, &parts_.rule_of[candidate.block * kBlockBits],
              [&](std::uint32_t rule) { matches.hits_.add(rule, row_bit(candidate.row)); });
}

void Classifier::match_texts(const FrameColumns& frames, const HeaderColumns& columns, RowMask rows,
                             TextScratch& scratch, RuleMatches& matches) const noexcept {
    rows &= matches.pending_rows_;
    if (rows == 0) {
        return;
    }
    const RowMask bare = texts_.reads_payloads() ? 0 : rows & ~columns.with_unit();
    if (!program_.empty()) {
        match_without_texts(bare, matches);
        if (rows == bare) {
            matches.settle_texts(rows);
            return;
        }
        ClauseProgram::list_candidates(rows & ~bare, matches);
    }
    std::size_t looked_at = kMaxBurst;  // the row whose texts
    for (const TextCandidates::Candidate& candidate : matches.candidates_.all()) {
        if (!has_row(rows, candidate.row)) {
            continue;
        }
        if (has_row(bare, candidate.row)) {
            match_without_texts(candidate, matches);
            continue;
        }
        if (candidate.row != looked_at) {
            TextMatcher::begin(scratch);
            looked_at = candidate.row;
        }
        Block satisfied = candidate.clauses;
        texts_.narrow(satisfied, candidate.block, columns.headers(candidate.row),
                      frames.frame(candidate.row), scratch);
        each_rule(satisfied, &parts_.rule_of[candidate.block * kBlockBits],
                  [&](std::uint32_t rule) { matches.hits_.add(rule, row_bit(candidate.row)); });
    }
    matches.settle_texts(rows);
}

}  // namespace sluice
