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
    if (overrides == nullptr) {
        return 0;
    }
    RuleSet set;
    set.rules.push_back(rule);
    set.rules.front().overrides = overrides;
    const std::optional<std::string> fault = find_fault(set);
    if (fault && fault->find("override") != std::string::npos) {
        std::abort();
    }
    return 0;
}
