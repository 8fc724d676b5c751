#include "control/replay/draft_replay.hpp"
#include "lib/base/bytes.hpp"
#include "lib/policy/compile.hpp"
#include "tests/fuzz/input.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

// Any bytes as the capture of POST /v1/replay, over a draft that reads requests: every frame has
// one verdict, and no group more that was refused than there are groups.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    static const std::optional<CompiledRules> rules = [] {
        Problems problems{"fuzz"};
        return compile_rules(
            {.file = "fuzz",
             .text = "version: 1\nrules:\n  - id: draft\n    key: [ip.src]\n"
                     "    when: http.host ne \"a\" or ip.proto eq 17\n"
                     "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"},
            Purpose::Enforce, {}, problems);
    }();
    test::require(rules.has_value());
    int turns = 0;
    const Result<DraftReplay> told =
        replay_draft({.rules = *rules,
                      .draft = "draft",
                      .capture = ByteView{reinterpret_cast<const std::byte*>(data), size},
                      .may_go_on = [&turns] { return ++turns < 1000; }});
    if (!told) {
        test::require(!told.error().what.empty());
        return 0;
    }
    std::uint64_t verdicts = 0;
    for (const std::uint64_t count : told->by_verdict) {
        verdicts += count;
    }
    test::require(verdicts == told->packets);
    for (const DraftReplay::LimitRow& limit : told->limits) {
        test::require(limit.counts.refused_groups <= limit.counts.groups);
        test::require(limit.counts.refused <= limit.counts.offered);
    }
    return 0;
}
