#pragma once
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/key/event_burst.hpp"
#include "lib/engine/key/key_question.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/dry_run_burst.hpp"
#include "lib/engine/stage/heat_burst.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "tests/packets/arrivals.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/load_rules.hpp"
#include "tests/packets/reused_burst.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

// The packet path of one worker with rules from a text: what a table of packets is run through.
class Box {
public:
    explicit Box(std::string_view rules, PacketPolicy policy = {}, std::size_t keys = 4096,
                 const ListReader* lists = nullptr)
        : Box{rules, BucketStore{keys, keys}, policy, lists} {}
    // With buckets that lie somewhere else.
    Box(std::string_view rules, BucketStore buckets, PacketPolicy policy = {},
        const ListReader* lists = nullptr)
        : Box{enforced({.file = "rules", .text = rules, .lists = lists}).set, std::move(buckets),
              policy} {}
    // With compiled rules.
    explicit Box(RuleSet rules, BucketStore buckets = BucketStore{4096, 4096},
                 PacketPolicy policy = {})
        : core_{.policy = policy,
                .hash = KeyHasher{kBoxSecret},
                .buckets = std::move(buckets),
                .counters = counters_} {
        adopt(loaded(std::move(rules), environment()));
    }

    // Other rules from now on, as a running box takes them.
    [[nodiscard]] Result<Done> reload(std::string_view rules, const KeySettings& keys) {
        return reload(rules, nullptr, &keys);
    }
    [[nodiscard]] Result<Done> reload(std::string_view rules, const ListReader* lists = nullptr,
                                      const KeySettings* keys = nullptr,
                                      Forgives forgives = Forgives::Nothing) {
        return reload_compiled(
            enforced({.file = "rules", .text = rules, .lists = lists, .keys = keys}).set, forgives);
    }
    [[nodiscard]] Result<Done> reload_compiled(RuleSet next,
                                               Forgives forgives = Forgives::Nothing) {
        Environment environment = this->environment();
        environment.forgives = forgives;
        environment.before = &loaded_;
        Result<LoadedRules> fits = LoadedRules::make(std::move(next), environment);
        if (!fits) {
            return fits.error();
        }
        adopt(*std::move(fits));
        return Done{};
    }

    // The same, and keys owe no more than a fresh one has.
    [[nodiscard]] Result<Done> forgive(std::string_view rules) {
        return reload(rules, nullptr, nullptr, Forgives::Excess);
    }

    // One packet, in a burst of its own.
    Decision judge(const std::vector<std::byte>& frame, Instant now,
                   Direction dir = Direction::In) {
        return judge({frame, static_cast<std::uint32_t>(frame.size())}, now, dir);
    }
    Decision judge(FrameView frame, Instant now, Direction dir = Direction::In) {
        return judge(frame, Now{now, {}}, dir);
    }
    // On its pair, at its side.
    Decision judge(const Frame& frame, Instant now) {
        const std::vector<std::byte> bytes = frame.bytes();
        return judge({bytes, static_cast<std::uint32_t>(bytes.size())}, Now{now, {}}, frame.dir(),
                     frame.pair());
    }
    Decision judge(FrameView frame, Now now, Direction dir = Direction::In,
                   std::string_view pair = "lab") {
        burst_->clear();
        (void)burst_->add(frame, dir, port_name(pair));
        run_burst(*burst_, loaded_.set(), core_, now);
        return burst_->packets()[0].decision;
    }

    // The connection that begins with this segment's first byte: its SYN is read, and no rule is
    // asked of it.
    void open(const Frame& first, Instant now) { open(*burst_, first, now); }
    // By the parser of another burst than judge()'s.
    void open(Burst& burst, const Frame& first, Instant now) {
        const std::vector<std::byte> syn = first.opening().bytes();
        burst.clear();
        arrive(burst, syn, nullptr, first.dir(), first.pair());
        parse_burst(burst, core_);
        find_units(burst, burst.headers().well_formed(), loaded_.set(), core_, now);
        burst.clear();
    }

    // Plugs in who remembers first fragments.
    void follow_fragments_by(FragmentFollower follower) { core_.fragments = follower; }
    // Plugs in whose answers end connections.
    void know_answered(AnsweredTraffic& answered) { core_.answered = &answered; }
    // A burst of a panic: it was forwarded, and nobody has read it.
    void forward_unread() { ++core_.unread_bursts; }
    // Plugs in a parser of later layers.
    void find_units_by(UnitFinder finder) { burst_->find_units_by(finder); }

