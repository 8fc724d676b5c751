#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// Why a first line is no request's.
enum class LineFault : std::uint8_t {
    None,
    NoMethod,       // nothing stands where a method should, or what no method is
    MethodTooLong,  // Anywhere: longer than kMaxMethodSize
    NoTarget,       // one word alone
    NoTargetForm,   // Anywhere: the second word is no target
    NoVersion,      // neither ends in a version nor is HTTP/0.9
    H2Preface,      // HTTP/2 in clear, which is recognised and not read
};
inline constexpr auto kLineFaultNames =
    std::to_array<std::string_view>({"none", "no_method", "method_too_long", "no_target",
                                     "no_target_form", "no_version", "h2_preface"});

// Longer than any method of IANA's registry, so that other protocols are soon told apart.
inline constexpr std::size_t kMaxMethodSize = 32;
// Longer than any scheme of IANA's registry.
inline constexpr std::size_t kMaxSchemeSize = 32;

}  // namespace sluice
