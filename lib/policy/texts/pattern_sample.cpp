#include "lib/policy/texts/pattern_sample.hpp"

#include "lib/policy/texts/pattern_cost.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kOpenRepeats = 8;  // of what may be repeated without end
constexpr std::size_t kAlone = 8;        // patterns that get texts of their own
constexpr std::size_t kRuns = 12;        // bytes that get a run
constexpr std::size_t kTurns = 4;        // texts of all patterns in turn

char byte_of_class(char letter) noexcept {
    switch (letter) {
        case 'd':
        case 'h':
            return '7';
        case 's':
        case 'W':
        case 'v':
            return ' ';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'w':
        case 'D':
        case 'S':
        case 'p':
        case 'P':
            return 'a';
        default:
            return letter;
    }
}

// A walk over the expression, which writes the text as it goes.
class Sampler {
public:
    Sampler(std::string_view regex, Repeats repeats, std::size_t most)
        : rest_{regex}, repeats_{repeats}, most_{most} {
        groups_.emplace_back();
    }

    std::string run() {
        while (!rest_.empty()) {
            step();
        }
        while (groups_.size() > 1) {
            close();
        }
        return std::move(groups_.front().text);
    }

private:
    struct Group {
        std::string text;
        std::string latest;    // what a repeat would be about
        bool is_done = false;  // its first alternative is over
    };

    void step() {
        const char what = rest_.front();
        if (what == '\\') {
            return escape();
        }
        if (what == '[') {
            return set();
        }
        if (what == '{') {
            return braces();
        }
        rest_.remove_prefix(1);
        switch (what) {
            case '(':
                return open();
            case ')':
                return close();
            case '|':
                groups_.back().is_done = true;
                return;
            case '*':
            case '+':
                return repeat(repeats_ == Repeats::Most ? kOpenRepeats : 1);
            case '?':
            case '^':
            case '$':
                return;
            default:
                add(std::string(1, what == '.' ? 'a' : what));
        }
    }

    void add(std::string text) {
        Group& group = groups_.back();
        if (!group.is_done) {
            group.text.append(text, 0, most_ - std::min(most_, group.text.size()));
            group.latest = std::move(text);
        }
    }

    // The latest so many times in all.
    void repeat(std::size_t times) {
        Group& group = groups_.back();
        const std::string once = group.latest;
        for (std::size_t i = 1; i < times && !once.empty() && group.text.size() < most_; ++i) {
            add(once);
        }
    }

    // (?:, (?i) and the like say nothing about bytes.
    void open() {
        groups_.emplace_back();
        if (rest_.starts_with('?')) {
            const std::size_t end = std::min(rest_.find_first_of(":)"), rest_.size());
            const bool has_text = end < rest_.size() && rest_[end] == ':';
            rest_.remove_prefix(end + (has_text ? 1 : 0));
        }
    }

    void close() {
        if (groups_.size() > 1) {
            std::string text = std::move(groups_.back().text);
            groups_.pop_back();
            add(std::move(text));
        }
    }

    void escape() {
        const char what = rest_.size() > 1 ? rest_[1] : '\\';
        rest_.remove_prefix(std::min<std::size_t>(rest_.size(), 2));
        if (what == 'x') {
            return add(std::string(1, hex_byte()));
        }
        if (what == 'Q') {
            const std::size_t end = std::min(rest_.find("\\E"), rest_.size());
            add(std::string{rest_.substr(0, end)});
            return rest_.remove_prefix(std::min(end + 2, rest_.size()));
        }
        if (std::string_view{"bBAzZ"}.find(what) == std::string_view::npos) {
            add(std::string(1, byte_of_class(what)));
        }
    }

    char hex_byte() {
        const bool braced = rest_.starts_with('{');
        const std::string_view digits = rest_.substr(braced ? 1 : 0, 2);
        unsigned value = 0;
        const char* end =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        if (braced && rest_.starts_with('}')) {
            rest_.remove_prefix(1);
        }
        return static_cast<char>(value);
    }

    // The first byte of a set; of a negated one the first letter that it does not name.
    void set() {
        const bool negated = rest_.starts_with("[^");
        const std::size_t first = negated ? 2 : 1;
        const std::size_t end = std::min(end_of_set(first), rest_.size());
        std::string_view named = rest_.substr(std::min(first, end), end - std::min(first, end));
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (negated) {
            const std::string_view letters = "axzAZ09 ~";
            const std::size_t at = letters.find_first_not_of(named);
            return add(std::string(1, at == std::string_view::npos ? '!' : letters[at]));
        }
        if (named.starts_with("[:")) {
            return add(named.starts_with("[:digit") ? "7" : "a");
        }
        if (named.starts_with('\\') && named.size() > 1) {
            return add(std::string(1, byte_of_class(named[1])));
        }
        add(std::string(named.substr(0, 1)));
    }

    [[nodiscard]] std::size_t end_of_set(std::size_t at) const noexcept {
        at += at < rest_.size() && rest_[at] == ']' ? 1 : 0;
        for (; at < rest_.size() && rest_[at] != ']'; ++at) {
            if (rest_.substr(at).starts_with("[:")) {
                at = std::min(rest_.find(":]", at), rest_.size() - 2) + 1;
            } else if (rest_[at] == '\\') {
                ++at;
            }
        }
        return at;
    }

