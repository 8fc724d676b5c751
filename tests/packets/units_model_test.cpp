#include "tests/packets/unit_lines.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Packets of several units against a slow model of the rule language: random rules, random packets
// of units, and for each packet its verdict, reason and rule, and for each rule what it counted.
// The model has the page about the language alone: it charges copies one unit after the other.
namespace sluice::units_model_test {
namespace {

using namespace std::chrono_literals;
using test::kStart;

constexpr std::int64_t kUnitTime = 250'000'000;  // ns for each unit that a rate earns: 4/s
constexpr std::int64_t kWindow = 1'000'000'000;

enum class Kind { Tokens, Log, Colors };
enum class Counts { Packets, Requests, Queries };
enum class Groups { Nobody, Source, Text };
enum class Does { Meter, Allow, Deny };
enum class Color { Green, Yellow, Red };

struct ModelLimit {
    Kind kind{};
    Counts counts{};
    std::int64_t most = 1;
};
struct ModelRule {
    std::string id;
    char begins = 0;  // the text begins so; 0: any unit
    Does does = Does::Meter;
    bool enforces = true;
    bool budget = false;
    bool tags = false;  // what is refused, in place of dropping it
    bool rejected_spend = false;
    Groups groups{};
    std::int64_t cost = 1;
    std::vector<ModelLimit> limits;
};

// What one key has used under one limit.
struct Bucket {
    std::int64_t tat = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> log;  // instant and units
    // Of a colour meter, in ns: what each of its buckets has; nothing before the first packet.
    bool begun = false;
    std::int64_t last = 0;
    std::int64_t committed = 0;
    std::int64_t excess = 0;
};

class Meter {
public:
    Meter(const ModelLimit& limit, Bucket& bucket, std::int64_t now)
        : limit_{limit}, bucket_{bucket}, now_{now} {}

    [[nodiscard]] Color ask(std::int64_t cost) {
        switch (limit_.kind) {
            case Kind::Tokens:
                return std::max(bucket_.tat, now_) - now_ <= (limit_.most - cost) * kUnitTime
                           ? Color::Green
                           : Color::Red;
            case Kind::Log:
                return in_window() + cost <= limit_.most ? Color::Green : Color::Red;
            default:
                refill();
                return bucket_.committed >= cost * kUnitTime ? Color::Green
                       : bucket_.excess >= cost * kUnitTime  ? Color::Yellow
                                                             : Color::Red;
        }
    }
    void charge(std::int64_t cost, Color color) {
        switch (limit_.kind) {
            case Kind::Tokens:
                bucket_.tat = std::max(bucket_.tat, now_) + cost * kUnitTime;
                return;
            case Kind::Log:
                bucket_.log.emplace_back(now_, cost);
                return;
            default:
                refill();
                (color == Color::Green ? bucket_.committed : bucket_.excess) -= cost * kUnitTime;
        }
    }
    // Down to nothing at most.
    void empty(std::int64_t cost) {
        if (limit_.kind == Kind::Colors) {
            return;
        }
        if (limit_.kind == Kind::Tokens) {
            const std::int64_t empty = now_ + limit_.most * kUnitTime;
            bucket_.tat = std::min(std::max(bucket_.tat, now_) + cost * kUnitTime, empty);
            return;
        }
        while (cost > 0 && ask(cost) == Color::Red) {
            --cost;
        }
        if (cost > 0) {
            charge(cost, Color::Green);
        }
    }

private:
    [[nodiscard]] std::int64_t in_window() const {
        std::int64_t used = 0;
        for (const auto& [at, units] : bucket_.log) {
            used += at + kWindow > now_ ? units : 0;
        }
        return used;
    }
    // RFC 2697: what the first bucket has no room for goes to the second one.
    void refill() {
        const std::int64_t full = limit_.most * kUnitTime;
        if (!bucket_.begun) {
            bucket_ = {.begun = true, .last = now_, .committed = full, .excess = full};
        }
        const std::int64_t committed = bucket_.committed + now_ - bucket_.last;
        bucket_.committed = std::min(committed, full);
        bucket_.excess = std::min(bucket_.excess + committed - bucket_.committed, full);
        bucket_.last = now_;
    }

