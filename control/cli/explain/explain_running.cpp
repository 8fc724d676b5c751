#include "control/cli/explain/explain_running.hpp"

#include "control/cli/explain/account_text.hpp"
#include "control/cli/explain/asked_frame.hpp"
#include "control/cli/explain/box_states.hpp"
#include "control/cli/explain/running_rules.hpp"
#include "control/cli/explain/seed.hpp"
#include "control/cli/replay/frame_source.hpp"
#include "control/cli/terminal.hpp"
#include "lib/rules/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// The rules as sluiced holds them, the buckets as the workers have them, and the packet judged here
// by the same pipeline, with tables that hold as much for its keys as there:
//
//   what keys has it?  ->  what is left for them, on each worker?  ->  what is its verdict there?
//
// It is asked anew where other rules came into force in between.
namespace sluice {
namespace {

// The account of the packet on one worker.
struct Told {
    std::optional<std::uint32_t> lcore;  // nullopt: whichever it comes to
    PacketAccount account;
};

class Explainer {
public:
    Explainer(const Options& options, const ReplaySetup& setup, const HeldRules& rules,
              const KeptFrame& frame)
        : options_{options}, setup_{setup}, rules_{rules}, frame_{frame.frame()} {}

    // With fresh buckets.
    [[nodiscard]] PacketAccount fresh() {
        WorkerSet workers{setup_, rules_.rules.loaded};
        follow_before(workers);
        return account_of(frame_, now_, workers, rules_.rules, setup_.pair);
    }
    [[nodiscard]] PacketAccount on(std::uint32_t lcore, const BoxStates& states) {
        WorkerSet workers{setup_, rules_.rules.loaded};
        follow_before(workers);
        const WorkerSet::Place at = workers.match(frame_, now_);
        seed(lcore, states, at);
        PacketAccount account = account_of(frame_, at, workers, rules_.rules, setup_.pair);
        if (tell_waits(lcore, states, account) && account.answer) {
            account.answer = answer_of(at, rules_.rules.loaded.set(), account.decision);
        }
        return account;
    }

private:
    // The frames before this one, in its capture or by its description: a request that it completes
    // may have begun in them. This one comes now, and they as long before it as they were captured
    // before it.
    void follow_before(WorkerSet& workers) const {
        if (options_.pcap_file.empty()) {
            workers.follow_dialogue(frames_before(options_), now_);
            return;
        }
        Result<CaptureReader> reader = CaptureReader::open(options_.pcap_file);
        if (!reader) {
            return;  // it could be read a moment ago; the frame alone is explained
        }
        FrameSource source{*reader};
        for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
            const auto asked = std::ranges::find_if(frames, [&](const KeptFrame& kept) {
                return kept.frame().number >= options_.frame;
            });
            const Instant at = std::min(now_, now_ - (frame_.timestamp - source.now()));
            workers.follow({frames.begin(), asked}, at);
            if (asked != frames.end()) {
                return;
            }
        }
    }

    // The rules that are not off, with their places in accounts.
    template <typename Take>
    void each_rule(Take&& take) const {
        std::size_t place = 0;
        auto rule = rules_.rules.loaded.set().rules.begin();
        for (const RuleSummary& summary : rules_.rules.summaries) {
            if (summary.mode != Mode::Off) {
                take(place, *rule++);
            }
            ++place;
        }
    }

    void seed(std::uint32_t lcore, const BoxStates& states, const WorkerSet::Place& at) const {
        const Now now = at.now;
        each_rule([&](std::size_t place, const LoadedRule& rule) {
            for (std::size_t i = 0; i < rule.limits.size(); ++i) {
                const auto found = states.buckets.find({place, i});
                KeyBytes key;
                if (found != states.buckets.end() && found->second.contains(lcore) &&
                    has_key(rule, rule.limits[i].key, at.headers(), key)) {
                    seed_bucket(at.core,
                                {.rule = rule,
                                 .limit = static_cast<std::uint8_t>(i),
                                 .key = key.view(),
                                 .remaining = Units{found->second.at(lcore).remaining}},
                                now);
                }
            }
            for (const LoadedLimit& box : rule.ban.boxes) {
                const auto found = states.bans.find({place, box.key});
                KeyBytes key;
                if (found != states.bans.end() && found->second.contains(lcore) &&
                    has_key(rule, box.key, at.headers(), key)) {
                    const BoxStates::Ban& ban = found->second.at(lcore);
                    seed_box(at.core, {box, key.view(), ban.refusals, ban.left}, now);
                }
            }
        });
    }
    [[nodiscard]] bool has_key(const LoadedRule& rule, std::uint8_t key,
                               const PacketHeaders& headers, KeyBytes& bytes) const {
        return key_of(rule.keys[key], rule.missing_key, headers, frame_.bytes, bytes) !=
               KeyOutcome::Missing;
    }

