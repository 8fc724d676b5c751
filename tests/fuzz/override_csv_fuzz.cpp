#include "lib/policy/overrides/override_csv.hpp"

#include "lib/policy/compile.hpp"
#include "lib/policy/yaml/line_index.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace sluice;

Rule make_rule() {
    constexpr std::string_view kText =
        "version: 1\nrules:\n  - id: r\n    tiers:\n"
        "      - {key: [ip.src, l4.dport], limits: [{algorithm: token_bucket, rate: 5/s, burst: "
        "2}]}\n"
        "      - {key: [ip.dst], limits: [{algorithm: token_bucket, rate: 5/s, burst: 2}]}\n"
        "      - {key: [eth.src], limits: [{algorithm: fixed_window, count: 9, window: 1h}]}\n";
    Problems problems{"rules"};
    return compile_rules({"rules", kText}, Purpose::Enforce, {}, problems)->set.rules.front();
}

// Any two that share an address, but not all: one holds the other, and is larger.
void check_ranges(const Overrides& overrides) {
    for (const std::vector<OverrideRange>& ranges : overrides.ranges) {
        for (std::size_t i = 0; i < ranges.size() && i < 200; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const OverrideRange& a = ranges[j];
                const OverrideRange& b = ranges[i];
                const bool apart = a.version != b.version || a.last < b.first || b.last < a.first;
                const bool holds =
                    a.first <= b.first && b.last <= a.last && a.last - a.first > b.last - b.first;
                if (!apart && !holds) {
                    std::abort();
                }
            }
        }
    }
}

}  // namespace

// Any text, as an override file: faults lie inside it, and what was read is sound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Rule rule = make_rule();
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    OverrideBuilder builder{rule};
    const OverrideCsv csv = read_override_csv(text, builder);
    const LineIndex lines{text};
    for (const auto& fault : csv.faults) {
        const Position back = lines.place_at(lines.offset_of(fault.at));
        if (fault.what.empty() || back.line != fault.at.line || back.column != fault.at.column) {
            std::abort();
        }
    }
    std::vector<OverrideTwice> twice;
    const std::shared_ptr<const Overrides> overrides = builder.finish(twice);
    for (const OverrideTwice& one : twice) {
        if (one.what.empty() || one.first.line == 0 || one.second.line < one.first.line) {
            std::abort();
        }
    }
    if (overrides == nullptr) {
        return 0;
    }
    check_ranges(*overrides);
    RuleSet set;
    set.rules.push_back(rule);
    set.rules.front().overrides = overrides;
    const std::optional<std::string> fault = find_fault(set);
    if (fault && fault->find("override") != std::string::npos) {
        std::abort();
    }
    return 0;
}
