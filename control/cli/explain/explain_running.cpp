#include "control/cli/explain/explain_running.hpp"

#include "control/cli/explain/account_text.hpp"
#include "control/cli/explain/asked_frame.hpp"
#include "control/cli/explain/box_answer.hpp"
#include "control/cli/explain/running_rules.hpp"
#include "control/cli/replay/frame_source.hpp"
#include "control/cli/replay/rss_mapping.hpp"
#include "control/cli/terminal.hpp"
#include "lib/rules/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// The rules as sluiced holds them say in words what the packet is and which of them it matches; the
// worker that it would come to says what is left for its keys there, and decides:
//
//   what is it?  ->  what comes before it on its connection?  ->  what would the worker make of it?
//
// It is asked anew where other rules came into force in between.
namespace sluice {
namespace {

constexpr std::size_t kMostBefore = 64;  // frames that the worker is shown before the packet

// Frames of one connection or datagram, as far as their headers tell.
bool goes_with(const CapturedFrame& frame, const PacketHeaders& packet) {
    PacketHeaders other;
    parse_frame({frame.bytes, frame.wire_size}, Tunnels{}, other);
    const auto ends = [](const PacketHeaders& of) {
        return std::minmax({std::pair{of.src, of.sport}, std::pair{of.dst, of.dport}});
    };
    const bool ported = other.fields.has(Field::L4Sport) && packet.fields.has(Field::L4Sport);
    const auto hosts = [](const PacketHeaders& of) { return std::minmax({of.src, of.dst}); };
    return ported ? ends(other) == ends(packet) : hosts(other) == hosts(packet);
}

class Explainer {
public:
    Explainer(const Options& options, const ReplaySetup& setup, const HeldRules& rules,
              const KeptFrame& frame)
        : options_{options}, setup_{setup}, rules_{rules}, frame_{frame.frame()} {
        parse_frame({frame_.bytes, frame_.wire_size}, Tunnels{}, outer_);
    }

    // The packet and what it goes on from, for the box.
    [[nodiscard]] BoxQuestion question() {
        BoxQuestion question;
        question.packet = asked(frame_, direction_of(outer_, setup_.inside));
        if (options_.pcap_file.empty()) {
            const Direction dir = question.packet.dir;
            const Direction back = dir == Direction::In ? Direction::Out : Direction::In;
            for (const DialogueFrame& one : frames_before(options_)) {
                question.before.push_back(asked(one.frame.frame(), one.is_answer ? back : dir));
            }
            return question;
        }
        for_each_before([&](std::span<const KeptFrame> frames, Instant /*at*/) {
            for (const KeptFrame& kept : frames) {
                add(kept.frame(), question);
            }
        });
        return question;
    }
    // Frames of its connection that are more than the box is shown.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

    [[nodiscard]] PacketAccount account(const BoxAnswer& answer) {
        WorkerSet workers{setup_, rules_.rules.loaded};
        follow_before(workers);
        return account_of(frame_, workers.match(frame_, now_), answer, rules_.rules, setup_.pair);
    }

private:
    [[nodiscard]] BoxQuestion::Frame asked(const CapturedFrame& frame, Direction dir) const {
        BoxQuestion::Frame asked{
            .frame = {},
            .dir = dir,
            .age = std::max(frame_.timestamp - frame.timestamp, Nanoseconds{0})};
        asked.frame.keep(frame);
        return asked;
    }
    void add(const CapturedFrame& frame, BoxQuestion& question) {
        if (!goes_with(frame, outer_)) {
            return;
        }
        PacketHeaders outer;
        parse_frame({frame.bytes, frame.wire_size}, Tunnels{}, outer);
        question.before.push_back(asked(frame, direction_of(outer, setup_.inside)));
        if (question.before.size() > kMostBefore) {
            question.before.erase(question.before.begin());
            ++left_out_;
        }
    }

