#pragma once
#include "lib/policy/overrides/override_builder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// An override file: CSV with the header `key,limit,rate,burst,count,expires,reason`, one key and
// one limit a line. The header may end with `,ban`; a line with `yes` there bans its key, until it
// expires, and names no limit. A field that holds a comma or a quote stands in quotes, with quotes
// inside doubled; it ends on its line. Empty lines, CRLF and a byte order mark are taken without a
// word.
namespace sluice {

struct CsvFault {
    Position at;
    std::string what;
};

struct OverrideCsv {
    static constexpr std::size_t kMaxFaults = 20;

    std::size_t rows = 0;
    std::vector<CsvFault> faults;  // the first of them
    std::size_t fault_count = 0;
};

// Adds the rows of the text, up to where it is interrupted.
[[nodiscard]] OverrideCsv read_override_csv(std::string_view text, OverrideBuilder& builder,
                                            const std::stop_token& stop = {});

}  // namespace sluice
