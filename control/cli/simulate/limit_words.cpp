#include "control/cli/simulate/limit_words.hpp"

#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sluice {
namespace {

// Reads one limit's words; the first error stays.
class WordReader {
public:
    WordReader(std::string_view algorithm, const LimitWords& words, Per per)
        : algorithm_{algorithm}, words_{words}, per_{per} {}

    [[nodiscard]] bool has(const std::string& name) const {
        const auto found = words_.find(name);
        return found != words_.end() && !found->second.empty();
    }
    [[nodiscard]] std::optional<Error>& fault() { return fault_; }

    Rate rate(const std::string& name) {
        return number<Rate>(name, [this](std::string_view text) { return parse_rate(text, per_); });
    }
    Units units(const std::string& name) {
        return number<Units>(name, [this](std::string_view text) {
            return per_ == Per::Byte ? parse_size(text) : parse_count(text);
        });
    }
    Nanoseconds duration(const std::string& name) {
        return number<Nanoseconds>(name, parse_duration);
    }
    Nanoseconds offset(const std::string& name) {
        return number<Nanoseconds>(name, [](std::string_view text) -> Result<Nanoseconds> {
            const std::optional<Nanoseconds> offset = parse_utc_offset(text);
            if (!offset) {
                return Error{Errc::BadSyntax, "`" + std::string{text} +
                                                  "` is no offset from UTC; write for instance "
                                                  "+03:00, from -23:59 to +23:59"};
            }
            return *offset;
        });
    }
    std::uint32_t small_number(const std::string& name, std::uint32_t max) {
        return number<std::uint32_t>(name, [max](std::string_view text) -> Result<std::uint32_t> {
            const Result<std::uint64_t> value = parse_number(text, max);
            return value ? Result<std::uint32_t>{static_cast<std::uint32_t>(*value)}
                         : value.error();
        });
    }
    // Index of the word given; 0 if none is.
    template <std::size_t kSize>
    std::size_t choice(const std::string& name,
                       const std::array<std::string_view, kSize>& choices) {
        if (!has(name)) {
            return 0;
        }
        const auto* const found = std::find(choices.begin(), choices.end(), words_.at(name));
        if (found == choices.end()) {
            keep({Errc::BadSyntax, "--" + option_name(name) + " is one of " + list_of(choices)});
            return 0;
        }
        return static_cast<std::size_t>(found - choices.begin());
    }

    void refuse(const std::string& name, std::string_view of) {
        if (has(name)) {
            keep({Errc::BadSyntax, std::string{of} + " has no --" + option_name(name)});
        }
    }

    // A window's count and length.
    WindowNumbers window() {
        const Units count = units("count");
        const Nanoseconds length = duration("window");
        return checked(WindowNumbers{}, [&] { return make_window_numbers(count, length); });
    }
    Limit bucket(const std::string& rate_name, const std::string& burst_name, LeastBurst least) {
        static const Limit none = *Limit::make({Units{1}, Nanoseconds{1}}, Units{1});
        const Rate rate = this->rate(rate_name);
        const Units burst = units(burst_name);
        return checked(none, [&] { return Limit::make(rate, burst, least); });
    }
    // What `make` makes, unless something is wrong before or in it.
    template <typename T, typename Make>
    T checked(T instead, const Make& make) {
        if (fault_) {
            return instead;
        }
        Result<T> made = make();
        if (!made) {
            keep(made.error());
            return instead;
        }
        return *std::move(made);
    }

    static std::string option_name(std::string name) {
        std::replace(name.begin(), name.end(), '_', '-');
        return name;
    }

private:
    template <typename T, typename Parse>
    T number(const std::string& name, const Parse& parse) {
        if (!has(name)) {
            keep({Errc::BadSyntax, std::string{algorithm_} + " needs --" + option_name(name)});
            return T{};
        }
        const Result<T> value = parse(words_.at(name));
        if (!value) {
            keep({value.error().code, "--" + option_name(name) + ": " + value.error().what});
            return T{};
        }
        return *value;
    }
    void keep(Error error) {
        if (!fault_) {
            fault_ = std::move(error);
        }
    }