    // {3}, {3,}, {3,7}; anything else is text.
    void braces() {
        const std::size_t end = std::min(rest_.find('}'), rest_.size());
        const std::string_view bounds = rest_.substr(1, std::max<std::size_t>(end, 1) - 1);
        const std::size_t last = bounds.rfind(',') + 1;  // 0 without one
        std::uint32_t times = 0;
        const bool least = last == bounds.size() || repeats_ == Repeats::Least;
        const std::string_view digits =
            least ? bounds.substr(0, bounds.find(',')) : bounds.substr(last);
        const auto [stop, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), times);
        if (end == rest_.size() || error != std::errc{} || stop != digits.data() + digits.size()) {
            rest_.remove_prefix(1);
            return add("{");
        }
        rest_.remove_prefix(end + 1);
        repeat(times);
    }

    std::string_view rest_;
    Repeats repeats_;
    std::size_t most_;
    std::vector<Group> groups_;
};

std::string over_and_over(std::string_view text, std::size_t size) {
    std::string all;
    all.reserve(size + text.size());
    while (all.size() < size && !text.empty()) {
        all += text;
    }
    all.resize(size);
    return all;
}

std::string text_for(const TextEntry& pattern, Repeats repeats, std::size_t most) {
    return pattern.how == TextHow::Matches ? sample_of(pattern.text, repeats, most)
                                           : pattern.text.substr(0, most);
}

// Patterns that are large once they are written out come first.
std::vector<const TextEntry*> largest_first(const std::vector<TextEntry>& patterns) {
    std::vector<std::pair<std::uint64_t, const TextEntry*>> by_size;
    for (const TextEntry& pattern : patterns) {
        const bool is_regex = pattern.how == TextHow::Matches;
        by_size.emplace_back(is_regex ? cost_of(pattern.text).places : 0, &pattern);
    }
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const TextEntry*> ordered;
    for (const auto& [places, pattern] : by_size) {
        ordered.push_back(pattern);
    }
    return ordered;
}

// Texts that have nothing to do with the patterns: runs, letters, a request, all bytes.
void add_general_texts(std::size_t size, std::vector<std::string>& texts) {
    std::string bytes;
    for (unsigned byte = 0; byte < 256; ++byte) {
        bytes += static_cast<char>(byte * 167);
    }
    for (const std::string_view text :
         {std::string_view{"a"}, std::string_view{" "}, std::string_view{"\0", 1},
          std::string_view{"the quick brown fox jumps over the lazy dog 0123456789 "},
          std::string_view{"GET /index.html?id=1 HTTP/1.1\r\nHost: www.example.com\r\n\r\n"},
          std::string_view{bytes}}) {
        texts.push_back(over_and_over(text, size));
    }
}

void add_runs(const std::vector<const TextEntry*>& patterns, std::size_t size,
              std::vector<std::string>& texts) {
    std::string seen;
    for (std::size_t i = 0; i < patterns.size() && i < kAlone; ++i) {
        for (const char byte : text_for(*patterns[i], Repeats::Least, size)) {
            if (seen.size() < kRuns && seen.find(byte) == std::string::npos) {
                seen += byte;
                texts.emplace_back(size, byte);
            }
        }
    }
    texts.push_back(over_and_over(seen, size));
}

// The whole, all but the last byte, and the first half: what begins to match and never does.
void add_texts_of(std::string_view sample, std::size_t size, std::vector<std::string>& texts) {
    for (const std::size_t length :
         {sample.size(), std::max<std::size_t>(sample.size(), 1) - 1, sample.size() / 2}) {
        texts.push_back(over_and_over(sample.substr(0, length), size));
    }
}

}  // namespace

std::string sample_of(std::string_view regex, Repeats repeats, std::size_t most) {
    return Sampler{regex, repeats, most}.run();
}

std::vector<std::string> hard_texts(const std::vector<TextEntry>& patterns, std::size_t size) {
    std::vector<std::string> texts;
    const std::vector<const TextEntry*> ordered = largest_first(patterns);
    for (std::size_t i = 0; i < ordered.size() && i < kAlone; ++i) {
        for (const Repeats repeats : {Repeats::Least, Repeats::Most}) {
            add_texts_of(text_for(*ordered[i], repeats, size), size, texts);
        }
    }
    for (std::size_t turn = 0; turn < kTurns && turn < ordered.size(); ++turn) {
        std::string all;
        for (std::size_t i = turn; i < ordered.size() && all.size() < size; i += kTurns) {
            all += text_for(*ordered[i], Repeats::Least, size / kAlone + 1);
        }
        texts.push_back(over_and_over(all, size));
    }
    add_runs(ordered, size, texts);
    add_general_texts(size, texts);
    return texts;
}

std::size_t usual_size(TextField field) noexcept {
    switch (field) {
        case TextField::Payload:
            return 1400;
        case TextField::DnsQname:
            return 253;  // the longest name
        case TextField::TlsSni:
        case TextField::QuicSni:
        case TextField::HttpHost:
            return 255;
        case TextField::HttpUri:
        case TextField::HttpPath:
        case TextField::HttpQuery:
        case TextField::HttpUserAgent:
        case TextField::HttpReferer:
            return 512;
        case TextField::DnsQr:
        case TextField::DnsQtype:
        case TextField::ProtoL7:
        case TextField::ProtoScheme:
        case TextField::HttpMethod:
        case TextField::TlsHandshakeType:
        case TextField::TlsAlpn:
        case TextField::TlsJa4:
        case TextField::QuicPacketType:
        case TextField::QuicVersion:
        case TextField::QuicTokenLen:
            return 16;
        case TextField::Named:
            break;
    }
    return 256;
}

}  // namespace sluice
