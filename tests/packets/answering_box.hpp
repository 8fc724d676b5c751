#pragma once
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/openings.hpp"
#include "tests/unit/respond/answer/sent_frame.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

// One worker of a box whose actions are carried out: what becomes of each packet, and what the
// box sends for it, one line each:
//
//   drop over_limit            the packet's own verdict and reason, in the end
//   < SA 7:1001 "HTTP/1.1 4"   made, toward where the packet came from: flags, sequence number and
//   > R 1001:7                 acknowledged number (of TCP), beginning of the payload; toward where
//                              it goes
//
// A client's connection whose first bytes come has begun with them: its SYN is read before, and no
// rule asked of it.
class AnsweringBox {
public:
    explicit AnsweringBox(std::string_view rules) : AnsweringBox{rules, nullptr} {}
    // Another worker of a box: what they all know of servers is in `servers`.
    AnsweringBox(std::string_view rules, AnswerBoards& boards) : AnsweringBox{rules, &boards} {}

    std::vector<std::string> take(const Frame& frame, Direction dir = Direction::In,
                                  Instant now = Instant{std::chrono::hours{1}}) {
        return take(std::vector<Frame>{frame}, dir, now);
    }
    // Packets of one burst.
    std::vector<std::string> take(const std::vector<Frame>& frames, Direction dir = Direction::In,
                                  Instant now = Instant{std::chrono::hours{1}}) {
        open(frames, dir, now);
        const std::vector<Octets> bytes = fill(burst_, frames, dir);
        prove(frames, dir, now);
        box_.run(burst_, now);
        made_.clear();
        return act(burst_, now);
    }
    // Packets of two bursts, of which the second one is matched before the first one is acted on.
    std::vector<std::string> take_overlapped(const std::vector<Frame>& first,
                                             const std::vector<Frame>& second,
                                             Instant now = Instant{std::chrono::hours{1}}) {
        open(first, Direction::In, now);
        open(second, Direction::In, now);
        Burst none;
        Burst later;
        later.find_units_by(parser_.finder());
        const std::vector<Octets> bytes = fill(burst_, first, Direction::In);
        const std::vector<Octets> later_bytes = fill(later, second, Direction::In);
        prove(first, Direction::In, now);
        prove(second, Direction::In, now);
        box_.run_overlapped(burst_, none, now);
        box_.run_overlapped(later, burst_, now);
        made_.clear();
        std::vector<std::string> lines = act(burst_, now);
        none.clear();
        box_.run_overlapped(none, later, now);
        for (std::string& line : act(later, now)) {
            lines.push_back(std::move(line));
        }
        return lines;
    }
    // Of the latest packet.
    [[nodiscard]] const Decision& decision() { return burst_.packets().back().decision; }
    // All that was made for the latest burst.
    [[nodiscard]] const std::vector<SentFrame>& made() const { return made_; }
    [[nodiscard]] std::uint64_t count(AnswerEvent event) const {
        return events_[static_cast<std::size_t>(event)];
    }
    [[nodiscard]] Box& box() { return box_; }
    [[nodiscard]] const TrackCounters& tracked() const { return parser_.tracked(); }

    static constexpr std::size_t kLines = 64;

    [[nodiscard]] static AnswerBoards boards() { return AnswerBoards{256, 4096}; }
    void set_utc_ahead(Nanoseconds utc_ahead) { utc_ahead_ = utc_ahead; }
    // Clients acknowledge what their servers have sent.
    void prove_clients(bool proves) { proves_ = proves; }

private:
    AnsweringBox(std::string_view rules, AnswerBoards* boards)
        : box_{rules, {.tell_wait = false}},
          parser_{capture_unit_budget()},
          answerer_{kLines, boards == nullptr ? boards_ : *boards} {
        burst_.find_units_by(parser_.finder());
        box_.know_answered(answerer_.answered());
    }
    struct Sink {
        AnsweringBox& owner;
        Burst& burst;
        std::vector<std::string> lines{};