    const ModelLimit& limit_;
    Bucket& bucket_;
    std::int64_t now_;
};

struct ModelUnit {
    std::optional<Counts> kind;  // nullopt: the packet's own
    std::string text;
};
struct ModelPacket {
    std::string source;
    std::vector<ModelUnit> units;
};
struct Outcome {
    int verdict = 0;  // 0: pass, 1: tag, 2: drop
    Reason reason = Reason::Unmatched;
    int rule = 1000;  // none
};
struct Tally {
    std::uint64_t admitted = 0;
    std::uint64_t exceeded = 0;
};

class Model {
public:
    explicit Model(std::vector<ModelRule> rules)
        : rules_{std::move(rules)}, tallies(rules_.size()) {}

    Outcome judge(const ModelPacket& packet, std::int64_t now) {
        packet_ = &packet;
        now_ = now;
        asked_.clear();
        judged_.assign(rules_.size(), false);
        counted_.clear();
        refused_.assign(rules_.size(), false);
        budget_has_room_.assign(rules_.size(), false);
        provisional_ = buckets_;
        has_room_.clear();
        std::optional<Outcome> strictest;
        for (const ModelUnit& unit : packet.units) {
            const Outcome outcome = judge_unit(unit);
            if (!strictest || stricter(outcome, *strictest)) {
                strictest = outcome;
            }
        }
        spend(strictest->verdict < 2);
        count_room(strictest->verdict < 2);
        return *strictest;
    }

private:
    // Units that a rule has room for count once it is known what becomes of the packet.
    void count_room(bool forwarded) {
        for (const std::size_t i : has_room_) {
            const ModelRule& rule = rules_[i];
            const bool acts = rule.enforces || rule.budget;
            const bool goes_on = forwarded && (acts || !blocks(i));
            if (goes_on || (rule.does == Does::Allow && !acts)) {
                ++tallies[i].admitted;
            } else if (blocks(i)) {
                ++tallies[i].exceeded;
            }
        }
    }
    // It would keep the packet back, for one of its units.
    [[nodiscard]] bool blocks(std::size_t i) const { return refused_[i] && !rules_[i].tags; }

    using Place = std::tuple<std::size_t, std::size_t, std::string>;  // rule, limit, key
    struct Asked {
        Place place;
        std::int64_t cost;
        Color color;
        bool spends;  // unless the rest of the packet is against it
    };

    static bool stricter(const Outcome& a, const Outcome& b) {
        if (a.verdict != b.verdict) {
            return a.verdict > b.verdict;
        }
        if (a.rule != b.rule) {
            return a.rule < b.rule;
        }
        return a.reason == Reason::WithinLimits && b.reason == Reason::Unmatched;
    }

    [[nodiscard]] std::string key_of(const ModelRule& rule, const ModelUnit& unit) const {
        return rule.groups == Groups::Nobody   ? ""
               : rule.groups == Groups::Source ? packet_->source
                                               : unit.text;
    }

    // Which limits of a rule have this unit to judge.
    std::vector<std::size_t> limits_for(std::size_t number, const ModelUnit& unit) {
        std::vector<std::size_t> these;
        for (std::size_t i = 0; i < rules_[number].limits.size(); ++i) {
            const Counts counts = rules_[number].limits[i].counts;
            if (counts == Counts::Packets ? counted_.insert({number, i}).second
                                          : unit.kind == counts) {
                these.push_back(i);
            }
        }
        return these;
    }

    struct Said {
        bool anything = false;
        bool refused = false;
    };
    Said ask(std::size_t number, const ModelUnit& unit, const std::vector<std::size_t>& limits) {
        const ModelRule& rule = rules_[number];
        Said said{.anything = !limits.empty()};
        const std::map<Place, Bucket> before = provisional_;
        const std::size_t first = asked_.size();
        for (const std::size_t i : limits) {
            const Place place{number, i, key_of(rule, unit)};
            Meter meter{rule.limits[i], provisional_[place], now_};
            const Color color = meter.ask(rule.cost);
            said.refused |= color == Color::Red;
            asked_.push_back({place, rule.cost, color, color != Color::Red});
            if (color != Color::Red) {
                meter.charge(rule.cost, color);
            }
        }
        if (rule.budget && said.refused) {
            provisional_ = before;
            for (std::size_t i = first; i < asked_.size(); ++i) {
                asked_[i].spends = false;
            }
        }
        return said;
    }

