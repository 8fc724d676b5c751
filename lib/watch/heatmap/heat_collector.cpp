#include "lib/watch/heatmap/heat_collector.hpp"

#include "lib/packet/field_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace sluice {
namespace {

// Fields of a packet that groups may have in common.
constexpr auto kShownFields =
    std::to_array<Field>({Field::IpSrc, Field::IpDst, Field::IpProto, Field::L4Dport,
                          Field::IpSrcCountry, Field::IpSrcAsn});

std::string text_of(ByteView bytes) {
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(),
                   [](std::byte byte) { return static_cast<char>(byte); });
    return text;
}

// Limits that have a map, as far as there is room; those in `looks` first.
class Planning {
public:
    Planning(const LoadedSet& set, HeatPlan& plan) noexcept : set_{set}, plan_{plan} {}

    template <typename Chosen>
    void add_rules(Chosen&& chosen) {
        for (std::uint32_t i = 0; i < set_.rules.size(); ++i) {
            const LoadedRule& rule = set_.rules[i];
            if (!rule.limits.empty() && chosen(rule)) {
                add_limits(i);
            }
        }
    }
    [[nodiscard]] std::uint64_t without_room() const noexcept { return without_room_; }

private:
    void add_limits(std::uint32_t index) {
        const LoadedRule& rule = set_.rules[index];
        for (std::uint32_t i = 0; i < rule.limits.size(); ++i) {
            if (plan_.limits.size() == HeatPlan::kMostLimits) {
                ++without_room_;
                continue;
            }
            plan_.limits.push_back({.rule = rule.id,
                                    .index = set_.meter_plan.rules[index].first_limit + i,
                                    .limit = static_cast<std::uint8_t>(i),
                                    .identity = rule.limits[i].identity});
        }
    }

    const LoadedSet& set_;
    HeatPlan& plan_;
    std::uint64_t without_room_ = 0;
};

// The rule, or the one that a candidate stands for: its id is the same, and a name behind a dot.
bool is_looked_at(const LoadedSet& set, const LoadedRule& rule,
                  const std::map<std::string, Instant>& looks) {
    return looks.contains(rule.id) || looks.contains(set.rules[rule.place].id);
}

// The place of a limit of another plan; SIZE_MAX: it has none.
std::size_t place_of(const HeatPlan::Limit& limit, std::uint64_t load,
                     const HeatPlan& plan) noexcept {
    const auto same =
        std::find_if(plan.limits.begin(), plan.limits.end(),
                     [&](const HeatPlan::Limit& one) { return one.index == limit.index; });
    return load == plan.load && same != plan.limits.end()
               ? static_cast<std::size_t>(same - plan.limits.begin())
               : SIZE_MAX;
}

}  // namespace

HeatPacket heat_packet_of(const HeatPacketRecord& record, const HeatCollector::PairOf& pair_of) {
    HeatPacket packet;
    const std::string pair = pair_of(record.headers.port);
    for (const Field field : kShownFields) {
        std::string value = record.headers.fields.has(field)
                                ? field_text(field, record.headers, {}, pair)
                                : std::string{};
        if (!value.empty()) {
            packet.fields.push_back({std::string{row_of(field).name}, std::move(value)});
        }
    }
    for (std::size_t i = 0; i < HeatPacketRecord::kTexts.size(); ++i) {
        if (record.text_sizes[i] != 0) {
            packet.fields.push_back(
                {std::string{row_of(HeatPacketRecord::kTexts[i]).name},
                 text_of(ByteView{record.texts[i]}.first(record.text_sizes[i]))});
        }
    }
    return packet;
}

HeatCollector::HeatCollector(std::vector<HeatSampler*> samplers, std::size_t most_samples)
    : samplers_{std::move(samplers)}, most_samples_{most_samples}, owes_(samplers_.size()) {}

void HeatCollector::adopt(const LoadedSet& set, std::uint64_t generation) {
    set_ = &set;
    if (set.load == load_) {
        return;
    }
    load_ = set.load;
    generation_ = generation;
    is_cut_ = true;
}

