#include "lib/match/classifier.hpp"
#include <algorithm>
#include <map>
namespace sluice {
void Classifier::match_headers(const HeaderColumns& columns, RowMask rows, RuleMatches& m) const noexcept {
    static thread_local FoundRules found;
    std::array<Subject, kMaxBurst> subjects;
    std::array<std::size_t, kMaxBurst> at{};
    std::size_t n = 0;
    for_each_row(rows, [&](std::size_t row) { subjects[n] = {&columns.headers(row), columns.frame_tmp(row), 0}; at[n++] = row; });
    match(std::span{subjects}.first(n), nullptr, found);
    std::map<std::uint32_t, RowMask> all;
    for (std::size_t i = 0; i < n; ++i) for (std::uint32_t r : found.of(i)) all[r] |= row_bit(at[i]);
    m.matched_count_ = 0; m.pending_count_ = 0; m.pending_rows_ = 0;
    for (auto [r, w] : all) m.matched_[m.matched_count_++] = {r, w};
}
void Classifier::match_texts(const FrameColumns&, const HeaderColumns&, RowMask, TextScratch&, RuleMatches&) const noexcept {}
}
