#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace sluice::bench {

// A rule file with a limit for every request by source and host, and beside it limits that
// `patterns` conditions over path, query and headers select, five to a rule, as users write them:
// words that a path or a header contains, beginnings of paths, regular expressions.
struct HttpRules {
    explicit HttpRules(std::size_t patterns);

    std::string text;
    // First segments of paths that a rule selects by their beginning.
    std::vector<std::string> segments;
};

}  // namespace sluice::bench