    std::string_view algorithm_;
    const LimitWords& words_;
    Per per_;
    std::optional<Error> fault_;
};

AnyLimit token_bucket(WordReader& words) {
    return TokenBucketLimit{words.bucket("rate", "burst", LeastBurst::One)};
}
AnyLimit leaky_bucket(WordReader& words) {
    return LeakyBucketLimit{words.bucket("rate", "queue", LeastBurst::One)};
}
AnyLimit fixed_window(WordReader& words) {
    constexpr auto kPhases = std::to_array<std::string_view>({"clock", "first", "per_key"});
    const WindowNumbers numbers = words.window();
    const auto phase = static_cast<WindowPhase>(words.choice("phase", kPhases));
    const Nanoseconds offset =
        words.has("utc_offset") ? words.offset("utc_offset") : Nanoseconds{0};
    return words.checked(FixedWindowLimit{},
                         [&] { return make_fixed_window(numbers, phase, offset); });
}
AnyLimit sliding_window(WordReader& words) {
    return SlidingWindowLimit{words.window()};
}
AnyLimit sliding_counters(WordReader& words) {
    constexpr auto kEdges = std::to_array<std::string_view>({"strict", "lenient"});
    const WindowNumbers numbers = words.window();
    const std::uint32_t buckets = words.has("buckets")
                                      ? words.small_number("buckets", kMostSubWindows)
                                      : SlidingCountersLimit{}.buckets;
    const auto edge = static_cast<Edge>(words.choice("edge", kEdges));
    return words.checked(SlidingCountersLimit{},
                         [&] { return make_sliding_counters(numbers, buckets, edge); });
}
AnyLimit sliding_log(WordReader& words) {
    return SlidingLogLimit{words.window()};
}

AnyLimit color_meter(WordReader& words, ColorVariant variant, const std::string& second_rate,
                     const std::string& second_burst) {
    constexpr auto kModes = std::to_array<std::string_view>({"blind", "aware"});
    const auto mode = static_cast<ColorMode>(words.choice("color", kModes));
    const Limit first = words.bucket("cir", "cbs", LeastBurst::Zero);
    const Limit second = words.bucket(second_rate, second_burst, LeastBurst::Zero);
    if (words.fault()) {
        return AnyLimit{TokenBucketLimit{first}};
    }
    const Result<ColorLimit> made = ColorLimit::make(variant, mode, first, second);
    if (!made) {
        words.fault() = made.error();
        return AnyLimit{TokenBucketLimit{first}};
    }
    return *made;
}
AnyLimit srtcm(WordReader& words) {
    return color_meter(words, ColorVariant::Rfc2697, "cir", "ebs");
}
AnyLimit trtcm(WordReader& words) {
    constexpr auto kVariants = std::to_array<std::string_view>({"rfc2698", "rfc4115"});
    if (words.choice("variant", kVariants) == 0) {
        words.refuse("eir", kVariants[0]);
        words.refuse("ebs", kVariants[0]);
        return color_meter(words, ColorVariant::Rfc2698, "pir", "pbs");
    }
    words.refuse("pir", kVariants[1]);
    words.refuse("pbs", kVariants[1]);
    return color_meter(words, ColorVariant::Rfc4115, "eir", "ebs");
}

struct AlgorithmRow {
    std::string_view name;
    std::vector<std::string_view> words;
    AnyLimit (*read)(WordReader&);
};

const std::vector<AlgorithmRow>& rows() {
    static const std::vector<AlgorithmRow> table{
        {"token_bucket", {"rate", "burst"}, token_bucket},
        {"leaky_bucket", {"rate", "queue"}, leaky_bucket},
        {"fixed_window", {"count", "window", "phase", "utc_offset"}, fixed_window},
        {"sliding_window", {"count", "window"}, sliding_window},
        {"sliding_counters", {"count", "window", "buckets", "edge"}, sliding_counters},
        {"sliding_log", {"count", "window"}, sliding_log},
        {"srtcm", {"cir", "cbs", "ebs", "color"}, srtcm},
        {"trtcm", {"cir", "cbs", "pir", "pbs", "eir", "ebs", "variant", "color"}, trtcm},
    };
    return table;
}

const AlgorithmRow* find_algorithm(std::string_view name) {
    const auto found = std::find_if(rows().begin(), rows().end(),
                                    [name](const AlgorithmRow& row) { return row.name == name; });
    return found == rows().end() ? nullptr : &*found;
}

Error unknown_algorithm(std::string_view name) {
    std::vector<std::string_view> names;
    for (const AlgorithmRow& row : rows()) {
        names.push_back(row.name);
    }
    const std::string found = name.empty() ? "" : "; found '" + std::string{name} + "'";
    return {Errc::BadSyntax,
            "--algorithm is one of " + list_of(names) + found + did_you_mean(name, names)};
}

// A word given that the algorithm does not have.
std::optional<Error> stray_word(const AlgorithmRow& row, const LimitWords& words) {
    for (const auto& [name, value] : words) {
        const bool known = std::find(row.words.begin(), row.words.end(), name) != row.words.end();
        if (!known && !value.empty()) {
            return Error{Errc::BadSyntax, "a " + std::string{row.name} + " has no --" +
                                              WordReader::option_name(name)};
        }
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string_view> all_limit_words() {
    std::vector<std::string_view> all;
    for (const AlgorithmRow& row : rows()) {
        for (const std::string_view word : row.words) {
            if (std::find(all.begin(), all.end(), word) == all.end()) {
                all.push_back(word);
            }
        }
    }
    return all;
}

Result<AnyLimit> read_limit_words(std::string_view algorithm, const LimitWords& words, Per per) {
    const AlgorithmRow* row = find_algorithm(algorithm);
    if (row == nullptr) {
        return unknown_algorithm(algorithm);
    }
    if (std::optional<Error> stray = stray_word(*row, words)) {
        return *std::move(stray);
    }
    WordReader reader{algorithm, words, per};
    const AnyLimit limit = row->read(reader);
    if (reader.fault()) {
        return *std::move(reader.fault());
    }
    return limit;
}

}  // namespace sluice
