#pragma once
#include "lib/base/result.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/policy/limits/parameter.hpp"
#include "lib/policy/limits/promise.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/values/named_text.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Bytes of IP that an Ethernet MTU carries.
inline constexpr std::uint64_t kLargestUsualPacket = 1500;

// A fault of the value of one parameter, or a doubt about it.
struct LimitFault {
    std::string_view parameter;  // a name of the table
    Severity severity = Severity::Error;
    Error error;
};

// A limit made of the values of its parameters.
struct BuiltLimit {
    std::optional<AnyLimit> numbers;  // nullopt: a value is missing, or `faults` has an error
    std::string text;                 // "50/s burst 200"
    std::string bound;               // the most it admits in any window W: "200 packets + 50/s * W"
    std::optional<Promise> promise;  // the same as a number
    std::vector<NamedText> schema;   // what its state depends on: window, buckets, edge, ...
    std::vector<LimitFault> faults;
};

// The tools by which algorithms build their limits. Values that are missing have been reported; a
// limit that lacks one is not built.
class LimitBuilder {
public:
    LimitBuilder(const ParameterValues& values, Per per) noexcept : values_{values}, per_{per} {}

    [[nodiscard]] const ParameterValue* find(std::string_view parameter) const;
    // The value of a parameter that has a default.
    [[nodiscard]] std::uint64_t number(std::string_view parameter) const {
        return values_.at(parameter).number;
    }

    // The bucket that these two parameters describe.
    [[nodiscard]] std::optional<Limit> bucket(std::string_view rate, std::string_view burst,
                                              LeastBurst least);
    // `count` in `window`.
    [[nodiscard]] std::optional<WindowNumbers> window();

    // Takes the value that was made; an error is blamed on the first of these parameters that was
    // given and that the error names, else on the first of them.
    template <typename T>
    [[nodiscard]] std::optional<T> checked(const Result<T>& made,
                                           std::initializer_list<std::string_view> blamed) {
        if (!made) {
            blame(made.error(), blamed);
            return std::nullopt;
        }
        return *made;
    }

    // In both, {NAME} stands for the value as written and {units} for the word behind a count.
    void finish(const AnyLimit& numbers, std::string_view text, std::string_view bound);
    // Adds these values to what the limit's state depends on.
    void depends_on(std::initializer_list<std::string_view> parameters);
    void depends_on(NamedText part) { built_.schema.push_back(std::move(part)); }

    [[nodiscard]] BuiltLimit result() && { return std::move(built_); }

private:
    void blame(const Error& error, std::initializer_list<std::string_view> parameters);
    void warn_if_below_mtu(std::string_view parameter, Units burst);
    [[nodiscard]] std::string filled(std::string_view form) const;

    const ParameterValues& values_;
    Per per_;
    std::optional<Rate> written_;  // of its bucket
    BuiltLimit built_;
};

// The unit behind a number: " packets". Empty for bytes, whose sizes have theirs already.
[[nodiscard]] std::string_view unit_word(Per per, bool is_one) noexcept;

}  // namespace sluice
