#include "control/simulation/load_words.hpp"

#include "control/simulation/course.hpp"
#include "lib/base/wide.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

namespace sluice {
namespace {

constexpr auto kLoads = std::to_array<std::string_view>(
    {"backlog", "constant", "bursts", "poisson", "on-off", "edge", "hits", "capture"});

// The k-th multiple of the time per unit, rounded down; no rate is too odd for it.
Nanoseconds multiple(std::uint64_t k, Rate rate) {
    const Wide time = static_cast<Wide>(k) * static_cast<std::uint64_t>(rate.period.count());
    return Nanoseconds{static_cast<std::int64_t>(time / rate.units.count())};
}

Arrivals constant(Rate rate, Units cost) {
    return [rate, cost, k = std::uint64_t{0}]() mutable {
        return std::optional{Arrival{Instant{multiple(k++, rate)}, cost}};
    };
}

Arrivals bursts(std::uint64_t size, Nanoseconds every, Units cost) {
    return [=, k = std::uint64_t{0}]() mutable {
        const auto number = static_cast<std::int64_t>(k++ / size);
        return std::optional{Arrival{Instant{number * every}, cost}};
    };
}

// Gaps drawn from an exponential distribution: the same ones for a seed, on every machine.
Arrivals poisson(Rate rate, std::uint64_t seed, Units cost) {
    const double mean =
        static_cast<double>(rate.period.count()) / static_cast<double>(rate.units.count());
    return [mean, cost, random = std::mt19937_64{seed}, at = 0.0]() mutable {
        const double uniform = static_cast<double>(random() >> 11U) * 0x1p-53;  // in [0, 1)
        at -= std::log1p(-uniform) * mean;
        return std::optional{Arrival{Instant{Nanoseconds{static_cast<std::int64_t>(at)}}, cost}};
    };
}

// A constant rate while on, nothing while off; it ends where an instant has no number.
Arrivals on_off(Rate rate, Nanoseconds on, Nanoseconds off, Units cost) {
    return [=, k = std::uint64_t{0}]() mutable -> std::optional<Arrival> {
        const Nanoseconds active = multiple(k++, rate);
        const Wide at = Wide{static_cast<std::uint64_t>(active / on)} *
                            static_cast<std::uint64_t>((on + off).count()) +
                        static_cast<std::uint64_t>((active % on).count());
        if (at > static_cast<std::uint64_t>(Nanoseconds::max().count())) {
            return std::nullopt;
        }
        return Arrival{Instant{Nanoseconds{static_cast<std::int64_t>(at)}}, cost};
    };
}

// Two bursts of one size, the edge in the middle between them.
Arrivals around_edge(std::uint64_t size, Nanoseconds edge, Nanoseconds apart, Units cost) {
    const Nanoseconds first = edge - apart / 2;
    return [=, k = std::uint64_t{0}]() mutable -> std::optional<Arrival> {
        if (k == 2 * size) {
            return std::nullopt;
        }
        return Arrival{Instant{k++ < size ? first : first + apart}, cost};
    };
}

Arrivals listed(std::vector<Instant> instants, Units cost) {
    return [instants = std::move(instants), cost,
            k = std::size_t{0}]() mutable -> std::optional<Arrival> {
        if (k == instants.size()) {
            return std::nullopt;
        }
        return Arrival{instants[k++], cost};
    };
}

// Numbers of the words; the first error stays.
struct Numbers {
    Per per = Per::Packet;
    Spelling spelling = Spelling::Option;
    std::optional<Error> fault{};