// Looks that are not asked for again last, in case an answer was lost, and until others are: the
// one that ends first makes room.
void HeatCollector::look_at(const std::vector<std::string>& rules, Now now) {
    bool is_new = false;
    const std::size_t most = std::min(rules.size(), kMostLookedAt);
    const std::set<std::string> asked(rules.begin(),
                                      rules.begin() + static_cast<std::ptrdiff_t>(most));
    for (const std::string& rule : asked) {
        if (!rule.empty()) {
            is_new |= looks_.insert_or_assign(rule, now.at + kLookLasts).second;
        }
    }
    while (looks_.size() > kMostLookedAt) {
        const auto rank = [&](const auto& look) {
            return std::pair{asked.contains(look.first), look.second};
        };
        looks_.erase(
            std::min_element(looks_.begin(), looks_.end(),
                             [&](const auto& a, const auto& b) { return rank(a) < rank(b); }));
    }
    if (is_new && plan_->empty()) {
        turn_at_ = now.at;  // nothing is watched that this could cut short
    }
}

void HeatCollector::make_plan() {
    auto plan = std::make_shared<HeatPlan>();
    plan->load = load_;
    plan->generation = generation_;
    Planning planning{*set_, *plan};
    planning.add_rules([&](const LoadedRule& rule) { return is_looked_at(*set_, rule, looks_); });
    planning.add_rules([&](const LoadedRule& rule) {
        return rule.heatmap == Heatmap::On && !is_looked_at(*set_, rule, looks_);
    });
    std::sort(plan->limits.begin(), plan->limits.end(),
              [](const HeatPlan::Limit& a, const HeatPlan::Limit& b) { return a.index < b.index; });
    std::map<std::uint64_t, NextBits> kept;
    for (HeatPlan::Limit& limit : plan->limits) {
        const NextBits& next = kept[limit.identity] = bits_[limit.identity];
        limit.bits = next.bits;
        limit.name_bits = next.name_bits;
    }
    bits_ = std::move(kept);
    stats_.watched_limits = plan->limits.size();
    stats_.unwatched_limits = planning.without_room();
    plan_ = std::move(plan);
}

// Every worker that has been read is given its next table, all with the same plan.
void HeatCollector::turn(Now now, const PairOf& pair_of) {
    if (closing_) {
        finish(pair_of);
    }
    const std::shared_ptr<const HeatPlan> ended = plan_;
    std::erase_if(looks_, [&](const auto& look) { return look.second <= now.at; });
    if (set_ != nullptr) {
        make_plan();
    }
    turn_at_ = now.at < turn_at_ ? turn_at_ : now.at + kEpoch;
    is_cut_ = false;
    if (ended->empty() && plan_->empty()) {
        return;
    }
    if (!ended->empty()) {
        closing_.emplace(Closing{.epoch = {.number = ++last_number_,
                                           .generation = ended->generation,
                                           .began_utc_ns = began_utc_.count(),
                                           .ended_utc_ns = now.utc().count(),
                                           .limits = {}},
                                 .plan = ended,
                                 .joins = std::vector<HeatJoin>(ended->limits.size()),
                                 .left_out = std::vector<std::uint64_t>(ended->limits.size())});
    }
    for (std::size_t worker = 0; worker < samplers_.size(); ++worker) {
        if (!owes_[worker]) {
            samplers_[worker]->still().begin({plan_, last_number_ + 1, kNames});
            samplers_[worker]->turn();
            owes_[worker] = true;
        }
    }
    began_utc_ = now.utc();
}

// A table that comes late was watched by a former plan: what has a place in this one is taken.
void HeatCollector::read(const HeatTable& table) {
    const HeatPlan& own = table.plan();
    std::vector<std::size_t> places(own.limits.size(), SIZE_MAX);
    for (std::size_t i = 0; closing_ && i < own.limits.size(); ++i) {
        const std::size_t place = place_of(own.limits[i], own.load, *closing_->plan);
        if (place != SIZE_MAX) {
            places[i] = place;
            closing_->joins[place].watched_by(table.bits(i));
            closing_->left_out[place] += table.left_out(i);
        }
    }
    std::vector<std::uint32_t> keys(own.limits.size());
    table.for_each([&](std::size_t place, const HeatRecord& record) {
        ++keys[place];
        if (places[place] == SIZE_MAX) {
            ++stats_.forgotten;
        } else {
            closing_->joins[places[place]].add(record.sample());
        }
    });
    choose_bits(table, keys);
}

// The most that any worker needs.
void HeatCollector::choose_bits(const HeatTable& table, const std::vector<std::uint32_t>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto found = bits_.find(table.plan().limits[i].identity);
        if (found == bits_.end()) {
            continue;
        }
        NextBits& next = found->second;
        const NextBits own{next_heat_bits(table.bits(i), keys[i], table.quota()),
                           heat_name_bits(keys[i], std::max(table.names(), 1U)), true};
        next = next.is_new ? NextBits{std::max(next.bits, own.bits),
                                      std::max(next.name_bits, own.name_bits), true}
                           : own;
    }
}

