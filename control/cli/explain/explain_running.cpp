#include "control/cli/explain/explain_running.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/explain/asked_frame.hpp"
#include "control/cli/explain/shown_account.hpp"
#include "control/cli/terminal.hpp"
#include "control/hex_text.hpp"
#include "control/replay/frame_source.hpp"
#include "control/replay/rss_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// The packet and those before it on its connection go to sluiced, whose answer is shown: what the
// worker that the packet would come to would make of it, in the words of the rules in force.
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

class BoxQuestion {
public:
    BoxQuestion(const Options& options, const ReplaySetup& setup, const CapturedFrame& packet)
        : setup_{setup}, packet_{packet} {
        parse_frame({packet.bytes, packet.wire_size}, Tunnels{}, outer_);
        const Direction dir = direction_of(outer_, setup.inside);
        body_ = {{"packet", frame_json(packet, dir)}, {"before", Json::array()}};
        if (!options.pcap_file.empty()) {
            add_captured(options);
            return;
        }
        const Direction back = dir == Direction::In ? Direction::Out : Direction::In;
        for (const DialogueFrame& one : frames_before(options)) {
            add(one.frame.frame(), one.is_answer ? back : dir);
        }
    }
    [[nodiscard]] const Json& body() const noexcept { return body_; }
    // Frames of the connection that are more than the worker is shown.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

private:
    [[nodiscard]] Json frame_json(const CapturedFrame& frame, Direction dir) const {
        const Nanoseconds age = std::max(packet_.timestamp - frame.timestamp, Nanoseconds{0});
        return {{"frame", hex_text(frame.bytes)},
                {"wire_bytes", frame.wire_size},
                {"dir", dir == Direction::In ? "in" : "out"},
                {"age_ns", static_cast<std::uint64_t>(age.count())}};
    }
    void add(const CapturedFrame& frame, Direction dir) {
        Json& before = body_["before"];
        before.push_back(frame_json(frame, dir));
        if (before.size() > kMostBefore) {
            before.erase(0);
            ++left_out_;
        }
    }
    // The frames of its connection before it in its capture, which could be read a moment ago.
    void add_captured(const Options& options) {
        Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
        if (!reader) {
            return;
        }
        FrameSource source{*reader};
        for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
            for (const KeptFrame& kept : frames) {
                const CapturedFrame& frame = kept.frame();
                if (frame.number >= options.frame) {
                    return;
                }
                if (goes_with(frame, outer_)) {
                    PacketHeaders outer;
                    parse_frame({frame.bytes, frame.wire_size}, Tunnels{}, outer);
                    add(frame, direction_of(outer, setup_.inside));
                }
            }
        }
    }

    const ReplaySetup& setup_;
    const CapturedFrame& packet_;
    PacketHeaders outer_;
    Json body_;
    std::size_t left_out_ = 0;
};

void show(const Json& answer, const Options& options, std::uint64_t frame) {
    if (options.json) {
        Json json = answer.at("account");
        json["frame"] = frame;
        json["others"] = Json::array();  // accounts of other workers, while each was asked
        for (const char* const member : {"lcore", "generation", "file", "notes"}) {
            json[member] = answer.at(member);
        }
        print(dump_line(json));
        return;
    }
    print(fmt::format("the running box, generation {}, from {}\n", text_at(answer, "generation"),
                      text_at(answer, "file")));
    for (const Json& note : answer.at("notes")) {
        print("note: " + note.get<std::string>() + "\n");
    }
    print(fmt::format("on the worker of lcore {}\n", answer.at("lcore").get<std::uint32_t>()));
    print(shown_account(frame, text_at(answer, "text")));
}

}  // namespace

ExitCode explain_running(const Options& options, const ReplaySetup& setup) {
    const auto asked = asked_frame(options);
    if (const auto* exit = std::get_if<ExitCode>(&asked)) {
        return *exit;
    }
    const CapturedFrame& frame = std::get<KeptFrame>(asked).frame();
    const BoxQuestion question{options, setup, frame};
    DaemonRequest request = post_json("/v1/explain?account=1", question.body());
    request.timeout = kCompilePatience;
    auto answer = ask(options, request);
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    Json& json = std::get<Json>(answer);
    if (question.left_out() != 0) {
        json["notes"].push_back(fmt::format(
            "the worker was not shown the first {} frames of its connection", question.left_out()));
    }
    show(json, options, frame.number);
    return ExitCode::Done;
}

}  // namespace sluice