    // The rest of the bucket decides; how long it takes to refill only the box knows to the
    // nanosecond. So its waits are the decision's too, by the limit with the longest, as there.
    // -> whether the decision has another wait than the buckets here gave it.
    [[nodiscard]] bool tell_waits(std::uint32_t lcore, const BoxStates& states,
                                  PacketAccount& account) const {
        Nanoseconds longest{0};
        Nanoseconds longest_of_rule{0};
        Decision& decision = account.decision;
        std::uint32_t number = 0;
        each_rule([&](std::size_t place, const LoadedRule& rule) {
            RuleAccount& told = account.rules[place];
            const bool decides = number++ == decision.rule;
            for (std::size_t i = 0; i < told.limits.size(); ++i) {
                LimitAccount& limit = told.limits[i];
                const auto found = states.buckets.find({place, i});
                if (found == states.buckets.end() || !found->second.contains(lcore) ||
                    !limit.before || limit.cost == Units{0}) {
                    continue;
                }
                const Nanoseconds wait = found->second.at(lcore).wait;
                limit.before->wait = wait == kNever ? std::nullopt : std::optional{wait};
                const bool refuses = limit.status == KeyStatus::Limited && !limit.admitted;
                if (!refuses || rule.mode != Mode::Enforce) {
                    continue;
                }
                longest = std::max(longest, wait);
                if (decides && wait > longest_of_rule) {
                    longest_of_rule = wait;
                    decision.limit = static_cast<std::uint8_t>(i);
                }
            }
        });
        if (decision.reason != Reason::OverLimit || longest == Nanoseconds{0}) {
            return false;
        }
        decision.wait = longest;
        return true;
    }

    const Options& options_;
    const ReplaySetup& setup_;
    const HeldRules& rules_;
    const CapturedFrame& frame_;
    Instant now_{std::chrono::duration_cast<Nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch())};
};

// The packet comes to one worker, which the port's RSS chooses: one account for each worker that
// knows one of its keys, or one for all where none does.
std::vector<Told> tell_all(Explainer& explainer, const BoxStates& states, PacketAccount fresh) {
    std::vector<Told> told;
    told.reserve(states.knowing.size());
    for (const std::uint32_t lcore : states.knowing) {
        told.push_back({lcore, explainer.on(lcore, states)});
    }
    if (told.empty()) {
        told.push_back({std::nullopt, std::move(fresh)});
    }
    return told;
}

// The running box's own treatment of packets, where no file of one was named.
ReplaySetup as_the_box(ReplaySetup setup, const Options& options, const HeldRules& rules) {
    if (!options.config_file.empty() || !rules.treatment) {
        return setup;
    }
    setup.policy.malformed = rules.treatment->malformed;
    setup.policy.tunnels = rules.treatment->tunnels;
    setup.units = capture_unit_budget(rules.treatment->units);
    setup.pair = rules.pairs.empty() ? setup.pair : rules.pairs.front();
    return setup;
}

std::vector<std::string> notes_of(const HeldRules& rules, const BoxStates& states, bool panic) {
    std::vector<std::string> notes = rules.notes;
    if (panic) {
        notes.insert(notes.begin(),
                     "`panic pass` is on: the box forwards every packet unjudged; this is what it "
                     "would do without");
    }
    for (const std::uint32_t lcore : states.silent) {
        notes.push_back(fmt::format(
            "the worker on lcore {} has not answered; what it would do is not told", lcore));
    }
    if (states.knowing.size() > 1) {
        notes.push_back(
            "several workers know keys of this packet; it comes to one of them, as the port's RSS "
            "spreads packets");
    }
    return notes;
}