    // A burst made elsewhere; its decisions are in its rows afterwards.
    void run(Burst& burst, Instant now) { run_burst(burst, loaded_.set(), core_, {now, {}}); }
    // The same by a worker that has not asked for the lines of wider keys: the general path decides
    // what becomes of keys without a place.
    void run_unwidened(Burst& burst, Instant now) {
        match_stages(burst, loaded_.set(), core_, {now, {}});
        key_burst(burst, loaded_.set(), core_);
        locate_burst(burst, core_);
        meter_burst(burst, loaded_.set(), core_, {now, {}});
    }
    // The same where only the general path decides.
    void run_general(Burst& burst, Instant now) {
        match_stages(burst, loaded_.set(), core_, {now, {}});
        burst.scratch().general = burst.live();
        meter_stages(burst, loaded_.set(), core_, {now, {}});
    }
    void run_overlapped(Burst& next, Burst& current, Instant now) {
        sluice::run_overlapped(next, current, loaded_.set(), core_, {now, {}});
    }

    // A turn in which nothing comes.
    void idle(Instant now) {
        burst_->clear();
        run(*burst_, now);
    }
    // What an operator asks between two bursts.
    [[nodiscard]] KeyAnswer ask(const KeyQuestion& question, Instant now) {
        KeyAnswer answer = answer_key(question, loaded_.set(), core_, {now, {}});
        look_again(question, loaded_.set(), core_, {now, {}});
        return answer;
    }
    // A packet that somebody else has matched and keyed under the same rules.
    [[nodiscard]] DryRun dry_run(Burst& burst, Instant now, const FindingsRoom& room) {
        return dry_run_burst(burst, loaded_.set(), core_, {now, {}}, room);
    }
    // What is due of events.
    void notify_due(Instant now) { notify_due_events(loaded_.set(), core_, {now, {}}); }
    // A key of the first rule.
    [[nodiscard]] Result<ReadKey> read_key(std::string_view text) const {
        const LoadedRule& rule = loaded_.set().rules.front();
        return read_key_of_rule(rule.keys, rule.missing_key, text, {}, loaded_.set().named_texts);
    }
    [[nodiscard]] const LoadedSet& set() const { return loaded_.set(); }
    [[nodiscard]] SlotsImage slots() const { return loaded_.slots().image(); }

    // Several packets at one instant, in one burst.
    std::vector<Decision> judge_burst(const std::vector<std::vector<std::byte>>& frames,
                                      Instant now) {
        fill(*burst_, frames);
        run(*burst_, now);
        std::vector<Decision> decisions;
        for (const Packet& packet : burst_->packets()) {
            decisions.push_back(packet.decision);
        }
        return decisions;
    }

    [[nodiscard]] std::string rule_name(const Decision& decision) const {
        return decision.rule == kNoRule ? "" : loaded_.set().rules[decision.rule].id;
    }
    [[nodiscard]] const RuleCounters& counters(std::size_t rule) const {
        return counters_.rules[set().rules[rule].counters];
    }
    [[nodiscard]] const WorkerCounters& counters() const { return counters_; }
    [[nodiscard]] std::uint64_t counted(TableEvent event) const {
        return counters_.by_table_event[static_cast<std::size_t>(event)].read();
    }
    [[nodiscard]] BucketStore& buckets() { return core_.buckets; }
    // How many packets more it may hold.
    void set_hold_capacity(std::uint32_t room) { core_.hold_capacity = room; }
    // Tells it who its rules count.
    void watch(KeySampler& sampler) { core_.sampler = &sampler; }
    // Tells it whom its rules refuse and ban.
    void watch(KeyEvents& events) { core_.events = &events; }
    // And which sources go into penalty boxes.
    void watch(NewBans& bans) { core_.new_bans = &bans; }
    // And whose keys are sampled, from the next turn on.
    void watch(HeatSampler& heat) { core_.heat = &heat; }
    void begin_turn() { adopt_heat(loaded_.set(), core_); }

private:
    [[nodiscard]] Environment environment() {
        return {.secret = kBoxSecret,
                .tables = {[this](LimitSlot slot) {
                               return core_.buckets.registry.entries_of(slot).read();
                           },
                           [this] { return counters_.settled.read(); }}};
    }
    void adopt(LoadedRules rules) {
        loaded_ = std::move(rules);
        core_.texts = loaded_.texts(0);
    }

    LoadedRules loaded_;
    ReusedBurst burst_ = empty_burst();
    WorkerCounters counters_;
    CoreState core_;
};

}  // namespace sluice::test
