#include "tests/bench/http_rules.hpp"

#include "tests/bench/http_heads.hpp"

#include <random>

namespace sluice::bench {
namespace {

constexpr std::size_t kPatternsPerRule = 5;

// Never exhausted, so that every request goes the whole way; its buckets stay live.
constexpr const char* kLimit =
    "key: [ip.src, http.host], per: request, limits: [{algorithm: token_bucket, rate: 10/s, burst: "
    "1M}]";

// Of a hundred conditions, so many are of this kind.
std::string condition(std::size_t number, std::mt19937_64& random,
                      std::vector<std::string>& segments) {
    const std::string word = random_word(random, 5, 8);
    const std::size_t kind = number % 20;
    if (kind < 7) {
        return "http.request.uri.path contains \"/" + word + "\"";
    }
    if (kind < 10) {
        segments.push_back(word);
        return "starts_with(http.request.uri.path, \"/" + word + "/\")";
    }
    if (kind < 12) {
        return "http.request.uri.path matches \"/" + word + "/[0-9]{1,8}/edit\"";
    }
    if (kind < 15) {
        return "lower(http.user_agent) contains \"" + word + "bot\"";
    }
    if (kind < 18) {
        return "http.request.uri.query contains \"" + word + "=\"";
    }
    return kind == 18 ? "http.referer contains \"" + word + ".example\""
                      : "http.user_agent matches \"" + word + "/[0-9]+[.][0-9]+\"";
}

}  // namespace

HttpRules::HttpRules(std::size_t patterns)
    : text{"version: 1\nrules:\n  - {id: clients, mode: enforce, " + std::string{kLimit} + "}\n"} {
    std::mt19937_64 random{5};
    for (std::size_t number = 0; number < patterns;) {
        text += "  - {id: r" + std::to_string(number) + ", mode: enforce, " + kLimit + ", when: '";
        for (std::size_t i = 0; i < kPatternsPerRule; ++i, ++number) {
            text += (i == 0 ? "" : " or ") + condition(number, random, segments);
        }
        text += "'}\n";
    }
}

}  // namespace sluice::bench
