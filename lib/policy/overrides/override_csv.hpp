#pragma once
#include "lib/policy/lists/data_file.hpp"
#include "lib/policy/overrides/override_builder.hpp"

#include <string>
#include <string_view>

// An override file: CSV with the header `key,limit,rate,burst,count,expires,reason`, one key and
// one limit a line. The header may end with `,ban`; a line with `yes` there bans its key, until it
// expires, and names no limit. A field that holds a comma or a quote stands in quotes, with quotes
// inside doubled; it ends on its line. Empty lines, CRLF and a byte order mark are taken without a
// word.
namespace sluice {

struct OverrideCsv : LineFaults {
    std::size_t rows = 0;
};

// Adds the rows of the text, up to where it is interrupted.
[[nodiscard]] OverrideCsv read_override_csv(std::string_view text, OverrideBuilder& builder,
                                            const std::stop_token& stop = {});

}  // namespace sluice