    // The frames before this one in its capture, and when they came: this one comes now, and they
    // as long before it as they were captured before it.
    template <typename Take>
    void for_each_before(Take&& take) const {
        Result<CaptureReader> reader = CaptureReader::open(options_.pcap_file);
        if (!reader) {
            return;  // it could be read a moment ago; the frame alone is explained
        }
        FrameSource source{*reader};
        for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
            const auto found = std::ranges::find_if(frames, [&](const KeptFrame& kept) {
                return kept.frame().number >= options_.frame;
            });
            take(std::span<const KeptFrame>{frames.begin(), found},
                 std::min(now_, now_ - (frame_.timestamp - source.now())));
            if (found != frames.end()) {
                return;
            }
        }
    }
    // A request that the packet completes may have begun in the frames before it.
    void follow_before(WorkerSet& workers) const {
        if (options_.pcap_file.empty()) {
            workers.follow_dialogue(frames_before(options_), now_);
            return;
        }
        for_each_before(
            [&](std::span<const KeptFrame> frames, Instant at) { workers.follow(frames, at); });
    }

    const Options& options_;
    const ReplaySetup& setup_;
    const HeldRules& rules_;
    const CapturedFrame& frame_;
    PacketHeaders outer_;
    std::size_t left_out_ = 0;
    Instant now_{std::chrono::duration_cast<Nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch())};
};

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

// The box's answers about one packet, all of them under the same rules.
struct Heard {
    HeldRules rules;
    ReplaySetup setup;
    BoxAnswer answer;
    PacketAccount account;
    std::size_t left_out = 0;
};

std::vector<std::string> notes_of(const Heard& heard) {
    std::vector<std::string> notes = heard.rules.notes;
    const BoxAnswer& answer = heard.answer;
    if (!answer.enforces) {
        notes.insert(notes.begin(),
                     "`panic pass` is on: the box forwards every packet unjudged; this is what it "
                     "would do without");
    }
    if (!answer.is_sure) {
        notes.push_back(
            fmt::format("only the port knows which worker the packet comes to; this is "
                        "what the one on lcore {} would make of it",
                        answer.lcore));
    }
    if (std::ranges::any_of(answer.limits, [](const auto& one) { return one.second.at_owner; })) {
        notes.push_back(
            "the owner of a key of the packet would be asked, which no question does: it is taken "
            "to "
            "have room");
    }
    if (heard.left_out != 0) {
        notes.push_back(
            fmt::format("the worker was not shown the first {} frames of its "
                        "connection",
                        heard.left_out));
    }
    return notes;
}

void show(const Heard& heard, const Options& options) {
    const std::vector<std::string> notes = notes_of(heard);
    const std::string& pair = heard.setup.pair;
    if (options.json) {
        Json json = account_json(heard.account, pair);
        json["lcore"] = heard.answer.lcore;
        json["generation"] = heard.rules.generation;
        json["file"] = heard.rules.file;
        json["notes"] = notes;
        json["others"] = Json::array();  // accounts of other workers, while each was asked
        print(dump_line(json));
        return;
    }
    print(fmt::format("the running box, generation {}, from {}\n", heard.rules.generation,
                      heard.rules.file));
    for (const std::string& note : notes) {
        print("note: " + note + "\n");
    }
    print(fmt::format("on the worker of lcore {}\n", heard.answer.lcore));
    print(account_text(heard.account, pair));
}

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
    Explainer explainer{options, heard.setup, heard.rules, frame};
    auto answer = ask_box(options, explainer.question(), heard.rules.rules);
    if (auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return std::move(*refusal);
    }
    heard.answer = std::get<BoxAnswer>(std::move(answer));
    heard.account = explainer.account(heard.answer);
    heard.left_out = explainer.left_out();
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
        const auto* const whole = std::get_if<Heard>(&heard);
        if (now == before && (whole == nullptr || (whole->rules.generation == now &&
                                                   whole->answer.generation == now))) {
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
    show(std::get<Heard>(answer), options);
    return ExitCode::Done;
}

}  // namespace sluice
