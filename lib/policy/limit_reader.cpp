#include "lib/policy/limit_reader.hpp"

#include "lib/policy/nearest.hpp"
#include "lib/policy/units_text.hpp"

#include <array>
#include <span>

namespace sluice {
namespace {

constexpr auto kPerWords = std::to_array<std::string_view>(
    {"packet", "byte", "connection", "request", "query", "handshake"});

constexpr auto kTokenBucketKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"rate"}, {"burst"}});
constexpr auto kLeakyBucketKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"rate"}, {"queue"}});
constexpr auto kFixedWindowKeys = std::to_array<KeyRow>(
    {{"algorithm"}, {"per"}, {"count"}, {"window"}, {"phase"}, {"utc_offset"}});
constexpr auto kWindowKeys = std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"count"}, {"window"}});
constexpr auto kCountersKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"count"}, {"window"}, {"buckets"}, {"edge"}});
constexpr auto kOneRateKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"cir"}, {"cbs"}, {"ebs"}, {"color"}});
constexpr auto kTwoRateKeys = std::to_array<KeyRow>({{"algorithm"},
                                                     {"per"},
                                                     {"variant"},
                                                     {"cir"},
                                                     {"cbs"},
                                                     {"pir"},
                                                     {"pbs"},
                                                     {"eir"},
                                                     {"ebs"},
                                                     {"color"}});
constexpr auto kConcurrencyKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"count"}, {"idle"}});

// Every algorithm of the language with its parameters. The first is built; the others are known,
// so that a slip in them is found.
struct AlgorithmRow {
    std::string_view name;
    std::span<const KeyRow> keys;
};
constexpr auto kAlgorithms = std::to_array<AlgorithmRow>({
    {"token_bucket", kTokenBucketKeys},
    {"leaky_bucket", kLeakyBucketKeys},
    {"fixed_window", kFixedWindowKeys},
    {"sliding_window", kWindowKeys},
    {"sliding_counters", kCountersKeys},
    {"sliding_log", kWindowKeys},
    {"srtcm", kOneRateKeys},
    {"trtcm", kTwoRateKeys},
    {"concurrency", kConcurrencyKeys},
});
constexpr std::size_t kBuilt = 1;

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

bool is_built(PerWord per) noexcept {
    return per == PerWord::Packet || per == PerWord::Byte;
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
    const Per per = limit.per == PerWord::Byte ? Per::Byte : Per::Packet;
    const std::optional<Rate> rate = read_rate(map, per, context);
    const std::optional<Units> burst = read_burst(map, per, context);
    if (!rate || !burst) {
        return;
    }
    warn_of_small_burst(map, per, *burst, context);
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
    if (!is_built(per)) {
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
    limit.per = read_per(map, context).value_or(rule_per.value_or(PerWord::Packet));
    if (algorithm >= kAlgorithms.data() + kBuilt) {
        context.not_enforced(map.find("algorithm")->at, "the algorithm " + limit.text);
        return limit;
    }
    read_token_bucket(map, limit, context);
    if (!is_built(limit.per)) {
        limit.numbers.reset();
    }
    return limit;
}

}  // namespace sluice