    template <typename T>
    T keep(std::string_view word, const Result<T>& value) {
        if (!value && !fault) {
            fault = Error{value.error().code, spelled(word, spelling) + ": " + value.error().what};
        }
        return value ? *value : T{};
    }
    Units cost(std::string_view word, const std::string& text) {
        const bool plain = text.find_first_not_of("0123456789") == std::string::npos;
        const Units value =
            keep(word, per == Per::Byte && !plain ? parse_size(text) : parse_count(text));
        return within(word, value, {Units{1}, Units{kLargestCost}}, std::to_string(kLargestCost));
    }
    Units count(std::string_view word, const std::string& text) {
        return within(word, keep(word, parse_count(text)), {Units{1}, Units{kMostArrivals}},
                      std::to_string(kMostArrivals));
    }
    Nanoseconds duration(std::string_view word, const std::string& text) {
        return within(word, keep(word, parse_duration(text)), {Nanoseconds{1}, kLongestRun},
                      "800d");
    }
    // A rate of things that arrive: they are counted one by one.
    Rate rate(std::string_view word, const std::string& text) {
        Rate rate = keep(word, parse_rate(text, Per::Packet));
        rate.units = std::max(rate.units, Units{1});
        return rate;
    }
    // An instant of a run.
    Instant instant(std::string_view word, const std::string& text) {
        const Nanoseconds at = keep(word, parse_duration(text));
        if ((at < Nanoseconds{0} || at > kLongestRun) && !fault) {
            fault = Error{Errc::OutOfRange, spelled(word, spelling) + " is at most 800d"};
        }
        return Instant{at};
    }
    void refuse(std::string why) {
        if (!fault) {
            fault = Error{Errc::OutOfRange, std::move(why)};
        }
    }

private:
    template <typename T>
    T within(std::string_view word, T value, std::pair<T, T> bounds, const std::string& most) {
        if ((value < bounds.first || value > bounds.second) && !fault) {
            fault = Error{Errc::OutOfRange,
                          spelled(word, spelling) + " must be above zero and at most " + most};
        }
        return std::clamp(value, bounds.first, bounds.second);
    }
};

std::uint64_t seed_of(const RunWords& words, Numbers& numbers) {
    return numbers.keep("seed", parse_number(words.seed, ~std::uint64_t{0}));
}

Arrivals edge(const RunWords& words, Units cost, Numbers& numbers) {
    const std::uint64_t size = numbers.count("size", words.size).count();
    const Nanoseconds at = numbers.duration("edge-at", words.edge_at);
    const Nanoseconds apart = numbers.duration("apart", words.apart);
    if (apart / 2 > at) {
        numbers.refuse(spelled("apart", numbers.spelling) + " is at most twice " +
                       spelled("edge-at", numbers.spelling) +
                       ": the first burst would come before 0 s");
    }
    return around_edge(size, at, apart, cost);
}

Arrivals hits(const RunWords& words, Units cost, Numbers& numbers) {
    if (words.hits.size() > kMostHits) {
        numbers.refuse(spelled("hits", numbers.spelling) + " has at most " +
                       std::to_string(kMostHits) + " instants");
        return listed({}, cost);
    }
    std::vector<Instant> instants;
    for (const std::string& text : words.hits) {
        instants.push_back(numbers.instant("hits", text));
    }
    if (!std::is_sorted(instants.begin(), instants.end())) {
        numbers.refuse(spelled("hits", numbers.spelling) + " stand in order of time");
    }
    return listed(std::move(instants), cost);
}

Arrivals arrivals_of(const RunWords& words, Units cost, Numbers& numbers) {
    if (words.load == "constant") {
        return constant(numbers.rate("offer", words.offer), cost);
    }
    if (words.load == "bursts") {
        return bursts(numbers.count("size", words.size).count(),
                      numbers.duration("every", words.every), cost);
    }
    if (words.load == "poisson") {
        return poisson(numbers.rate("offer", words.offer), seed_of(words, numbers), cost);
    }
    if (words.load == "on-off") {
        return on_off(numbers.rate("offer", words.offer), numbers.duration("on", words.on),
                      numbers.duration("off", words.off), cost);
    }
    return words.load == "edge" ? edge(words, cost, numbers) : hits(words, cost, numbers);
}

}  // namespace

std::string spelled(std::string_view word, Spelling spelling) {
    if (spelling == Spelling::Option) {
        return "--" + std::string{word};
    }
    std::string member = "`" + std::string{word} + "`";
    std::replace(member.begin(), member.end(), '-', '_');
    return member;
}

std::span<const std::string_view> load_names() noexcept {
    return kLoads;
}

bool ends_by_itself(std::string_view load) noexcept {
    return load == "backlog" || load == "edge" || load == "hits" || load == "capture";
}

Result<Load> draw_load(const RunWords& words, Per per, Spelling spelling) {
    // A capture is read by its caller, if at all.
    const auto known = std::span{kLoads}.first(kLoads.size() - 1);
    if (std::find(known.begin(), known.end(), words.load) == known.end()) {
        const auto shown = spelling == Spelling::Option ? std::span{kLoads} : known;
        return Error{Errc::BadSyntax, spelled("load", spelling) + " is one of " + list_of(shown) +
                                          "; found '" + words.load + "'" +
                                          did_you_mean(words.load, shown)};
    }
    Numbers numbers{.per = per, .spelling = spelling};
    Load load;
    load.cost = numbers.cost("cost", words.cost);
    if (words.load == "backlog") {
        load.backlog = Backlog{numbers.count("backlog", words.backlog).count(),
                               numbers.duration("ask-every", words.ask_every)};
    } else {
        load.arrivals = arrivals_of(words, load.cost, numbers);
    }
    if (numbers.fault) {
        return *std::move(numbers.fault);
    }
    return load;
}

}  // namespace sluice
