#include "lib/policy/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

// Levenshtein distance, row by row.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
    constexpr std::size_t kLongestWord = 64;  // longer ones are nobody's typing error
    std::string_view best;
    std::size_t least = std::max<std::size_t>(word.size() / 3, 2) + 1;
    for (const std::string_view candidate : known) {
        if (word.size() > kLongestWord) {
            break;
        }
        const std::size_t d = distance(word, candidate);
        if (d < least) {
            least = d;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
    const std::string_view best = nearest(word, known);
    return best.empty() ? "" : "; did you mean `" + std::string{best} + "`?";
}

std::string list_of(std::span<const std::string_view> words) {
    std::string out;
    for (const std::string_view word : words) {
        out += (out.empty() ? "" : ", ") + std::string{word};
    }
    return out;
}

}  // namespace sluice
