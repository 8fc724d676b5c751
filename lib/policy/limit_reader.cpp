#include "lib/policy/limit_reader.hpp"

#include "lib/policy/nearest.hpp"
#include "lib/policy/units_text.hpp"

#include <array>

namespace sluice {
namespace {

constexpr auto kPerWords = std::to_array<std::string_view>(
    {"packet", "byte", "connection", "request", "query", "handshake"});

constexpr auto kAlgorithms = std::to_array<std::string_view>(
    {"token_bucket", "leaky_bucket", "fixed_window", "sliding_window", "sliding_counters",
     "sliding_log", "srtcm", "trtcm", "concurrency"});

constexpr auto kTokenBucketKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"rate"}, {"burst"}});

// Every parameter of the algorithms that are not built yet: known, so that a slip is still found.
constexpr auto kLaterKeys = std::to_array<KeyRow>(
    {{"algorithm"}, {"per"},   {"rate"},    {"burst"}, {"queue"},      {"shape"},   {"count"},
     {"window"},    {"phase"}, {"buckets"}, {"edge"},  {"utc_offset"}, {"variant"}, {"color"},
     {"cir"},       {"cbs"},   {"pir"},     {"pbs"},   {"eir"},        {"ebs"},     {"idle"}});

constexpr std::size_t kLargestUsualFrame = 1500;  // bytes of IP that an Ethernet MTU carries

// A scalar that must be written without quotes; nullptr (reported) otherwise.
const YamlNode* number_text(const MapReader& map, std::string_view key,
                            const ReadContext& context) {
    const YamlNode* value = map.find(key);
    if (value == nullptr) {
        context.problems.error(map.node().at, "a token_bucket needs `" + std::string{key} + "`");
        return nullptr;
    }
    if (!value->is_scalar() || !value->plain) {
        context.problems.error(
            value->at, "`" + std::string{key} + "` must be a number with its unit, without quotes");
        return nullptr;
    }
    return value;
}

std::optional<Rate> read_rate(const MapReader& map, Per per, const ReadContext& context) {
    const YamlNode* value = number_text(map, "rate", context);
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Rate> rate = parse_rate(value->text, per);
    if (!rate) {
        context.problems.error(value->at, rate.error().what);
        return std::nullopt;
    }
    return *rate;
}

std::optional<Units> read_burst(const MapReader& map, Per per, const ReadContext& context) {
    const YamlNode* value = number_text(map, "burst", context);
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Units> burst =
        per == Per::Byte ? parse_size(value->text) : parse_count(value->text);
    if (!burst) {
        context.problems.error(value->at, burst.error().what);
        return std::nullopt;
    }
    return *burst;
}

void warn_of_small_burst(const MapReader& map, Per per, Units burst, const ReadContext& context) {
    if (per == Per::Byte && burst.count() < kLargestUsualFrame) {
        context.problems.warning(map.find("burst")->at,
                                 "the burst is below the MTU: a full-sized packet never fits");
    }
}

void read_token_bucket(const MapReader& map, LimitText& limit, const ReadContext& context) {
    const std::optional<Rate> rate = read_rate(map, limit.per, context);
    const std::optional<Units> burst = read_burst(map, limit.per, context);
    if (!rate || !burst) {
        return;
    }
    warn_of_small_burst(map, limit.per, *burst, context);
    const Result<Limit> numbers = Limit::make(*rate, *burst);
    if (!numbers) {
        const bool of_burst = numbers.error().what.find("burst") != std::string::npos;
        context.problems.error(map.find(of_burst ? "burst" : "rate")->at, numbers.error().what);
        return;
    }
    limit.numbers = *numbers;
    limit.rate = map.find("rate")->text;
    limit.burst = map.find("burst")->text;
    limit.text = "token_bucket " + limit.rate + " burst " + limit.burst;
}

}  // namespace

std::optional<PerWord> read_per(const MapReader& map, const ReadContext& context) {
    const std::optional<std::size_t> index = map.word("per", kPerWords);
    if (!index) {
        return std::nullopt;
    }
    const auto per = static_cast<PerWord>(*index);
    if (per != PerWord::Packet && per != PerWord::Byte) {
        context.not_enforced(map.find("per")->at, "per: " + std::string{kPerWords[*index]});
    }
    return per;
}

LimitText read_limit(const YamlNode& node, std::optional<PerWord> rule_per,
                     const ReadContext& context) {
    LimitText limit;
    const YamlNode* named = value_of(node, "algorithm");
    const bool token_bucket = named != nullptr && named->text == kAlgorithms[0];
    const MapReader map{node, token_bucket ? std::span<const KeyRow>{kTokenBucketKeys} : kLaterKeys,
                        context, token_bucket ? "a token_bucket" : "a limit"};
    if (!map.is_map()) {
        return limit;
    }
    const PerWord per = read_per(map, context).value_or(rule_per.value_or(PerWord::Packet));
    limit.per = per == PerWord::Byte ? Per::Byte : Per::Packet;
    if (map.find("algorithm") == nullptr) {
        context.problems.error(node.at, "a limit needs `algorithm` (" + list_of(kAlgorithms) + ")");
        return limit;
    }
    const std::optional<std::size_t> algorithm = map.word("algorithm", kAlgorithms);
    if (!algorithm) {
        return limit;
    }
    limit.text = kAlgorithms[*algorithm];
    if (!token_bucket) {
        context.not_enforced(map.find("algorithm")->at,
                             "the algorithm " + std::string{kAlgorithms[*algorithm]});
        return limit;
    }
    read_token_bucket(map, limit, context);
    return limit;
}

}  // namespace sluice