    Outcome judge_unit(const ModelUnit& unit) {
        std::vector<std::size_t> matching;
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            const std::string begins = std::string{"/"} + rules_[i].begins;
            if (rules_[i].begins == 0 || unit.text.starts_with(begins)) {
                matching.push_back(i);
            }
        }
        for (const std::size_t i : matching) {
            if (rules_[i].budget && within(i, unit)) {
                return {0, Reason::Bypass, static_cast<int>(i)};
            }
        }
        for (const std::size_t i : matching) {
            const bool allows = rules_[i].does == Does::Allow;
            if (rules_[i].does != Does::Meter) {
                if (allows) {
                    has_room_.push_back(i);
                } else {
                    refused_[i] = true;
                    ++tallies[i].exceeded;
                }
                if (rules_[i].enforces) {
                    return {allows ? 0 : 2, allows ? Reason::AllowRule : Reason::DenyRule,
                            static_cast<int>(i)};
                }
            }
        }
        Outcome outcome;
        for (const std::size_t i : matching) {
            if (!rules_[i].budget && rules_[i].does == Does::Meter) {
                meter(i, unit, outcome);
            }
        }
        return outcome;
    }

    bool within(std::size_t number, const ModelUnit& unit) {
        const std::vector<std::size_t> limits = limits_for(number, unit);
        if (limits.empty()) {
            return budget_has_room_[number];
        }
        const Said said = ask(number, unit, limits);
        budget_has_room_[number] = !said.refused;
        if (said.refused) {
            ++tallies[number].exceeded;
        } else {
            has_room_.push_back(number);
        }
        return !said.refused;
    }

    // Whether some limit of the rule is for such a unit, or for packets.
    static bool counts(const ModelRule& rule, const ModelUnit& unit) {
        return std::ranges::any_of(rule.limits, [&](const ModelLimit& limit) {
            return limit.counts == Counts::Packets || unit.kind == limit.counts;
        });
    }

    void meter(std::size_t number, const ModelUnit& unit, Outcome& outcome) {
        const ModelRule& rule = rules_[number];
        const Said said = ask(number, unit, limits_for(number, unit));
        if (!said.anything && judged_[number]) {
            return;  // the packet has been counted, and the rule counts nothing in this unit
        }
        judged_[number] = true;
        refused_[number] = refused_[number] || said.refused;
        if (said.refused) {
            ++tallies[number].exceeded;
        } else if (counts(rule, unit)) {
            has_room_.push_back(number);
        }
        if (!rule.enforces) {
            return;
        }
        const Outcome refusal{rule.tags ? 1 : 2, Reason::OverLimit, static_cast<int>(number)};
        if (said.refused && refusal.verdict > outcome.verdict) {
            outcome = refusal;
        } else if (said.anything && !said.refused && outcome.rule == 1000) {
            outcome.reason = Reason::WithinLimits;
        }
    }

    // All that admitted something, if the packet goes on; else what spends on refusal too.
    void spend(bool forwarded) {
        for (const Asked& asked : asked_) {
            const std::size_t number = std::get<0>(asked.place);
            const ModelRule& rule = rules_[number];
            const bool spends = forwarded && (rule.budget || rule.enforces || !refused_[number]);
            Meter meter{rule.limits[std::get<1>(asked.place)], buckets_[asked.place], now_};
            if (spends && asked.spends) {
                meter.charge(asked.cost, asked.color);
            } else if (!spends && rule.rejected_spend) {
                meter.empty(asked.cost);
            }
        }
    }

    std::vector<ModelRule> rules_;
    std::map<Place, Bucket> buckets_;
    std::map<Place, Bucket> provisional_;
    const ModelPacket* packet_ = nullptr;
    std::int64_t now_ = 0;
    std::vector<Asked> asked_;
    std::vector<bool> judged_;
    std::vector<bool> refused_;
    std::vector<bool> budget_has_room_;
    std::set<std::pair<std::size_t, std::size_t>> counted_;

    std::vector<std::size_t> has_room_;  // a rule for each unit of the packet

public:
    std::vector<Tally> tallies;
};

class Maker {
public:
    explicit Maker(std::uint32_t seed) : random_{seed} {}

    [[nodiscard]] int below(int end) {
        return static_cast<int>(random_() % static_cast<unsigned>(end));
    }
    [[nodiscard]] bool one_in(int many) { return below(many) == 0; }

