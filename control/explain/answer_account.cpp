#include "control/explain/answer_account.hpp"

#include "lib/respond/act/answerer.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace sluice {
namespace {

// What goes back to the sender as text.
std::string text_sent(const MadeFrames& made) {
    std::string text;
    for (std::size_t i = 0; i < made.count; ++i) {
        const MadeFrame& frame = made.frames[i];
        if (!frame.is_datagram && frame.side == Toward::Source) {
            const ByteView payload = frame.segment.payload;
            text.append(reinterpret_cast<const char*>(payload.data()), payload.size());
        }
    }
    return text;
}

void read_response(const std::string& text, AnswerAccount& account) {
    constexpr std::string_view kEnd = "\r\n\r\n";
    const std::size_t end = text.find(kEnd);
    if (end == std::string::npos) {
        return;
    }
    account.head = text.substr(0, end + 2);
    std::erase(account.head, '\r');
    account.body_bytes = text.size() - end - kEnd.size();
}

}  // namespace

AnswerAccount answer_of(const WorkerSet::Place& place, const LoadedSet& rules,
                        const Decision& decision) {
    AnswerAccount account;
    std::vector<Action> actions = rules.actions;
    std::uint32_t& slip = actions[decision.action].answer.slip;
    const std::uint32_t every = slip;
    slip = std::min(slip, std::uint32_t{1});  // this packet is the one of so many
    AnswerBoards boards{DigestBoard::kWays, DigestBoard::kWays};
    const auto answerer = std::make_unique<Answerer>(1, boards);
    Decision done = decision;
    // A lone frame stands for one of a connection that was opened.
    AnsweredPacket packet = place.burst.answered(0);
    packet.handshake = Handshake::Completed;
    answerer->answer(packet,
                     {.actions = actions,
                      .plan = rules.answers,
                      .now = place.now.at,
                      .utc_ahead = place.now.utc_ahead,
                      .hash = place.core.hash},
                     done);
    read_response(text_sent(answerer->made()), account);
    answerer->take_events([&](std::size_t event, std::uint32_t /*times*/) {
        account.event = kAnswerEvents[event].name;
        account.help = kAnswerEvents[event].help;
        if (account.event.starts_with("dns_")) {
            account.every = every;
        }
    });
    return account;
}

}  // namespace sluice
