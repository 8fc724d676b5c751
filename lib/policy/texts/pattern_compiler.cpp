#include "lib/policy/texts/pattern_compiler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

// So many patterns at most are put into a database beside the base; beyond that, and when less than
// half of the base is still in use, all are compiled anew.
constexpr std::size_t kMostBeside = 64;

std::vector<TextEntry> difference(const std::vector<TextEntry>& of,
                                  const std::vector<TextEntry>& without) {
    std::vector<TextEntry> rest;
    std::set_difference(of.begin(), of.end(), without.begin(), without.end(),
                        std::back_inserter(rest));
    return rest;
}

std::vector<TextEntry> patterns_of(TextField field, const TextParts& parts) {
    std::vector<TextEntry> patterns;
    std::copy_if(
        parts.entries.begin(), parts.entries.end(), std::back_inserter(patterns),
        [&](const TextEntry& entry) { return entry.field == field && is_scanned(entry.how); });
    return patterns;
}

std::uint32_t number_of(const TextParts& parts, const TextEntry& entry) {
    const auto at = std::lower_bound(parts.entries.begin(), parts.entries.end(), entry);
    return at != parts.entries.end() && *at == entry
               ? static_cast<std::uint32_t>(at - parts.entries.begin())
               : TextDatabaseParts::kNoEntry;
}

}  // namespace

std::optional<PatternRefusal> PatternCache::compile(TextParts& parts, ScanCosts& costs) {
    parts.databases.clear();
    costs = {};
    for (const TextField field : kAllTextFields) {
        if (std::optional<PatternRefusal> refusal =
                compile_field(field, parts, costs[static_cast<std::size_t>(field)])) {
            return refusal;
        }
    }
    std::size_t bytes = 0;
    for (const TextDatabaseParts& database : parts.databases) {
        bytes += database.bytes.size();
    }
    if (bytes > kMaxDatabaseSize) {
        return PatternRefusal{"the patterns are too large together: compiled, they take " +
                                  std::to_string(bytes >> 20) + " MiB, and at most " +
                                  std::to_string(kMaxDatabaseSize >> 20) + " MiB can be held",
                              {}};
    }
    return std::nullopt;
}

// Patterns that the base lacks are made beside it; when they are too many, or too little of the
// base is in use, everything is made anew.
std::optional<PatternRefusal> PatternCache::compile_field(TextField field, TextParts& parts,
                                                          ScanCost& cost) {
    const std::vector<TextEntry> patterns = patterns_of(field, parts);
    if (patterns.empty()) {
        return std::nullopt;
    }
    Pair pair = pair_for(field, patterns);
    const bool keeps = serves(pair, patterns);
    std::vector<TextEntry> missing = keeps ? difference(patterns, pair.base->patterns) : patterns;
    const bool has_beside = keeps && !missing.empty();
    KeptDatabase& wanted = keeps ? pair.beside : pair.base;
    if (!missing.empty() && (!wanted || wanted->patterns != missing)) {
        const std::size_t count = missing.size();
        Made made = make(std::move(missing));
        if (auto* refusal = std::get_if<PatternRefusal>(&made)) {
            return std::move(*refusal);
        }
        wanted = std::get<KeptDatabase>(std::move(made));
        keep(field, pair, count);
    }
    add_database(field, *pair.base, parts, cost);
    if (has_beside) {
        add_database(field, *pair.beside, parts, cost);
    }
    return std::nullopt;
}

void PatternCache::add_database(TextField field, const Kept& kept, TextParts& parts,
                                ScanCost& cost) {
    TextDatabaseParts& database = parts.databases.emplace_back();
    database.field = field;
    for (const TextEntry& pattern : kept.patterns) {
        database.entries.push_back(number_of(parts, pattern));
    }
    database.checksum = kept.checksum;
    database.bytes = kept.bytes;
    // A text is scanned with one database after the other.
    cost.ns += kept.scan_ns.value_or(0);
    cost.is_measured = cost.is_measured && kept.scan_ns.has_value();
}

bool PatternCache::serves(const Pair& pair, const std::vector<TextEntry>& patterns) {
    if (!pair.base) {
        return false;
    }
    const std::size_t missing = difference(patterns, pair.base->patterns).size();
    return missing <= kMostBeside && 2 * (patterns.size() - missing) >= pair.base->patterns.size();
}

PatternCache::Pair PatternCache::pair_for(TextField field,
                                          const std::vector<TextEntry>& patterns) const {
    Pair own = kept_of(field);
    if (behind_ == nullptr || serves(own, patterns)) {
        return own;
    }
    Pair others = behind_->kept_of(field);
    return serves(others, patterns) ? others : own;
}

PatternCache::Pair PatternCache::kept_of(TextField field) const {
    const std::lock_guard lock{mutex_};
    return kept_[static_cast<std::size_t>(field)];
}

void PatternCache::keep(TextField field, const Pair& pair, std::size_t compiled) {
    const std::lock_guard lock{mutex_};
    kept_[static_cast<std::size_t>(field)] = pair;
    compiled_ += compiled;
}

PatternCache::Made PatternCache::make(std::vector<TextEntry> patterns) {
    CompiledPatterns compiled = compile_patterns(patterns);
    if (auto* refusal = std::get_if<PatternRefusal>(&compiled)) {
        return std::move(*refusal);
    }
    auto& made = std::get<MadeDatabase>(compiled);
    const std::uint64_t checksum = checksum_of(made.bytes);
    return std::make_shared<const Kept>(
        Kept{std::move(patterns), std::move(made.bytes), checksum, made.scan_ns});
}

std::size_t PatternCache::compiled() const {
    const std::lock_guard lock{mutex_};
    return compiled_;
}

}  // namespace sluice
