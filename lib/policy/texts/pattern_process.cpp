#include "lib/policy/texts/pattern_process.hpp"

#include "lib/policy/child_process.hpp"
#include "lib/policy/texts/pattern.hpp"
#include "lib/policy/texts/pattern_sample.hpp"
#include "lib/policy/texts/scan_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include <hs_common.h>
#include <hs_compile.h>

namespace sluice {
namespace {

// Bounds of processor time: for one pattern, and for all of them.
constexpr std::uint64_t kMicrosForOne = 1'000'000;
constexpr std::uint64_t kMicrosForAll = 1'500'000;
constexpr std::uint64_t kMicrosForEach = 50'000;  // as much more for all
constexpr std::uint64_t kMicrosForText = 5'000;   // of a text: lists have thousands
constexpr std::uint64_t kMicrosForMeasuring = 500'000;
// Bytes of the other process's answer: a database is far smaller.
constexpr std::size_t kMostNews = std::size_t{1} << 30;

struct Free {
    void operator()(hs_database_t* database) const noexcept { (void)hs_free_database(database); }
    void operator()(char* bytes) const noexcept { std::free(bytes); }
    void operator()(hs_compile_error_t* error) const noexcept {
        (void)hs_free_compile_error(error);
    }
};

std::optional<std::uint64_t> scan_ns_of(const MadeDatabase& database,
                                        const std::vector<TextEntry>& patterns) {
    const std::size_t size = usual_size(patterns.front().field);
    return measure_scan(database.bytes, patterns.size(), hard_texts(patterns, size));
}

void tell(const ChildOutput& out, const NewsHeader& header, ByteView bytes = {}) noexcept {
    out.put(std::as_bytes(std::span{&header, 1}));
    out.put(bytes);
}

void write_refusal(const ChildOutput& out, const PatternRefusal& refusal,
                   const std::vector<TextEntry>& patterns) {
    const auto at =
        std::find(patterns.begin(), patterns.end(), refusal.pattern.value_or(TextEntry{}));
    tell(out,
         {News::Refusal, refusal.pattern.has_value(),
          static_cast<std::uint32_t>(at - patterns.begin()), refusal.what.size()},
         bytes_of(refusal.what));
}

bool is_text(const TextEntry& pattern) noexcept {
    return pattern.how == TextHow::Contains;
}

std::uint64_t micros_for(const std::vector<TextEntry>& patterns) noexcept {
    const auto texts = static_cast<std::uint64_t>(std::ranges::count_if(patterns, is_text));
    return patterns.size() == 1 ? kMicrosForOne
                                : kMicrosForAll + texts * kMicrosForText +
                                      (patterns.size() - texts) * kMicrosForEach;
}

// Compiles each regular expression alone, as `explain` will; a text alone is quick. False: one was
// refused. One that takes too long ends the child, and it is the one that was told last; where the
// others have left it less than a second, all of them are told.
bool compile_each(const std::vector<TextEntry>& patterns, const ChildOutput& out) {
    std::uint64_t left = micros_for(patterns);
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
        if (is_text(patterns[i])) {
            continue;
        }
        const std::uint64_t given = std::min(left, kMicrosForOne);
        const bool has_its_second = given == kMicrosForOne;
        tell(out, {has_its_second ? News::Pattern : News::All, has_its_second, i, 0});
        set_timer(ITIMER_PROF, given);
        const CompiledPatterns made = compile_here({patterns[i]});
        left -= std::min(given - std::min(left_of_timer(ITIMER_PROF), given), left - 1);
        if (const auto* refusal = std::get_if<PatternRefusal>(&made)) {
            write_refusal(out, {refusal->what, patterns[i]}, patterns);
            return false;
        }
    }
    return true;
}

// When its time is over, SIGPROF ends the child; SIGALRM where it waits and does nothing.
void compile_all(const std::vector<TextEntry>& patterns, const ChildOutput& out) {
    const std::uint64_t most = micros_for(patterns);
    const bool alone = patterns.size() == 1;
    set_timer(ITIMER_REAL, most * kRealTimeFactor);
    set_timer(ITIMER_PROF, most);
    tell(out, {alone ? News::Pattern : News::All, alone, 0, 0});
    const CompiledPatterns made = compile_here(patterns);
    const bool all_are_quick = left_of_timer(ITIMER_PROF) >= most - kMicrosForOne;
    if (const auto* refusal = std::get_if<PatternRefusal>(&made)) {
        return write_refusal(out, *refusal, patterns);
    }
    if (!all_are_quick && !compile_each(patterns, out)) {
        return;
    }
    const auto& database = std::get<MadeDatabase>(made);
    tell(out, {News::Database, false, 0, database.bytes.size()}, database.bytes);
    set_timer(ITIMER_PROF, kMicrosForMeasuring);
    if (const std::optional<std::uint64_t> ns = scan_ns_of(database, patterns)) {
        tell(out, {News::Cost, false, 0, *ns});
    }
}

// Patterns that are refused together, such as for their time, may be so for one of them.
void find_culprit(const std::vector<TextEntry>& patterns, const ChildOutput& out) {
    set_timer(ITIMER_REAL, micros_for(patterns) * kRealTimeFactor);
    if (compile_each(patterns, out)) {
        tell(out, {News::All, false, 0, 0});
    }
}

PatternRefusal took_too_long(const Unfinished& last, const std::vector<TextEntry>& patterns) {
    if (last.pattern) {
        return {"this regular expression takes too long to compile: more than " +
                    std::to_string(kMicrosForOne / 1000) +
                    " ms; its repeats, such as .{1,1000}, are too many or too large",
                patterns[*last.pattern]};
    }
    return {"the patterns take too long to compile together: more than " +
                std::to_string(micros_for(patterns) / 1000) + " ms",
            {}};
}

// The outcome of `work` in a child process.
CompiledPatterns outcome_of(void (*work)(const std::vector<TextEntry>&, const ChildOutput&),
                            const std::vector<TextEntry>& patterns) {
    const std::optional<std::vector<std::byte>> news =
        run_in_child([&](const ChildOutput& out) { work(patterns, out); }, kMostNews);
    if (!news) {
        return PatternRefusal{"there is no process, or no memory, for compiling the patterns",
                              std::nullopt};
    }
    PatternNews read = read_pattern_news(*news, patterns.size());
    if (auto* made = std::get_if<MadeDatabase>(&read)) {
        return std::move(*made);
    }
    if (auto* refused = std::get_if<RefusedPattern>(&read)) {
        PatternRefusal refusal{std::move(refused->what), {}};
        if (refused->pattern) {
            refusal.pattern = patterns[*refused->pattern];
        }
        return refusal;
    }
    return took_too_long(std::get<Unfinished>(read), patterns);
}

}  // namespace

