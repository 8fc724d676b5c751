#include "lib/policy/problems/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

// Edit distance, row by row, where two neighbours swapped count once (optimal string alignment):
// it is the commonest slip.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::swap(before, above);
        std::swap(above, row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] =
                std::min({above[j] + (a[i] == b[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
                row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
            }
        }
    }
    return row.back();
}

// Short words are near to everything.
std::size_t most_slips(std::size_t size) noexcept {
    return size < 3 ? 0 : size < 5 ? 1 : std::max<std::size_t>(size / 3, 2);
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
    constexpr std::size_t kLongestWord = 64;  // longer ones are no typing errors
    constexpr std::size_t kMostWords = 4096;
    std::string_view best;
    if (word.size() > kLongestWord || known.size() > kMostWords) {
        return best;
    }
    std::size_t least = most_slips(word.size()) + 1;
    for (const std::string_view candidate : known) {
        if (candidate.size() > kLongestWord) {
            continue;
        }
        const std::size_t d = distance(word, candidate);
        if (d < least) {
            least = d;
            best = candidate;
        }
    }
    return best;
}

std::string_view meant_name(std::string_view message) {
    constexpr std::string_view kBegin = "did you mean ";
    const std::size_t begin = message.find(kBegin);
    if (begin == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = message.substr(begin + kBegin.size());
    if (!rest.starts_with('`')) {
        return rest.substr(0, rest.find_first_of(" ,?"));
    }
    return rest.substr(1, rest.find('`', 1) - 1);
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