    std::vector<ModelRule> rules() {
        std::vector<ModelRule> rules;
        if (one_in(2)) {
            rules.push_back(budget());
        }
        for (int i = 2 + below(4); i > 0; --i) {
            rules.push_back(rule(rules.size()));
        }
        return rules;
    }
    ModelPacket packet() {
        ModelPacket made{one_in(2) ? "10.0.0.1" : "10.0.0.2", {}};
        if (one_in(4)) {
            made.units.push_back({std::nullopt, text()});
            return made;
        }
        for (int i = 1 + below(5); i > 0; --i) {
            made.units.push_back({one_in(3) ? Counts::Queries : Counts::Requests, text()});
        }
        return made;
    }

private:
    char letter() { return "abc"[below(3)]; }
    std::string text() { return std::string{"/"} + letter() + std::to_string(below(2)); }
    ModelLimit limit(bool with_colors) {
        return {static_cast<Kind>(below(with_colors ? 3 : 2)), static_cast<Counts>(below(3)),
                2 + below(4)};
    }
    ModelRule budget() {
        ModelRule made{.id = "bypass.1", .begins = letter(), .budget = true};
        made.groups = static_cast<Groups>(below(3));
        made.limits.push_back(limit(false));
        return made;
    }
    ModelRule rule(std::size_t number) {
        ModelRule made{.id = "rule-" + std::to_string(number)};
        made.begins = one_in(3) ? '\0' : letter();
        made.enforces = !one_in(4);
        if (one_in(5)) {
            made.does = one_in(2) ? Does::Allow : Does::Deny;
            made.begins = letter();
            return made;
        }
        made.tags = one_in(4);
        made.rejected_spend = one_in(5);
        made.groups = static_cast<Groups>(below(3));
        made.cost = 1 + below(2);
        for (int i = 1 + below(2); i > 0; --i) {
            // A colour's own actions are another matter: tags come from on_exceed alone.
            made.limits.push_back(limit(!made.tags));
        }
        return made;
    }

    std::mt19937 random_;
};

std::string text_of(const ModelLimit& limit) {
    const std::string most = std::to_string(limit.most);
    return limit.kind == Kind::Tokens ? "algorithm: token_bucket, rate: 4/s, burst: " + most
           : limit.kind == Kind::Log
               ? "algorithm: sliding_log, window: 1s, count: " + most
               : "algorithm: srtcm, cir: 4/s, cbs: " + most + ", ebs: " + most;
}

std::string condition_of(const ModelRule& rule) {
    return rule.begins == 0
               ? ""
               : std::string{"when: 'starts_with(payload, \"/"} + rule.begins + "\")', ";
}

// The rule file; the name of a limit says what it counts (unit_lines.hpp).
std::string text_of(const std::vector<ModelRule>& rules) {
    std::string limits = "version: 1\nlimits:\n";
    std::string bypass;
    std::string text = "rules:\n";
    int named = 0;
    const auto names = [&](const ModelRule& rule) {
        std::string all;
        for (const ModelLimit& limit : rule.limits) {
            constexpr std::array<const char*, 3> kWords{"packet-", "request-", "query-"};
            const std::string name =
                kWords[static_cast<std::size_t>(limit.counts)] + std::to_string(named++);
            limits += "  " + name + ": {" + text_of(limit) + "}\n";
            all += (all.empty() ? "" : ", ") + name;
        }
        return all;
    };
    constexpr std::array<const char*, 3> kKeys{"[]", "[ip.src]", "[payload]"};
    for (const ModelRule& rule : rules) {
        const std::string key = kKeys[static_cast<std::size_t>(rule.groups)];
        if (rule.budget) {
            bypass += "bypass: [{" + condition_of(rule) + "key: " + key +
                      ", limit: " + names(rule) + "}]\n";
            continue;
        }
        text += "  - {id: " + rule.id + ", " + condition_of(rule) +
                "mode: " + (rule.enforces ? "enforce" : "monitor") + ", ";
        if (rule.does != Does::Meter) {
            text +=
                std::string{"on_match: "} + (rule.does == Does::Allow ? "allow" : "drop") + "}\n";
            continue;
        }
        text += "key: " + key + ", cost: " + std::to_string(rule.cost) + ", limits: [" +
                names(rule) + "]" + (rule.rejected_spend ? ", rejected_spend: true" : "") +
                (rule.tags ? ", on_exceed: {action: tag, dscp: 8}" : "") + "}\n";
    }
    return limits + bypass + text;
}

std::vector<std::byte> frame_of(const ModelPacket& packet) {
    std::string text;
    for (const ModelUnit& unit : packet.units) {
        text += unit.kind ? (*unit.kind == Counts::Queries ? "Q " : "R ") + unit.text + "\n"
                          : unit.text;
    }
    return test::lines(text)
        .src(packet.source)
        .dport(packet.units.front().kind ? test::kLinesPort : 53)
        .bytes();
}

// A burst is decided when the next one comes if two are in flight, else at once.
class Worker {
public:
    Worker(std::string_view rules, bool overlapped) : box_{rules}, overlapped_{overlapped} {
        for (Burst& burst : bursts_) {
            burst.find_units_by(box_.finder());
        }
    }
    // The bursts that come at this instant; what is decided by that.
    Burst& run(const std::vector<std::vector<std::byte>>& frames, Instant now) {
        Burst& coming = bursts_[turn_++ % 2];
        Burst& going = bursts_[turn_ % 2];
        coming.clear();
        for (const std::vector<std::byte>& frame : frames) {
            (void)coming.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In, 0);
        }
        if (overlapped_) {
            box_.run_overlapped(coming, going, now);
            return going;
        }
        box_.run(coming, now);
        return coming;
    }
    [[nodiscard]] test::UnitBox& box() { return box_; }

private:
    test::UnitBox box_;
    bool overlapped_;
    std::array<Burst, 2> bursts_;
    std::size_t turn_ = 0;
};

