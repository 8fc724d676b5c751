#include "lib/policy/texts/pattern.hpp"

#include "lib/base/ascii.hpp"
#include "lib/policy/texts/pattern_cost.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <hs_common.h>

#include <hs_compile.h>

namespace sluice {
namespace {

// An empty regular expression, or one that matches nothing as well, holds of every text. A dot is
// no line feed, as PCRE has it; (?s) makes it any byte.
constexpr unsigned kFlags = HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY;

struct Advice {
    std::string_view said;
    std::string_view what;
};
constexpr auto kAdvice = std::to_array<Advice>({
    {"Back-references", "back references, such as \\1, cannot be scanned for"},
    {"Zero-width assertions",
     "look-ahead and look-behind, such as (?=...), cannot be scanned for; write a condition of "
     "its own and join them with `and`"},
    {"Atomic groups", "atomic groups, (?>...), cannot be scanned for"},
    {"Possessive quantifiers", "possessive quantifiers, such as a++, cannot be scanned for"},
    {"Embedded start anchors", "^ can only stand at the beginning"},
    {"Embedded end anchors", "$ can only stand at the end"},
    {"Pattern can never match", "this regular expression can never match"},
});

std::string escaped(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_ascii_alphanumeric(c)) {
            out += c;
        } else {
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
    return out;
}

// Expressions that were found good: looking into one takes Hyperscan nearly a tenth of a
// millisecond, and a daemon reads the same ones again with every change of its rules. For any
// thread; forgets everything rather than grow.
class KnownGood {
public:
    [[nodiscard]] bool has(const std::string& key) {
        const std::lock_guard lock{mutex_};
        return keys_.contains(key);
    }
    void add(std::string key) {
        const std::lock_guard lock{mutex_};
        if (keys_.size() == kMaxPatterns) {
            keys_.clear();
        }
        keys_.insert(std::move(key));
    }

private:
    std::mutex mutex_;
    std::unordered_set<std::string> keys_;
};

KnownGood& known_good() {
    static KnownGood known;
    return known;
}

// "... at index 12." -> 12
std::optional<std::size_t> index_in(std::string_view message) {
    constexpr std::string_view kMark = "index ";
    const std::size_t at = message.find(kMark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = message.substr(at + kMark.size());
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    return error == std::errc{} ? std::optional{index} : std::nullopt;
}

}  // namespace

PatternFault fault_of(std::string_view message) {
    for (const Advice& row : kAdvice) {
        if (message.starts_with(row.said)) {
            return {std::string{row.what}, index_in(message)};
        }
    }
    while (message.ends_with('.')) {
        message.remove_suffix(1);
    }
    return {"not a regular expression that can be scanned for: " + std::string{message},
            index_in(message)};
}

std::optional<PatternFault> find_fault(std::string_view regex, bool ignore_case) {
    if (regex.find('\0') != std::string_view::npos) {
        return PatternFault{"write \\x00 for a byte of zero", regex.find('\0')};
    }
    if (regex.starts_with("(*")) {
        return PatternFault{"settings such as (*UTF8) have no meaning here: a text is bytes", 0};
    }
    const PatternCost cost = cost_of(regex);
    if (cost.places > kMostPlaces) {
        return PatternFault{
            "this repeat makes the regular expression too large: written out it is " +
                std::to_string(cost.places) + " places, and at most " +
                std::to_string(kMostPlaces) + " can be held",
            cost.beyond_at};
    }
    // Others are looked into where they are compiled.
    if (!is_quick_to_read(cost)) {
        return std::nullopt;
    }
    const std::string expression{regex};
    std::string key = expression + (ignore_case ? "i" : "c");
    if (known_good().has(key)) {
        return std::nullopt;
    }
    hs_expr_info_t* info = nullptr;
    hs_compile_error_t* error = nullptr;
    const hs_error_t code = hs_expression_info(
        expression.c_str(), kFlags | (ignore_case ? HS_FLAG_CASELESS : 0U), &info, &error);
    const std::unique_ptr<hs_expr_info_t, decltype(&std::free)> freed{info, &std::free};
    if (code == HS_SUCCESS) {
        known_good().add(std::move(key));
        return std::nullopt;
    }
    PatternFault fault = fault_of(error == nullptr ? "no memory" : error->message);
    (void)hs_free_compile_error(error);
    return fault;
}

std::string expression_of(const TextEntry& entry) {
    return entry.how == TextHow::Matches ? entry.text : escaped(entry.text);
}

unsigned flags_of(const TextEntry& entry) noexcept {
    const unsigned flags = entry.how == TextHow::Matches ? kFlags : HS_FLAG_SINGLEMATCH;
    return flags | (entry.ignore_case ? HS_FLAG_CASELESS : 0U);
}

}  // namespace sluice
