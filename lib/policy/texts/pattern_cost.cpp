#include "lib/policy/texts/pattern_cost.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t kVeryMany = std::uint64_t{1} << 40;

std::uint64_t bounded(std::uint64_t value) noexcept {
    return std::min(value, kVeryMany);
}

// A walk over the expression. What it takes for something else than the compiler does costs a
// little more or less here, and nothing else.
class CostReader {
public:
    explicit CostReader(std::string_view regex) : rest_{regex}, size_{regex.size()} {
        groups_.emplace_back();
    }

    PatternCost run() {
        while (!rest_.empty()) {
            step();
        }
        while (groups_.size() > 1) {
            close();
        }
        cost_.places = groups_.front().places;
        return cost_;
    }

private:
    struct Group {
        std::uint64_t places = 0;
        std::uint64_t latest = 0;  // of the item that a repeat would be about
    };

    void step() {
        switch (rest_.front()) {
            case '\\':
                return escape();
            case '[':
                return set();
            case '(':
                groups_.emplace_back();
                return rest_.remove_prefix(1);
            case ')':
                close();
                return rest_.remove_prefix(1);
            case '{':
                return braces();
            case '*':
            case '+':
            case '?':
            case '|':
                return rest_.remove_prefix(1);
            default:
                add(1);
                return rest_.remove_prefix(1);
        }
    }

    void add(std::uint64_t places) {
        Group& group = groups_.back();
        group.latest = places;
        group.places = bounded(group.places + places);
    }

    void close() {
        if (groups_.size() == 1) {
            return;
        }
        const std::uint64_t places = groups_.back().places;
        groups_.pop_back();
        add(places);
    }

    // \d, \x41, \x{41}, \p{Lu}; \Q...\E is a text as it stands.
    void escape() {
        const char what = rest_.size() > 1 ? rest_[1] : '\\';
        rest_.remove_prefix(std::min<std::size_t>(rest_.size(), 2));
        if (what == 'Q') {
            const std::size_t end = std::min(rest_.find("\\E"), rest_.size());
            add(end);
            groups_.back().latest = 1;
            return rest_.remove_prefix(std::min(end + 2, rest_.size()));
        }
        if (rest_.starts_with('{') &&
            std::string_view{"xpPogkN"}.find(what) != std::string_view::npos) {
            rest_.remove_prefix(std::min(rest_.find('}'), rest_.size() - 1) + 1);
        }
        add(1);
    }

    // [...], where a ] that comes first is one of the set.
    void set() {
        std::size_t at = rest_.starts_with("[^") ? 2 : 1;
        at += at < rest_.size() && rest_[at] == ']' ? 1 : 0;
        for (; at < rest_.size() && rest_[at] != ']'; ++at) {
            if (rest_.substr(at).starts_with("[:")) {
                const std::size_t end = rest_.find(":]", at);
                at = end == std::string_view::npos ? at : end + 1;
            } else if (rest_[at] == '\\') {
                ++at;
            }
        }
        rest_.remove_prefix(std::min(at + 1, rest_.size()));
        add(1);
    }

    // {3}, {3,}, {3,7}; anything else is text.
    void braces() {
        const std::size_t end = rest_.find('}');
        const std::optional<std::uint64_t> most =
            end == std::string_view::npos ? std::nullopt : most_of(rest_.substr(1, end - 1));
        if (!most) {
            add(1);
            return rest_.remove_prefix(1);
        }
        Group& group = groups_.back();
        const std::uint64_t more = bounded(group.latest * (std::max<std::uint64_t>(*most, 1) - 1));
        group.places = bounded(group.places + more);
        group.latest = bounded(group.latest + more);
        if (group.places > kMostPlaces && cost_.beyond_at == 0) {
            cost_.beyond_at = size_ - rest_.size();
        }
        rest_.remove_prefix(end + 1);
    }

    // The last of the bounds that there is.
    static std::optional<std::uint64_t> most_of(std::string_view bounds) noexcept {
        const std::size_t comma = bounds.find(',');
        const std::optional<std::uint64_t> least = number_of(bounds.substr(0, comma));
        if (!least || comma == std::string_view::npos || comma + 1 == bounds.size()) {
            return least;
        }
        return number_of(bounds.substr(comma + 1));
    }
    static std::optional<std::uint64_t> number_of(std::string_view digits) noexcept {
        std::uint32_t number = 0;
        const char* last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, number);
        if (error == std::errc::result_out_of_range) {
            return UINT32_MAX;
        }
        return error == std::errc{} && end == last ? std::optional<std::uint64_t>{number}
                                                   : std::nullopt;
    }

    std::string_view rest_;
    std::size_t size_;
    std::vector<Group> groups_;
    PatternCost cost_;
};

}  // namespace

PatternCost cost_of(std::string_view regex) {
    return CostReader{regex}.run();
}

bool is_quick_to_read(const PatternCost& cost) noexcept {
    return cost.places <= 1000;
}

}  // namespace sluice
