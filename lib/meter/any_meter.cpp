#include "lib/meter/any_meter.hpp"

#include "lib/meter/gcra.hpp"

namespace sluice {
namespace {

const Limit& gcra_of(const AnyLimit& limit) noexcept {
    const auto* leaky = std::get_if<LeakyBucketLimit>(&limit);
    return leaky != nullptr ? leaky->gcra : std::get_if<TokenBucketLimit>(&limit)->gcra;
}

}  // namespace

bool open_bucket(Cell& cell, const AnyLimit&, LinePool&, GroupKey, Now now) noexcept {
    cell = {now.at, 0};
    return true;
}

void close_bucket(const Cell&, Algorithm, LinePool&) noexcept {}

Judgement look(Cell& cell, const AnyLimit& limit, LinePool&, Now now, Demand demand) noexcept {
    return admits({cell.fresh_from, cell.rest}, gcra_of(limit), now.at, demand.cost)
               ? Judgement::Green
               : Judgement::Red;
}

void charge(Cell& cell, const AnyLimit& limit, LinePool&, Now now, Units cost, Judgement) noexcept {
    Gcra bucket{cell.fresh_from, cell.rest};
    charge(bucket, gcra_of(limit), now.at, cost);
    cell = {bucket.fresh_from, bucket.below};
}

void charge_what_fits(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                      Units cost) noexcept {
    charge(cell, limit, pool, now, std::min(cost, remaining(cell, limit, pool, now)),
           Judgement::Green);
}

Units remaining(const Cell& cell, const AnyLimit& limit, const LinePool&, Now now) noexcept {
    return remaining({cell.fresh_from, cell.rest}, gcra_of(limit), now.at);
}

std::optional<Nanoseconds> wait(const Cell& cell, const AnyLimit& limit, const LinePool&, Now now,
                                Demand demand) noexcept {
    return wait({cell.fresh_from, cell.rest}, gcra_of(limit), now.at, demand.cost);
}

void renumber(Cell&, const AnyLimit&, const AnyLimit&, LinePool&, Now) noexcept {}

void leave_at_most(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                   Units most) noexcept {
    const Units left = remaining(cell, limit, pool, now);
    if (left > most) {
        charge(cell, limit, pool, now, Units{left.count() - most.count()}, Judgement::Green);
    }
}

}  // namespace sluice
