#pragma once
#include "lib/meter/any_meter.hpp"
#include "lib/meter/bucket_in.hpp"
#include "lib/meter/gcra.hpp"
#include "lib/pipeline/look_at.hpp"

#include <variant>

namespace sluice {

[[nodiscard]] inline bool is_admitted(Judgement judgement) noexcept {
    return judgement == Judgement::Green || judgement == Judgement::Yellow;
}

// What the bucket at look.entry says of look.cost, under look.numbers.
[[nodiscard]] inline Judgement ask_bucket(const Look& look, const Judging& judging) noexcept {
    Tenants& tenants = judging.core.buckets.tenants;
    Cell cell = tenants.cell_of(*look.entry);
    if (const auto* token = std::get_if<TokenBucketLimit>(look.numbers)) [[likely]] {
        return admits(bucket_in(cell, token->gcra), token->gcra, judging.now.at, look.cost)
                   ? Judgement::Green
                   : Judgement::Red;
    }
    const Demand demand{look.cost, judging.color()};
    const Judgement judgement =
        sluice::look(cell, *look.numbers, tenants.pool(), judging.now, demand);
    tenants.write(*look.entry, cell, judging.now);
    return judgement;
}

}  // namespace sluice
