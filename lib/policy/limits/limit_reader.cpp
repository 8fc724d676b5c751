#include "lib/policy/limits/limit_reader.hpp"

#include "lib/policy/limits/bucket_limit_reader.hpp"
#include "lib/policy/limits/color_limit_reader.hpp"
#include "lib/policy/limits/window_limit_reader.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <array>
#include <span>

namespace sluice {
namespace {

constexpr auto kPerWords = std::to_array<std::string_view>(
    {"packet", "byte", "connection", "request", "query", "handshake"});

constexpr auto kConcurrencyKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"count"}, {"idle"}});

// Every algorithm of the language with its parameters. Without a reader it is known, so that a slip
// in it is found, and not built yet.
struct AlgorithmRow {
    std::string_view name;
    std::span<const KeyRow> keys;
    void (*read)(const LimitNumbersReader& numbers, LimitText& limit);
};
constexpr auto kAlgorithms = std::to_array<AlgorithmRow>({
    {"token_bucket", kTokenBucketKeys, read_token_bucket},
    {"leaky_bucket", kLeakyBucketKeys, read_leaky_bucket},
    {"fixed_window", kFixedWindowKeys, read_fixed_window},
    {"sliding_window", kWindowKeys, read_sliding_window},
    {"sliding_counters", kCountersKeys, read_sliding_counters},
    {"sliding_log", kWindowKeys, read_sliding_log},
    {"srtcm", kOneRateKeys, read_srtcm},
    {"trtcm", kTwoRateKeys, read_trtcm},
    {"concurrency", kConcurrencyKeys, nullptr},
});

constexpr auto kAlgorithmWords = [] {
    std::array<std::string_view, kAlgorithms.size()> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = kAlgorithms[i].name;
    }
    return words;
}();

// The algorithm a limit names; nullptr (reported) if it names none.
const AlgorithmRow* find_algorithm(const YamlNode& limit, const ReadContext& context) {
    const YamlNode* named = value_of(limit, "algorithm");
    if (named == nullptr) {
        context.problems.error(limit.at,
                               "a limit needs `algorithm` (" + list_of(kAlgorithmWords) + ")");
        return nullptr;
    }
    for (const AlgorithmRow& row : kAlgorithms) {
        if (named->is_scalar() && row.name == named->text) {
            return &row;
        }
    }
    context.problems.error(named->at, "`algorithm` is one of " + list_of(kAlgorithmWords) +
                                          "; found " + kind_name(*named) +
                                          did_you_mean(named->text, kAlgorithmWords));
    return nullptr;
}

}  // namespace

std::optional<Per> counted(PerWord per) noexcept {
    switch (per) {
        case PerWord::Packet:
            return Per::Packet;
        case PerWord::Byte:
            return Per::Byte;
        case PerWord::Connection:
            return Per::Connection;
        default:
            return std::nullopt;
    }
}

std::optional<PerWord> read_per(const MapReader& map, const ReadContext& context) {
    const std::optional<std::size_t> index = map.word("per", kPerWords);
    if (!index) {
        return std::nullopt;
    }
    const auto per = static_cast<PerWord>(*index);
    if (!counted(per)) {
        context.not_enforced(map.find("per")->at, "per: " + std::string{kPerWords[*index]});
    }
    return per;
}

std::string_view name_of(PerWord per) noexcept {
    return kPerWords[static_cast<std::size_t>(per)];
}

LimitText read_limit(const YamlNode& node, std::optional<PerWord> rule_per,
                     const ReadContext& context) {
    LimitText limit;
    if (!node.is_map()) {
        context.problems.error(node.at, "a limit must be a map, found " + kind_name(node));
        return limit;
    }
    const AlgorithmRow* algorithm = find_algorithm(node, context);
    if (algorithm == nullptr) {
        return limit;
    }
    const MapReader map{node, algorithm->keys, context, "a " + std::string{algorithm->name}};
    limit.text = algorithm->name;
    limit.schema = {{"algorithm", std::string{algorithm->name}}};
    limit.per = read_per(map, context).value_or(rule_per.value_or(PerWord::Packet));
    if (algorithm->read == nullptr) {
        context.not_enforced(map.find("algorithm")->at, "the algorithm " + limit.text);
        return limit;
    }
    const std::optional<Per> per = counted(limit.per);
    algorithm->read({map, per.value_or(Per::Packet), context, algorithm->name}, limit);
    if (!per) {
        limit.numbers.reset();
    }
    return limit;
}

}  // namespace sluice
