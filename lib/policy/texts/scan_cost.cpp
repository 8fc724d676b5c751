#include "lib/policy/texts/scan_cost.hpp"

#include "lib/match/pattern_database.hpp"
#include "lib/policy/texts/pattern_sample.hpp"

#include <algorithm>

#include <time.h>

namespace sluice {
namespace {

constexpr std::uint64_t kNanosForAll = 8'000'000;  // to find the worst text, and again to repeat it
constexpr std::size_t kWorst = 3;                  // texts that are tried again
constexpr std::size_t kTries = 5;

std::uint64_t processor_time() noexcept {
    timespec now{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

class Stopwatch {
public:
    Stopwatch(const PatternDatabase& database, PatternScratch& scratch, std::size_t patterns)
        : database_{database}, scratch_{scratch}, hits_{patterns} {}

    std::uint64_t time(const std::string& text) {
        const PaddedText padded = padding_.pad(bytes_of(text), 0);
        const std::uint64_t begin = processor_time();
        hits_.clear();
        database_.scan(padded, scratch_, hits_);
        return processor_time() - begin;
    }
    [[nodiscard]] bool is_over() const noexcept { return processor_time() - begin_ > kNanosForAll; }
    void begin_again() noexcept { begin_ = processor_time(); }

private:
    const PatternDatabase& database_;
    PatternScratch& scratch_;
    PatternHits hits_;
    PaddingBuffer padding_;
    std::uint64_t begin_ = processor_time();
};

// 12,345 as 12,000: what changes from one time to the next is not shown.
std::uint64_t rounded(std::uint64_t number) noexcept {
    std::uint64_t unit = 1;
    while (number / unit >= 100) {
        unit *= 10;
    }
    return number / unit * unit;
}

std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) {
        text.insert(at - 3, ",");
    }
    return text;
}

}  // namespace

std::optional<std::uint64_t> measure_scan(ByteView database, std::size_t patterns,
                                          const std::vector<std::string>& texts) {
    const Result<PatternDatabase> loaded = PatternDatabase::load(database);
    PatternScratch scratch;
    if (!loaded || !scratch.fit(*loaded)) {
        return std::nullopt;
    }
    Stopwatch watch{*loaded, scratch, patterns};
    std::vector<std::pair<std::uint64_t, const std::string*>> by_time;
    for (const std::string& text : texts) {
        by_time.emplace_back(watch.time(text), &text);
        if (watch.is_over()) {
            break;
        }
    }
    std::sort(by_time.rbegin(), by_time.rend());
    by_time.resize(std::min(by_time.size(), kWorst));
    watch.begin_again();
    std::uint64_t worst = 0;
    for (auto& [time, text] : by_time) {
        for (std::size_t i = 0; i < kTries && !watch.is_over(); ++i) {
            time = std::min(time, watch.time(*text));
        }
        worst = std::max(worst, time);
    }
    return worst;
}

std::optional<std::string> find_costly(TextField field, const ScanCost& cost,
                                       const TextNames& names) {
    const std::string patterns = "patterns of " + name_of(field, names);
    if (!cost.is_measured) {
        return patterns + ": what scanning for them takes could not be measured";
    }
    const std::uint64_t left = 1'000'000'000 / std::max<std::uint64_t>(cost.ns, 1);
    if (left >= kLeastPacketsLeft) {
        return std::nullopt;
    }
    return patterns + ": about " + with_commas(rounded(left)) +
           " packets/s are left on one core on their worst text of " +
           with_commas(usual_size(field)) + " bytes; bounded repeats such as .{1,300} cost most";
}

}  // namespace sluice
