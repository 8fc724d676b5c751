#include "tests/bench/tight_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <yaml-cpp/yaml.h>

namespace sluice::bench {
namespace {

constexpr std::uint64_t kFewOfWindow = 4;
constexpr std::uint64_t kShortestWindow = 1'000;  // us

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};
// Amounts of packets and of bytes, and durations in us.
constexpr Unit kAmounts[] = {
    {"", 1},           {"K", 1'000},      {"M", 1'000'000},  {"G", 1'000'000'000},
    {"B", 1},          {"KB", 1'000},     {"MB", 1'000'000}, {"GB", 1'000'000'000},
    {"KiB", 1U << 10}, {"MiB", 1U << 20}, {"GiB", 1U << 30}};
constexpr Unit kDurations[] = {{"us", 1},         {"ms", 1'000},        {"s", 1'000'000},
                               {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000}};

// 0: no such number.
template <std::size_t Count>
std::uint64_t read(const std::string& text, const Unit (&units)[Count]) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const Unit* unit = std::find_if(std::begin(units), std::end(units), [&](const Unit& each) {
        return each.name == std::string_view{text}.substr(end);
    });
    return end == 0 || unit == std::end(units) ? 0 : std::stoull(text) * unit->factor;
}

bool counts_bytes(const std::string& amount) {
    return amount.ends_with('B');
}

void tighten_buckets(YAML::Node map) {
    for (const char* name : {"burst", "queue", "cbs", "ebs", "pbs"}) {
        if (const YAML::Node amount = map[name]; amount && amount.IsScalar()) {
            map[name] = counts_bytes(amount.Scalar()) ? "1600B" : "1";
        }
    }
}

// A window shorter by as much as its count is smaller.
void tighten_window(YAML::Node map) {
    const YAML::Node count = map["count"];
    const YAML::Node window = map["window"];
    if (!count || !window || !count.IsScalar() || !window.IsScalar()) {
        return;
    }
    const std::uint64_t amount = read(count.Scalar(), kAmounts);
    const std::uint64_t length = read(window.Scalar(), kDurations);
    const std::uint64_t few = kFewOfWindow * (counts_bytes(count.Scalar()) ? 1600 : 1);
    if (amount <= few || length == 0) {
        return;
    }
    const double share =
        std::max(static_cast<double>(few) / static_cast<double>(amount),
                 static_cast<double>(kShortestWindow) / static_cast<double>(length));
    if (share < 1) {
        const auto of = [&](std::uint64_t whole) {
            return std::to_string(static_cast<std::uint64_t>(static_cast<double>(whole) * share));
        };
        map["count"] = of(amount) + (counts_bytes(count.Scalar()) ? "B" : "");
        map["window"] = of(length) + "us";
    }
}

void tighten(YAML::Node node) {
    if (node.IsMap()) {
        tighten_buckets(node);
        tighten_window(node);
    }
    if (node.IsMap() || node.IsSequence()) {
        for (auto child : node) {
            tighten(node.IsMap() ? child.second : YAML::Node{child});
        }
    }
}

}  // namespace

std::string tight_rules(const std::string& text) {
    YAML::Node root = YAML::Load(text);
    tighten(root);
    return YAML::Dump(root) + "\n";
}

}  // namespace sluice::bench