CompiledPatterns compile_patterns(const std::vector<TextEntry>& patterns) {
    CompiledPatterns together = outcome_of(compile_all, patterns);
    const auto* refusal = std::get_if<PatternRefusal>(&together);
    if (refusal == nullptr || refusal->pattern || patterns.size() == 1) {
        return together;
    }
    CompiledPatterns culprit = outcome_of(find_culprit, patterns);
    refusal = std::get_if<PatternRefusal>(&culprit);
    return refusal != nullptr && refusal->pattern ? culprit : together;
}

CompiledPatterns compile_here(const std::vector<TextEntry>& patterns) {
    std::vector<std::string> expressions;
    std::vector<unsigned> flags;
    std::vector<unsigned> ids;
    for (const TextEntry& pattern : patterns) {
        expressions.push_back(expression_of(pattern));
        flags.push_back(flags_of(pattern));
        ids.push_back(static_cast<unsigned>(ids.size()));
    }
    std::vector<const char*> texts;
    texts.reserve(expressions.size());
    for (const std::string& expression : expressions) {
        texts.push_back(expression.c_str());
    }
    hs_database_t* database = nullptr;
    hs_compile_error_t* error = nullptr;
    const hs_error_t code =
        hs_compile_multi(texts.data(), flags.data(), ids.data(), static_cast<unsigned>(ids.size()),
                         HS_MODE_BLOCK, nullptr, &database, &error);
    const std::unique_ptr<hs_database_t, Free> made{database};
    const std::unique_ptr<hs_compile_error_t, Free> why{error};
    if (code != HS_SUCCESS) {
        PatternRefusal refusal{fault_of(why ? why->message : "no memory").what, {}};
        if (why && why->expression >= 0) {
            refusal.pattern = patterns[static_cast<std::size_t>(why->expression)];
        }
        return refusal;
    }
    char* bytes = nullptr;
    std::size_t size = 0;
    if (hs_serialize_database(made.get(), &bytes, &size) != HS_SUCCESS) {
        return PatternRefusal{"there is no memory for the patterns", {}};
    }
    const std::unique_ptr<char, Free> written{bytes};
    const ByteView view = std::as_bytes(std::span{bytes, size});
    return MadeDatabase{{view.begin(), view.end()}};
}

}  // namespace sluice
