#include "lib/policy/overrides/override_numbers.hpp"

#include "lib/policy/values/units_text.hpp"

#include <utility>

namespace sluice {
namespace {

class Renumbering {
public:
    Renumbering(const MeteredLimit& limit, const NumbersText& text, NumbersFault& fault)
        : limit_{limit}, text_{text}, fault_{fault} {}

    std::optional<AnyLimit> operator()(const TokenBucketLimit& before) {
        const std::optional<Limit> gcra = bucket(before.gcra);
        return gcra ? std::optional<AnyLimit>{TokenBucketLimit{*gcra}} : std::nullopt;
    }
    std::optional<AnyLimit> operator()(const LeakyBucketLimit& before) {
        const std::optional<Limit> gcra = bucket(before.gcra);
        return gcra ? std::optional<AnyLimit>{LeakyBucketLimit{*gcra}} : std::nullopt;
    }
    std::optional<AnyLimit> operator()(const ColorLimit&) {
        return fail(NumberWord::Rate,
                    "a colour meter has no numbers for single keys; a key can be exempt");
    }
    std::optional<AnyLimit> operator()(const PenaltyLimit&) {
        return fail(NumberWord::Count, "a ban has no numbers for single keys");
    }
    std::optional<AnyLimit> operator()(const auto& window) {
        if (!text_.rate.empty() || !text_.burst.empty()) {
            return fail(text_.rate.empty() ? NumberWord::Burst : NumberWord::Rate,
                        "the limit `" + limit_.name + "` counts in a window: it has a `count`");
        }
        if (text_.count.empty()) {
            return fail(NumberWord::Count, "the limit `" + limit_.name + "` needs a `count`");
        }
        const std::optional<Units> count = amount(text_.count, NumberWord::Count);
        if (!count) {
            return std::nullopt;
        }
        auto changed = window;
        const Result<WindowNumbers> numbers = numbers_of(window, *count);
        if (!numbers) {
            return fail(NumberWord::Count, numbers.error().what);
        }
        changed.numbers = *numbers;
        return changed;
    }

private:
    static Result<WindowNumbers> numbers_of(const auto& window, Units count) {
        return make_window_numbers(count, Nanoseconds{window.numbers.window});
    }
    static Result<WindowNumbers> numbers_of(const DistinctLimit& before, Units count) {
        const auto made = make_distinct(count, Nanoseconds{before.numbers.window});
        return made ? Result<WindowNumbers>{made->numbers} : made.error();
    }
    std::nullopt_t fail(NumberWord word, std::string what) {
        fault_ = {word, std::move(what)};
        return std::nullopt;
    }
    std::optional<Units> amount(std::string_view text, NumberWord word) {
        const Result<Units> units = limit_.per == Per::Byte ? parse_size(text) : parse_count(text);
        if (!units) {
            return fail(word, units.error().what);
        }
        return *units;
    }

    std::optional<Limit> bucket(const Limit& before) {
        if (!text_.count.empty()) {
            return fail(NumberWord::Count,
                        "the limit `" + limit_.name + "` is a bucket: it has `rate` and `burst`");
        }
        if (text_.rate.empty() && text_.burst.empty()) {
            return fail(NumberWord::Rate,
                        "the limit `" + limit_.name + "` needs a `rate`, a `burst` or both");
        }
        Rate rate{Units{before.parts()}, Nanoseconds{static_cast<std::int64_t>(before.period())}};
        if (!text_.rate.empty()) {
            const Result<Rate> read = parse_rate(text_.rate, limit_.per);
            if (!read) {
                return fail(NumberWord::Rate, read.error().what);
            }
            rate = *read;
        }
        std::optional<Units> burst{Units{before.burst()}};
        if (!text_.burst.empty()) {
            burst = amount(text_.burst, NumberWord::Burst);
        }
        if (!burst) {
            return std::nullopt;
        }
        const Result<Limit> made = Limit::make(rate, *burst);
        if (!made) {
            const bool of_burst = made.error().what.starts_with("the burst") || text_.rate.empty();
            return fail(of_burst ? NumberWord::Burst : NumberWord::Rate, made.error().what);
        }
        return *made;
    }

    const MeteredLimit& limit_;
    const NumbersText& text_;
    NumbersFault& fault_;
};

}  // namespace

std::optional<AnyLimit> with_numbers(const MeteredLimit& limit, const NumbersText& text,
                                     NumbersFault& fault) {
    return std::visit(Renumbering{limit, text, fault}, limit.limit);
}

}  // namespace sluice
