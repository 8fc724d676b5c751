#pragma once
#include "lib/policy/limits/limit_builder.hpp"
#include "lib/policy/limits/parameter.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace sluice {

// An algorithm of the language. Rule files, `check`'s suggestions and the options of `simulate` all
// go by this table; `algorithm` and `per`, which every limit has, are beside it.
struct LimitAlgorithm {
    std::string_view name;
    std::span<const Parameter> parameters;
    void (*build)(LimitBuilder&);
    Per usual_per = Per::Packet;
    bool per_is_fixed = false;  // it counts nothing else

    // The parameter that names a field, whose values it counts; nullptr: it has none.
    [[nodiscard]] const Parameter* field() const noexcept {
        const auto* const found =
            std::find_if(parameters.data(), parameters.data() + parameters.size(),
                         [](const Parameter& one) { return one.kind == ParameterKind::Field; });
        return found == parameters.data() + parameters.size() ? nullptr : found;
    }
};

[[nodiscard]] std::span<const LimitAlgorithm> limit_algorithms() noexcept;

// The limit that these values make.
[[nodiscard]] BuiltLimit build_limit(const LimitAlgorithm& algorithm, const ParameterValues& values,
                                     Per per);

// True if a limit whose `variant` is among `values` has the parameter.
[[nodiscard]] bool has_meaning(const Parameter& parameter, const ParameterValues& values);

}  // namespace sluice
