#include "lib/engine/worker/packet_asker.hpp"

#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/steer_burst.hpp"
#include "lib/engine/stage/track_services.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kKeys = 64;  // nothing is charged in its tables
constexpr std::size_t kConnections = 256;

}  // namespace

UnitOptions few_units(UnitOptions options) noexcept {
    options.connections.max = std::min<std::size_t>(options.connections.max, kConnections);
    options.fragments.table = std::min<std::size_t>(options.fragments.table, kConnections);
    return options;
}

Result<std::unique_ptr<PacketAsker>> PacketAsker::make(const Treatment& treatment,
                                                       const LoadedRules& rules) {
    Result<std::unique_ptr<TextScratch>> texts =
        TextScratch::make(rules.rules().classifier.texts());
    if (!texts) {
        return texts.error();
    }
    return std::unique_ptr<PacketAsker>{new PacketAsker{treatment, rules, *std::move(texts)}};
}

PacketAsker::PacketAsker(const Treatment& treatment, const LoadedRules& rules,
                         std::unique_ptr<TextScratch> texts)
    : set_{rules.set()},
      texts_{std::move(texts)},
      parser_{treatment.units},
      core_{.policy = treatment.policy,
            .hash = KeyHasher{treatment.secret},
            .buckets = BucketStore{kKeys, kKeys},
            .counters = counters_,
            .texts = texts_.get(),
            .fragments = parser_.fragments()} {
    burst_->find_units_by(parser_.finder());
}

void PacketAsker::match(const AskedArrival& packet, Now now) {
    burst_->clear();
    adopt_services(*burst_, set_, core_, now.at);
    burst_->add(packet.frame, packet.dir, packet.pair);
    match_stages(*burst_, set_, core_, now);
}

void PacketAsker::follow(const AskedArrival& packet, Now now) {
    match(packet, now);
    if (BurstUnits* const units = burst_->units()) {
        units->settle(*burst_, row_bit(0), set_.meter_plan);
    }
}

std::optional<std::size_t> PacketAsker::owner(std::size_t workers) const {
    BurstOwners owners;
    const bool handed =
        workers > 1 && !set_.steering.empty() && find_owners(*burst_, set_, core_, workers, owners);
    return handed && owners[0] != kStays ? std::optional<std::size_t>{owners[0]} : std::nullopt;
}

PacketQuestion PacketAsker::question() {
    key_burst(*burst_, set_, core_);
    const BurstUnits* const found = burst_->units();
    const std::size_t units = found == nullptr ? 1 : std::max<std::size_t>(found->count(0), 1);
    std::size_t limits = 0;
    std::size_t boxes = 0;
    for (const LoadedRule& rule : set_.rules) {
        limits += rule.limits.size();
        boxes += rule.ban.boxes.size();
    }
    limits_.resize(units * limits);
    bans_.resize(units * boxes);
    return {set_.load, burst_.get(), {limits_, bans_}};
}

}  // namespace sluice