struct Arrivals {
    std::vector<ModelPacket> packets;
    std::vector<std::vector<std::byte>> frames;
};

void expect_same(const Burst& burst, const std::vector<ModelPacket>& packets, Model& model,
                 Instant now, test::UnitBox& box) {
    ASSERT_EQ(burst.size(), packets.size());
    for (std::size_t i = 0; i < packets.size(); ++i) {
        const Outcome want = model.judge(packets[i], now.time_since_epoch().count());
        const Decision& got = burst.packets()[i].decision;
        const int verdict = got.verdict == Verdict::Drop ? 2 : got.verdict == Verdict::Tag ? 1 : 0;
        EXPECT_EQ(verdict, want.verdict) << i;
        EXPECT_EQ(row_of(got.reason).name, row_of(want.reason).name) << i;
        EXPECT_EQ(got.rule == kNoRule ? 1000 : static_cast<int>(got.rule), want.rule)
            << i << ' ' << box.rule_name(got);
    }
}

void run(std::uint32_t seed) {
    Maker maker{seed};
    const std::vector<ModelRule> rules = maker.rules();
    const std::string text = text_of(rules);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Model model{rules};
    const bool overlapped = maker.one_in(2);
    Worker worker{text, overlapped};
    std::array<Arrivals, 2> arrivals;
    Instant now = kStart;
    constexpr std::size_t kSteps = 60;
    for (std::size_t step = 0; step <= kSteps && !testing::Test::HasFailure(); ++step) {
        Arrivals& coming = arrivals[step % 2];
        coming = {};
        // Nothing comes at last, so that all that has come is decided.
        for (int i = step == kSteps ? 0 : 1 + maker.below(5); i > 0; --i) {
            coming.packets.push_back(maker.packet());
            coming.frames.push_back(frame_of(coming.packets.back()));
        }
        now += Nanoseconds{maker.below(8) * 50'000'000};
        const Burst& decided = worker.run(coming.frames, now);
        expect_same(decided, arrivals[(step + (overlapped ? 1 : 0)) % 2].packets, model, now,
                    worker.box());
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
        EXPECT_EQ(worker.box().counters(i).admitted.read(), model.tallies[i].admitted) << i;
        EXPECT_EQ(worker.box().counters(i).exceeded.read(), model.tallies[i].exceeded) << i;
    }
}

TEST(UnitsModel, AgreesOverRandomRulesAndPackets) {
    const int rounds = test::rounds(60);
    for (int round = 0; round < rounds && !HasFailure(); ++round) {
        run(20'261'123U + static_cast<std::uint32_t>(round));
    }
}

}  // namespace
}  // namespace sluice::units_model_test
