#pragma once
#include "lib/base/result.hpp"
#include "lib/match/public_suffixes.hpp"

#include <string_view>
#include <vector>

namespace sluice {

// The path at which Debian's `publicsuffix` puts the list.
inline constexpr const char* kSuffixListFile = "/usr/share/publicsuffix/public_suffix_list.dat";

// Reads the public suffix list in its text form (publicsuffix.org/list): a rule a line, `//`
// comments. Names become A-labels through libidn2; private domains (those of hosters) count as
// public ones do. BadSyntax: a line is no rule. TooMany: there are more than can be.
[[nodiscard]] Result<std::vector<SuffixRule>> read_suffix_list(std::string_view text);

}  // namespace sluice
