#include "lib/match/text_matcher.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace sluice {
namespace {

void set_bit(Block& block, std::size_t clause) noexcept {
    block.words[clause % kBlockBits / 64] |= std::uint64_t{1} << (clause % 64);
}

[[nodiscard]] bool meet(const Block& a, const Block& b) noexcept {
    std::uint64_t any = 0;
    for (std::size_t word = 0; word < a.words.size(); ++word) {
        any |= a.words[word] & b.words[word];
    }
    return any != 0;
}

void add(Block& to, const Block& bits) noexcept {
    for (std::size_t word = 0; word < to.words.size(); ++word) {
        to.words[word] |= bits.words[word];
    }
}

// The clauses of a test, block by block.
class BitLists {
public:
    void add(std::uint32_t test, std::uint32_t clause) {
        set_bit(bits_[{test, static_cast<std::uint32_t>(clause / kBlockBits)}], clause);
    }
    template <typename Bits>
    [[nodiscard]] Lists<Bits> lists(std::size_t tests) const {
        std::vector<std::pair<std::uint32_t, Bits>> sorted;
        sorted.reserve(bits_.size());
        for (const auto& [where, bits] : bits_) {
            sorted.push_back({where.first, Bits{where.second, bits}});
        }
        return {tests, sorted};
    }

private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, Block> bits_;  // by test and block
};

using Terms = std::span<const TextTermParts>;

// The terms of the clause that the first of them belongs to.
Terms of_one_clause(Terms terms) noexcept {
    std::size_t count = 0;
    while (count < terms.size() && terms[count].clause == terms.front().clause) {
        ++count;
    }
    return terms.first(count);
}

// Bytes behind a text that may be read: of the frame it is a part of, else of where units keep
// texts that no frame holds, which has padding.
std::size_t readable_behind(ByteView text, const FrameView& frame) noexcept {
    if (text.empty()) {
        return 0;
    }
    const std::byte* const end = text.data() + text.size();
    const std::byte* const frame_end = frame.bytes.data() + frame.bytes.size();
    const bool in_frame =
        std::less_equal<>{}(frame.bytes.data(), text.data()) && std::less_equal<>{}(end, frame_end);
    return in_frame ? static_cast<std::size_t>(frame_end - end) + frame.readable_behind
                    : kTextPadding;
}

}  // namespace

TextMatcher::TextMatcher(const TextParts& parts, std::size_t clauses) : tests_{parts.tests.size()} {
    if (parts.terms.empty()) {
        return;
    }
    for (const TextField field : kAllTextFields) {
        add_field(field, parts, blocks_for(clauses));
    }
    list_tests(parts);
    list_clauses(parts, clauses);
}

void TextMatcher::add_field(TextField field, const TextParts& parts, std::size_t blocks) {
    FieldTexts texts{.field = field, .asked = std::vector<Block>(blocks)};
    for (const TextTermParts& term : parts.terms) {
        if (parts.tests[term.test].field == field) {
            set_bit(texts.asked[term.clause / kBlockBits], term.clause);
        }
    }
    if (std::all_of(texts.asked.begin(), texts.asked.end(),
                    [](const Block& block) { return block == Block{}; })) {
        return;
    }
    for (const TextHow how : {TextHow::Equals, TextHow::StartsWith, TextHow::EndsWith}) {
        for (const bool ignore_case : {false, true}) {
            LiteralTable table{parts.entries, field, how, ignore_case};
            if (!table.empty()) {
                texts.tables.push_back(std::move(table));
            }
        }
    }
    texts.ranges = NumberRanges{parts.entries, field};
    for (const TextDatabaseParts& from : parts.databases) {
        if (from.field != field) {
            continue;
        }
        const Result<PatternDatabase> patterns = checksum_of(from.bytes) == from.checksum
                                                     ? PatternDatabase::load(from.bytes)
                                                     : Error{Errc::BadSyntax, "it is corrupt"};
        if (!patterns) {
            fault_ = "the patterns of " + std::string{row_of(field).name} +
                     " cannot be used: " + patterns.error().what;
            continue;
        }
        most_patterns_ = std::max(most_patterns_, from.entries.size());
        texts.databases.push_back({*patterns, from.entries});
    }
    reads_payloads_ |= field == TextField::Payload;
    fields_.push_back(std::move(texts));
}

void TextMatcher::list_tests(const TextParts& parts) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tests_of;
    for (std::uint32_t test = 0; test < parts.tests.size(); ++test) {
        for (const std::uint32_t entry : parts.tests[test].entries) {
            tests_of.emplace_back(entry, test);
        }
    }
    for (FieldTexts& texts : fields_) {
        const auto asks_presence = [&](const TextTestParts& test) {
            return test.field == texts.field && test.entries.empty();
        };
        const auto test = std::find_if(parts.tests.begin(), parts.tests.end(), asks_presence);
        if (test != parts.tests.end()) {
            texts.presence = static_cast<std::uint32_t>(test - parts.tests.begin());
        }
    }
    std::sort(tests_of.begin(), tests_of.end());
    tests_of_ = {parts.entries.size(), tests_of};
}

