#include "dataplane/box/dataplane.hpp"
#include "lib/base/device_text.hpp"

#include <algorithm>
#include <thread>

// Questions about single keys, put to every worker at once: a key may have a bucket on each.
namespace sluice {
namespace {

constexpr std::chrono::milliseconds kAnswerTimeout{200};
constexpr std::chrono::microseconds kLookAgain{20};

KeyBucketState state_of(const KeyBucket& bucket) {
    return {.limit = bucket.limit,
            .own = bucket.own,
            .overridden = bucket.overridden,
            .rate_units = bucket.rate.units.count(),
            .rate_ns = static_cast<std::uint64_t>(bucket.rate.period.count()),
            .aggregation_level = bucket.aggregation_level,
            .before = bucket.before.count(),
            .remaining = bucket.remaining.count(),
            .most = bucket.most.count(),
            .wait_ns = bucket.wait.count(),
            .fresh_ns = bucket.fresh.count(),
            .carried = bucket.carried,
            .given_wider = bucket.given_wider.count(),
            .range = bucket.range};
}

// One question on its way to a worker. A worker that still works on an earlier one, or acts on
// another set, has nothing to say.
class Asking {
public:
    Asking(DpdkWorker::KeyMailbox& mailbox, std::uint32_t lcore, const KeyQuestion& question)
        : mailbox_{&mailbox}, waiting_{mailbox.post(question)} {
        result_.lcore = lcore;
    }

    [[nodiscard]] bool is_settled() {
        KeyAnswer answer;
        if (waiting_ && mailbox_->take(answer)) {
            waiting_ = false;
            result_.answered = answer.known;
            result_.exempt = answer.exempt;
            result_.banned = answer.banned;
            result_.exempt_range = answer.exempt_range;
            result_.refusals = answer.box.refusals.count();
            result_.after = answer.box.after.count();
            result_.ban_left_ns = answer.box.left.count();
            result_.lifted = answer.box.lifted;
            result_.ban_level = answer.box.aggregation_level;
            for (const KeyBucket& bucket : answer.limits()) {
                result_.limits.push_back(state_of(bucket));
            }
        }
        return !waiting_;
    }
    [[nodiscard]] KeyOnWorker give_up() {
        result_.begun = waiting_ && !mailbox_->withdraw() && !is_settled();
        return std::move(result_);
    }

private:
    DpdkWorker::KeyMailbox* mailbox_;
    bool waiting_;
    KeyOnWorker result_;
};

std::vector<KeyOnWorker> wait_for(std::vector<Asking>& asked) {
    const auto end = std::chrono::steady_clock::now() + kAnswerTimeout;
    while (!std::all_of(asked.begin(), asked.end(), [](Asking& one) { return one.is_settled(); }) &&
           std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kLookAgain);
    }
    std::vector<KeyOnWorker> results;
    results.reserve(asked.size());
    for (Asking& one : asked) {
        results.push_back(one.give_up());
    }
    return results;
}

// A bit for each limit that is meant; 0: there is none of that name under the key.
std::uint16_t limits_of(const AskKey& request, const LoadedRule& rule) {
    unsigned limits = 0;
    for (std::size_t i = 0; i < rule.limits.size(); ++i) {
        const LoadedLimit& limit = rule.limits[i];
        const bool meant = request.limit.empty() || limit.name == request.limit;
        limits |= meant && limit.key == request.key ? 1U << i : 0;
    }
    return static_cast<std::uint16_t>(limits);
}

KeyQuestion question_of(const AskKey& request, std::uint64_t load, std::size_t rule) {
    KeyQuestion question{.action = request.action,
                         .load = load,
                         .rule = static_cast<std::uint32_t>(rule),
                         .key = request.key,
                         .bytes = {},
                         .with_ban = request.limit.empty(),
                         .units = Units{request.units}};
    question.bytes.append(request.bytes);
    return question;
}

}  // namespace