        void forward(std::size_t row) noexcept { verdict(row); }
        void drop(std::size_t row) noexcept { verdict(row); }
        template <typename Write>
        [[nodiscard]] bool rewrite(std::size_t /*row*/, Write&& /*write*/) noexcept {
            return true;
        }
        template <typename Write>
        [[nodiscard]] bool emit(std::size_t /*row*/, Toward side, std::size_t size,
                                Write&& write) noexcept {
            Octets bytes(size);
            write(MutableBytes{bytes});
            const SentFrame& sent = owner.made_.emplace_back(std::move(bytes));
            lines.push_back((side == Toward::Source ? "< " : "> ") + described(sent));
            return true;
        }
        void verdict(std::size_t row) {
            const Decision& decision = burst.decision(row);
            lines.push_back(std::string{name_of(decision.verdict)} + " " +
                            std::string{row_of(decision.reason).name});
        }
    };
    void open(const std::vector<Frame>& frames, Direction dir, Instant now) {
        for (const Frame& frame : frames) {
            if (dir == Direction::In && openings_.needs(frame)) {
                box_.open(burst_, frame, now);
            }
        }
    }
    static std::vector<Octets> fill(Burst& burst, const std::vector<Frame>& frames, Direction dir) {
        std::vector<Octets> bytes;
        burst.clear();
        for (const Frame& frame : frames) {
            bytes.push_back(frame.bytes());
        }
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            (void)burst.add({bytes[i], static_cast<std::uint32_t>(bytes[i].size())}, dir,
                            port_name(frames[i].pair()));
        }
        return bytes;
    }
    void prove(const std::vector<Frame>& frames, Direction dir, Instant now) {
        for (const Frame& made : frames) {
            const Octets frame = made.bytes();
            PacketHeaders headers;
            headers.dir = dir;
            headers.port = port_name(made.pair());
            parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
            const auto facts = read_tcp_facts(headers, frame);
            if (proves_ && dir == Direction::In && facts && facts->has(kTcpAck)) {
                answerer_.answered().served().note_sent(connection_ends(headers, hash_).against(),
                                                        facts->ack, now);
            }
        }
    }
    std::vector<std::string> act(Burst& burst, Instant now) {
        Sink sink{*this, burst};
        const LoadedSet& set = box_.set();
        const Answering answering{answerer_,
                                  {.actions = set.actions,
                                   .plan = set.answers,
                                   .load = set.load,
                                   .now = now,
                                   .utc_ahead = utc_ahead_,
                                   .hash = hash_,
                                   .follows = set.follows_answers()}};
        act_burst(burst, set.actions, sink, &answering);
        answerer_.take_events(
            [&](std::size_t event, std::uint32_t times) { events_[event] += times; });
        return std::exchange(sink.lines, {});
    }
    [[nodiscard]] static std::string described(const SentFrame& sent) {
        std::string line;
        if (sent.headers().proto == 6) {
            constexpr std::string_view kFlags = "FSRPA";
            for (std::size_t i = 0; i < kFlags.size(); ++i) {
                line += (sent.headers().tcp_flags >> i & 1U) != 0 ? kFlags.substr(i, 1) : "";
            }
            line += " " + std::to_string(sent.seq()) + ":" + std::to_string(sent.ack());
        } else {
            line = "udp";
        }
        if (sent.headers().payload_len != 0) {
            line += " " + std::to_string(sent.headers().payload_len);
        }
        return line;
    }

    Box box_;
    UnitParser parser_;
    AnswerBoards boards_ = boards();
    Answerer answerer_;
    KeyHasher hash_{HashSecret{1, 2}};
    Burst burst_;
    Openings openings_;
    std::vector<SentFrame> made_;
    bool proves_ = true;
    Nanoseconds utc_ahead_{};
    std::array<std::uint64_t, kAnswerEventCount> events_{};
};

}  // namespace sluice::test