void TextMatcher::list_clauses(const TextParts& parts, std::size_t clauses) {
    std::vector<std::uint32_t> askers(tests_);  // by test: clauses that want it to hold
    for (const TextTermParts& term : parts.terms) {
        askers[term.test] += term.negated ? 0U : 1U;
    }
    base_.resize(blocks_for(clauses));
    for (std::size_t clause = 0; clause < clauses; ++clause) {
        set_bit(base_[clause / kBlockBits], clause);
    }
    BitLists opens;
    BitLists closes;
    std::vector<std::pair<std::uint32_t, Together>> together;
    for (Terms rest{parts.terms}; !rest.empty();) {
        const Terms terms = of_one_clause(rest);
        rest = rest.subspan(terms.size());
        const std::uint32_t clause = terms.front().clause;
        std::vector<std::uint32_t> wanted;
        for (const TextTermParts& term : terms) {
            if (term.negated) {
                closes.add(term.test, clause);
            } else {
                wanted.push_back(term.test);
            }
        }
        if (wanted.empty()) {
            continue;
        }
        base_[clause / kBlockBits].words[clause % kBlockBits / 64] &=
            ~(std::uint64_t{1} << (clause % 64));
        const auto rarest = std::min_element(
            wanted.begin(), wanted.end(),
            [&](std::uint32_t a, std::uint32_t b) { return askers[a] < askers[b]; });
        if (wanted.size() == 1) {
            opens.add(*rarest, clause);
            continue;
        }
        const auto first = static_cast<std::uint32_t>(others_.size());
        std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(others_),
                     [&](std::uint32_t test) { return test != *rarest; });
        together.push_back({*rarest, {first, static_cast<std::uint32_t>(others_.size()), clause}});
    }
    std::sort(together.begin(), together.end(), [](const auto& a, const auto& b) {
        return std::pair{a.first, a.second.clause} < std::pair{b.first, b.second.clause};
    });
    opens_ = opens.lists<Bits>(tests_);
    closes_ = closes.lists<Bits>(tests_);
    together_ = {tests_, together};
}

void TextMatcher::narrow(Block& both, std::uint32_t block, const PacketHeaders& headers,
                         const FrameView& frame, TextScratch& scratch) const noexcept {
    bool news = false;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (!meet(both, fields_[i].asked[block])) {
            continue;
        }
        const std::uint32_t bit = std::uint32_t{1} << i;
        if ((scratch.looked_ & bit) == 0) {
            scratch.looked_ |= bit;
            look(fields_[i], headers, frame, scratch);
            news = true;
        }
    }
    if (news) {
        open_rows(scratch);
    }
    const bool touched = scratch.row_stamps_[block] == scratch.packet_;
    for (std::size_t word = 0; word < both.words.size(); ++word) {
        const std::uint64_t base = base_[block].words[word];
        const TextScratch::Row& row = scratch.rows_[block];
        both.words[word] &=
            touched ? (base | row.opened.words[word]) & ~row.closed.words[word] : base;
    }
}

// Notes the tests of one field that hold.
void TextMatcher::look(const FieldTexts& texts, const PacketHeaders& headers,
                       const FrameView& frame, TextScratch& scratch) const noexcept {
    const std::optional<ByteView> text = read_text(texts.field, headers, frame.bytes);
    if (!text) {
        return;
    }
    if (texts.presence) {
        scratch.hit(*texts.presence);
    }
    const auto hit = [&](std::uint32_t entry) {
        for (const std::uint32_t test : tests_of_.of(entry)) {
            scratch.hit(test);
        }
    };
    for (const LiteralTable& table : texts.tables) {
        table.find(*text, hit);
    }
    texts.ranges.find(*text, hit);
    if (texts.databases.empty()) {
        return;
    }
    const PaddedText padded = scratch.padding_.pad(*text, readable_behind(*text, frame));
    for (const Database& database : texts.databases) {
        scratch.pattern_hits_.clear();
        database.patterns.scan(padded, scratch.patterns_, scratch.pattern_hits_);
        for (const std::uint32_t pattern : scratch.pattern_hits_.found()) {
            if (pattern < database.entries.size() &&
                database.entries[pattern] != TextDatabaseParts::kNoEntry) {
                hit(database.entries[pattern]);
            }
        }
    }
}

// Opens the clauses of the tests that hold. May be done again when more of them hold.
void TextMatcher::open_rows(TextScratch& scratch) const noexcept {
    for (const std::uint32_t test :
         std::span<const std::uint32_t>{scratch.hits_}.first(scratch.hit_count_)) {
        for (const Bits& bits : opens_.of(test)) {
            add(scratch.row(bits.block).opened, bits.bits);
        }
        for (const Bits& bits : closes_.of(test)) {
            add(scratch.row(bits.block).closed, bits.bits);
        }
        for (const Together& clause : together_.of(test)) {
            const auto others = std::span<const std::uint32_t>{others_}.subspan(
                clause.first_other, clause.past_others - clause.first_other);
            if (std::all_of(others.begin(), others.end(),
                            [&](std::uint32_t other) { return scratch.holds(other); })) {
                set_bit(scratch.row(clause.clause / static_cast<std::uint32_t>(kBlockBits)).opened,
                        clause.clause);
            }
        }
    }
}

std::size_t TextMatcher::bytes() const noexcept {
    std::size_t bytes = tests_of_.bytes() + opens_.bytes() + closes_.bytes() + together_.bytes() +
                        (others_.size() * sizeof(std::uint32_t)) + base_.size() * sizeof(Block);
    for (const FieldTexts& texts : fields_) {
        bytes += texts.asked.size() * sizeof(Block) + texts.ranges.bytes();
        for (const LiteralTable& table : texts.tables) {
            bytes += table.bytes();
        }
        for (const Database& database : texts.databases) {
            bytes += database.patterns.bytes() + database.entries.size() * sizeof(std::uint32_t);
        }
    }
    return bytes;
}

}  // namespace sluice