Reply Dataplane::ask_key(const AskKey& request) {
    const std::vector<LoadedRule>& rules = rules_.loaded().set().rules;
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const LoadedRule& one) { return one.id == request.rule; });
    if (request.generation != generation() || rule == rules.end()) {
        return Failure{"other rules run than those that were asked about"};
    }
    if (request.key >= rule->keys.size()) {
        return Failure{"the rule " + rule->id + " has no such key"};
    }
    KeyQuestion question = question_of(request, rules_.loaded().set().load,
                                       static_cast<std::size_t>(rule - rules.begin()));
    question.limits = limits_of(request, *rule);
    if (question.limits == 0) {
        return Failure{"the rule " + rule->id + " has no limit " + request.limit +
                       " under this key"};
    }
    if (request.action == KeyAction::Forgive) {
        events_.notify_forgiven("", "");
    }
    std::vector<Asking> asked;
    asked.reserve(workers_.size());
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        asked.emplace_back(workers_.keys(worker), workers_.lcore(worker), question);
    }
    KeyState state;
    for (const LoadedLimit& limit : rule->limits) {
        state.limits.push_back(limit.name);
    }
    state.workers = wait_for(asked);
    if (request.action == KeyAction::Forgive) {
        events_.notify_forgiven(rule->id, text_of_key(request.bytes, [this](std::uint64_t name) {
                                    return ports_.pair_called(name);
                                }));
    }
    if (bridge_ != nullptr && (request.action == KeyAction::Unban ||
                               (request.action == KeyAction::Reset && request.limit.empty()))) {
        // Bans that began before the workers answered are told first, and then lifted.
        take_bans();
        bridge_->lift(request.bytes);
    }
    return state;
}

Reply Dataplane::ask_packet(const AskPacket& request) {
    if (request.generation != generation()) {
        return Failure{"other rules run than those that were asked about"};
    }
    return questions_.ask(request, rules_.shared(), UtcClock::read(state_.clock_lead()));
}

KeyLister::Source Dataplane::live_tables() const {
    const UtcClock::Reading clock = UtcClock::read(state_.clock_lead());
    std::vector<KeyLister::Table> tables;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        tables.push_back({&workers_.buckets(worker), workers_.lcore(worker)});
    }
    return {KeyLister::with_former(std::move(tables), state_.former()),
            rules_.loaded().set(),
            {clock.at, clock.utc_ahead, {}}};
}

Reply Dataplane::list_keys(const ListKeys& request) {
    const LoadedSet& set = rules_.loaded().set();
    const auto rule = std::find_if(set.rules.begin(), set.rules.end(),
                                   [&](const LoadedRule& one) { return one.id == request.rule; });
    if (request.generation != generation() || rule == set.rules.end()) {
        return Failure{"other rules run than those that were asked about"};
    }
    top_.take_samples();
    events_.take_events(ports_);
    std::vector<std::string> keys{""};  // of a rule without a key
    top_.add_keys(rule->id, keys);
    events_.add_banned(rule->id, keys);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return lister_.list(request, live_tables(), *rule, {std::move(keys), [&](std::uint64_t name) {
                                                            return ports_.pair_called(name);
                                                        }});
}

Reply Dataplane::count_owed(const CountOwed& request) {
    const LoadedSet& set = rules_.loaded().set();
    const auto rule = std::find_if(set.rules.begin(), set.rules.end(),
                                   [&](const LoadedRule& one) { return one.id == request.rule; });
    if (request.generation != generation() || rule == set.rules.end()) {
        return Failure{"other rules run than those that were asked about"};
    }
    return lister_.count_owed(request, live_tables(), *rule);
}

// Every port of the box is in the answer, those without a map too.
FoundEarlyDrops Dataplane::find_early_drops(const FindEarlyDrops& request) const {
    FoundEarlyDrops answer;
    for (const auto& pair : ports_.pairs()) {
        for (const Port* port : {&pair->outside, &pair->inside}) {
            const std::vector<std::string> interfaces = interfaces_of(port->device);
            answer.ports.push_back({.pair = port->pair,
                                    .side = port->side,
                                    .interface = interfaces.empty() ? "" : interfaces.front()});
            if (bridge_ != nullptr) {
                bridge_->find_drops(request, answer);
            }
        }
    }
    const bool has_map = std::any_of(answer.ports.begin(), answer.ports.end(),
                                     [](const EarlyDropPort& port) { return port.capacity != 0; });
    answer.state = !has_map                    ? EarlyDropState::NoPort
                   : !bridge_->asks_for_bans() ? EarlyDropState::BoxDecides
                   : !rules_.judges()          ? EarlyDropState::NotJudging
                                               : EarlyDropState::Works;
    return answer;
}

}  // namespace sluice