void HeatCollector::read_due() {
    for (std::size_t worker = 0; worker < samplers_.size(); ++worker) {
        if (owes_[worker] && samplers_[worker]->has_adopted()) {
            read(samplers_[worker]->still());
            owes_[worker] = false;
        }
    }
}

void HeatCollector::take_packets() {
    for (HeatSampler* const sampler : samplers_) {
        sampler->packets().drain([&](const HeatPacketRecord& record) {
            if (packets_.size() < kMostPackets) {
                packets_.push_back(record);
            } else {
                ++stats_.lost_names;
            }
        });
    }
}

void HeatCollector::name_keys(HeatLimit& limit, std::uint32_t index, const PairOf& pair_of) {
    const auto of_limit = [&](const HeatPacketRecord& record) {
        return record.limit == index && record.load == closing_->plan->load;
    };
    std::map<std::uint64_t, NamedHeatKey> named;
    for (const HeatPacketRecord& record : packets_) {
        const auto sample = std::lower_bound(
            limit.samples.begin(), limit.samples.end(), record.digest,
            [](const HeatSample& one, std::uint64_t digest) { return one.digest < digest; });
        if (record.epoch > closing_->epoch.number || !of_limit(record) ||
            sample == limit.samples.end() || sample->digest != record.digest) {
            continue;
        }
        NamedHeatKey& key = named[record.digest];
        if (key.packets.empty()) {
            key.digest = record.digest;
            key.key = text_of_key(std::span{record.key}.first(record.key_size), pair_of);
        }
        if (key.packets.size() < kMostPacketsOfKey) {
            key.packets.push_back(heat_packet_of(record, pair_of));
        }
    }
    for (auto& [digest, key] : named) {
        limit.names.push_back(std::move(key));
    }
}

void HeatCollector::finish(const PairOf& pair_of) {
    take_packets();
    HeatEpoch& epoch = closing_->epoch;
    epoch.late_workers = static_cast<std::uint32_t>(std::count(owes_.begin(), owes_.end(), true));
    const std::size_t most = most_samples_ / closing_->plan->limits.size();
    for (std::size_t i = 0; i < closing_->plan->limits.size(); ++i) {
        const HeatPlan::Limit& limit = closing_->plan->limits[i];
        HeatJoin::Joined joined = closing_->joins[i].take(most);
        stats_.left_out += closing_->left_out[i];
        epoch.limits.push_back({.rule = limit.rule,
                                .limit = limit.limit,
                                .sampling_bits = joined.bits,
                                .left_out = closing_->left_out[i],
                                .samples = std::move(joined.samples),
                                .names = {}});
        name_keys(epoch.limits.back(), limit.index, pair_of);
    }
    for (auto& [identity, next] : bits_) {
        next.is_new = false;
    }
    const std::uint64_t lost = stats().lost_names;
    epoch.lost_names = lost - std::exchange(lost_before_, lost);
    stats_.late_workers += epoch.late_workers;
    ++stats_.epochs;
    std::erase_if(packets_,
                  [&](const HeatPacketRecord& record) { return record.epoch <= epoch.number; });
    kept_.push_back(std::move(epoch));
    if (kept_.size() > kKept) {
        kept_.pop_front();
    }
    closing_.reset();
}

void HeatCollector::tick(Now now, const PairOf& pair_of) {
    take_packets();
    read_due();
    if (closing_ && std::none_of(owes_.begin(), owes_.end(), [](bool owes) { return owes; })) {
        finish(pair_of);
    }
    if (is_cut_ || now.at >= turn_at_) {
        turn(now, pair_of);
    }
}

std::vector<HeatEpoch> HeatCollector::after(std::uint64_t number, std::size_t most) const {
    std::vector<HeatEpoch> found;
    for (const HeatEpoch& epoch : kept_) {
        if (epoch.number > number && found.size() < most) {
            found.push_back(epoch);
        }
    }
    return found;
}

HeatStats HeatCollector::stats() const {
    HeatStats stats = stats_;
    for (const HeatSampler* const sampler : samplers_) {
        stats.lost_names += sampler->lost_packets();
    }
    return stats;
}

}  // namespace sluice