void show(const std::vector<Told>& told, const HeldRules& rules,
          const std::vector<std::string>& notes, const Options& options, std::string_view pair) {
    if (options.json) {
        const auto one = [&](const Told& worker) {
            Json json = account_json(worker.account, pair);
            json["lcore"] = worker.lcore ? Json(*worker.lcore) : Json();
            return json;
        };
        Json json = one(told.front());
        json["generation"] = rules.generation;
        json["file"] = rules.file;
        json["notes"] = notes;
        json["others"] = Json::array();
        for (std::size_t i = 1; i < told.size(); ++i) {
            json["others"].push_back(one(told[i]));
        }
        print(dump_line(json));
        return;
    }
    print(fmt::format("the running box, generation {}, from {}\n", rules.generation, rules.file));
    for (const std::string& note : notes) {
        print("note: " + note + "\n");
    }
    for (const Told& worker : told) {
        if (worker.lcore) {
            print(fmt::format("on the worker of lcore {}\n", *worker.lcore));
        }
        print(account_text(worker.account, pair));
    }
}

// What the box answers about one packet, all of it under the same rules.
struct Heard {
    HeldRules rules;
    ReplaySetup setup;
    PacketAccount fresh;
    BoxStates states;
    bool panic = false;
};

std::optional<std::string> generation_in(const std::variant<Json, DaemonRefusal>& stats) {
    const Json* const shown = std::get_if<Json>(&stats);
    return shown == nullptr ? std::nullopt
                            : std::optional{shown->at("generation").get<std::string>()};
}

std::variant<Heard, DaemonRefusal> hear(const Options& options, const ReplaySetup& asked,
                                        const KeptFrame& frame) {
    auto rules = running_rules(options);
    if (auto* refusal = std::get_if<DaemonRefusal>(&rules)) {
        return std::move(*refusal);
    }
    Heard heard{std::get<HeldRules>(std::move(rules)), asked, {}, {}};
    heard.setup = as_the_box(asked, options, heard.rules);
    heard.fresh = Explainer{options, heard.setup, heard.rules, frame}.fresh();
    auto states = box_states(options, heard.fresh, heard.rules.rules);
    if (auto* refusal = std::get_if<DaemonRefusal>(&states)) {
        return std::move(*refusal);
    }
    heard.states = std::get<BoxStates>(std::move(states));
    return heard;
}

// A change of rules in the middle makes an answer of both sets, or a refusal of what is gone.
std::variant<Heard, DaemonRefusal> hear_unchanged(const Options& options, const ReplaySetup& asked,
                                                  const KeptFrame& frame) {
    constexpr int kAttempts = 5;
    for (int i = 0; i < kAttempts; ++i) {
        const auto before = generation_in(ask(options, {.target = "/v1/stats"}));
        auto heard = hear(options, asked, frame);
        const auto stats = ask(options, {.target = "/v1/stats"});
        if (const auto* refusal = std::get_if<DaemonRefusal>(&stats)) {
            return *refusal;
        }
        const std::optional<std::string> now = generation_in(stats);
        auto* const whole = std::get_if<Heard>(&heard);
        if (now == before && (whole == nullptr || whole->rules.generation == now)) {
            if (whole != nullptr) {
                whole->panic = std::get<Json>(stats).at("panic").get<bool>();
            }
            return heard;
        }
    }
    return DaemonRefusal{ExitCode::Refused,
                         fmt::format("the rules changed each of the {} times that the box was "
                                     "asked; ask again when they stay for a moment",
                                     kAttempts),
                         {},
                         true};
}

}  // namespace

ExitCode explain_running(const Options& options, const ReplaySetup& asked) {
    const auto frame = asked_frame(options);
    if (const auto* exit = std::get_if<ExitCode>(&frame)) {
        return *exit;
    }
    auto answer = hear_unchanged(options, asked, std::get<KeptFrame>(frame));
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    auto& heard = std::get<Heard>(answer);
    Explainer explainer{options, heard.setup, heard.rules, std::get<KeptFrame>(frame)};
    const std::vector<std::string> notes = notes_of(heard.rules, heard.states, heard.panic);
    show(tell_all(explainer, heard.states, std::move(heard.fresh)), heard.rules, notes, options,
         heard.setup.pair);
    return ExitCode::Done;
}

}  // namespace sluice
