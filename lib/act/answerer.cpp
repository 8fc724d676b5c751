#include "lib/act/answerer.hpp"

#include "lib/answer/connection_digest.hpp"
#include "lib/answer/dns_answer.hpp"
#include "lib/answer/tls_alert.hpp"
#include "lib/base/check.hpp"
#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/quic/long_header.hpp"
#include "lib/packet/transport.hpp"

#include <algorithm>

namespace sluice {
namespace {

// A query over UDP is no longer than the frame that it is in.
constexpr std::size_t kMostQuery = 16'384;

InitialSealer sealer_or_abort() {
    Result<InitialSealer> made = InitialSealer::make();
    SLUICE_CHECK(made.has_value());
    return *std::move(made);
}

std::int32_t ahead(std::uint32_t from, std::uint32_t at) noexcept {
    return static_cast<std::int32_t>(at - from);
}

ByteView payload_of(const AnsweredPacket& packet) noexcept {
    const PacketHeaders& headers = packet.headers;
    const ByteView frame = packet.frame.bytes;
    if (headers.payload_at > frame.size()) {
        return {};
    }
    const ByteView rest = frame.subspan(headers.payload_at);
    return rest.first(std::min<std::size_t>(rest.size(), headers.payload_len));
}

}  // namespace

// One packet, and what an answer to it needs.
struct Answerer::Packet {
    const AnsweredPacket& seen;
    const AnswerContext& context;
    TcpFacts tcp;  // where it is one of TCP
};

Answerer::Answerer(std::size_t connections, DigestBoard& servers)
    : connections_{connections},
      servers_{servers},
      sealer_{sealer_or_abort()},
      dns_{std::make_unique<std::byte[]>(kMostQuery)} {}

bool Answerer::find_routes(const AnsweredPacket& packet) noexcept {
    if (FrameRoute::find(packet.headers, packet.frame.bytes, Toward::Destination, made_.on) !=
        RouteFault::None) {
        return false;
    }
    made_.back = made_.on.reversed();
    return true;
}

void Answerer::answer(const AnsweredPacket& packet, const AnswerContext& context,
                      Decision& decision) noexcept {
    made_.count = 0;
    const Action& action = context.actions[decision.action];
    Packet of{.seen = packet, .context = context, .tcp = {}};
    bool answered = false;
    if (!find_routes(packet)) {
        count(AnswerEvent::NoRoute);
    } else if (const auto facts = read_tcp_facts(packet.headers, packet.frame.bytes)) {
        of.tcp = *facts;
        answered = answer_tcp(of, action, decision);
    } else {
        answered = answer_datagram(of, action, decision);
    }
    if (!answered) {
        made_.count = 0;
        decision.verdict = Verdict::Drop;
        decision.action = kDropAction;
    }
}

// What has no answer of its own kind goes the way of those that are reset, where the rule says so.
bool Answerer::answer_tcp(const Packet& packet, const Action& action, Decision& decision) noexcept {
    if (action.verdict != Verdict::Reset && packet.seen.unit != AnsweredUnit::None &&
        action.answer.response != 0) {
        return packet.seen.unit == AnsweredUnit::ClientHello
                   ? answer_hello(packet, action, decision)
                   : answer_request(packet, action, decision);
    }
    const bool resets = action.verdict == Verdict::Reset ||
                        (action.answer.response == 0 &&
                         packet.context.actions[action.answer.then].verdict == Verdict::Reset);
    if (!resets) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    decision.verdict = Verdict::Reset;
    return reset_both(packet, AnswerEvent::Reset);
}

// False: it is a RST itself.
bool Answerer::reset_both(const Packet& packet, AnswerEvent event) noexcept {
    const auto back = reset_toward_sender(packet.tcp);
    if (!back) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    made_.add({.side = Toward::Source, .segment = *back});
    if (const auto on = reset_toward_receiver(packet.tcp, packet.tcp.seq)) {
        made_.add({.side = Toward::Destination, .segment = *on});
    }
    count(event);
    return true;
}

bool Answerer::answer_hello(const Packet& packet, const Action& action,
                            Decision& decision) noexcept {
    if (!action.answer.tls_alert || packet.seen.may_wait) {
        decision.verdict = Verdict::Reset;
        return reset_both(packet, AnswerEvent::Reset);
    }
    const ResponsePlace place = response_to(packet.tcp);
    const ByteView alert{kTlsAccessDenied};
    const ResponseCut cut = cut_response(alert.size(), 0, place.timestamps.has_value());
    made_.add({.side = Toward::Source, .segment = response_segment(place, alert, cut, 0)});
    if (const auto on = reset_toward_receiver(packet.tcp, packet.tcp.seq)) {
        made_.add({.side = Toward::Destination, .segment = *on});
    }
    count(AnswerEvent::TlsAlert);
    return true;
}

bool Answerer::answer_request(const Packet& packet, const Action& action,
                              Decision& decision) noexcept {
    const AnswerContext& context = packet.context;
    const PacketHeaders& headers = packet.seen.headers;
    AnsweredConnection* connection = nullptr;
    if (!packet.seen.may_wait) {
        connection =
            connections_.add(connection_digest(headers, Way::Along, context.hash), context.now);
    }
    if (connection == nullptr) {
        decision.verdict = Verdict::Reset;
        return reset_both(packet,
                          packet.seen.may_wait ? AnswerEvent::MayBeAnswering : AnswerEvent::NoLine);
    }
    const ResponsePlace place = response_to(packet.tcp);
    connection->load = context.load;
    connection->wait = decision.wait;
    connection->rule = decision.rule;
    connection->limit = decision.limit;
    connection->action = decision.action;
    connection->is_head = packet.seen.unit == AnsweredUnit::HttpHead;
    connection->request = place.request;
    connection->begin = place.seq;
    connection->received = place.received;
    connection->has_finished = packet.tcp.has(kTcpFin);
    connection->end = response_end(place, respond(packet, place, *connection));
    servers_.post(connection_digest(headers, Way::Against, context.hash), seconds_of(context.now));
    if (const auto on = reset_toward_receiver(packet.tcp, packet.tcp.seq)) {
        made_.add({.side = Toward::Destination, .segment = *on});
    }
    count(action.verdict == Verdict::Decoy ? AnswerEvent::Decoyed : AnswerEvent::Replied);
    return true;
}

// Returns the size of the response, whatever of it is lost on its way.
std::size_t Answerer::respond(const Packet& packet, const ResponsePlace& place,
                              const AnsweredConnection& connection) noexcept {
    const AnswerContext& context = packet.context;
    const AnswerTerms& terms = context.actions[connection.action].answer;
    const WrittenResponse& response = responses_.get(
        {.load = context.load,
         .response = terms.response,
         .is_head = connection.is_head,
         .has_timestamps = place.timestamps.has_value(),
         .numbers = context.plan.quota(
             {.limit = connection.limit, .rule = connection.rule, .wait = connection.wait})},
        context.plan.response(terms));
    for (std::size_t i = 0; i < response.cut.count; ++i) {
        MadeFrame& frame =
            made_.add({.side = Toward::Source,
                       .segment = response_segment(place, response.view(), response.cut, i)});
        frame.segment.payload_sum = &response.sums[i];
    }
    return response.size;
}

bool Answerer::answer_datagram(const Packet& packet, const Action& action,
                               const Decision& decision) noexcept {
    const PacketHeaders& headers = packet.seen.headers;
    const bool is_udp = headers.proto == kProtoUdp;
    if (is_udp && headers.dport == kDnsPort && action.verdict != Verdict::Reset) {
        return answer_query(packet, action, decision.rule);
    }
    const bool truncates = action.verdict == Verdict::Reply && action.answer.response == 0;
    if (is_udp && packet.seen.unit == AnsweredUnit::ClientHello && !truncates) {
        return close_quic(packet);
    }
    count(AnswerEvent::NotAnswerable);
    return false;
}

bool Answerer::answer_query(const Packet& packet, const Action& action,
                            std::uint32_t rule) noexcept {
    const ByteView query = payload_of(packet.seen);
    const DnsAnswer kind = action.answer.response == 0        ? DnsAnswer::Truncated
                           : action.verdict == Verdict::Decoy ? DnsAnswer::Empty
                                                              : DnsAnswer::Refused;
    if (query.size() > kMostQuery || rule >= kMaxRules || !slips_[rule].take(action.answer.slip)) {
        return false;
    }
    const std::size_t size = write_dns_answer(query, kind, {dns_.get(), query.size()});
    if (size == 0) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    made_.add({.is_datagram = true, .payload = {dns_.get(), size}});
    count(kind == DnsAnswer::Truncated ? AnswerEvent::DnsTruncated
          : kind == DnsAnswer::Refused ? AnswerEvent::DnsRefused
                                       : AnswerEvent::DnsEmpty);
    return true;
}

bool Answerer::close_quic(const Packet& packet) noexcept {
    const ByteView datagram = payload_of(packet.seen);
    QuicPacket initial;
    std::size_t size = 0;
    if (read_long_header(datagram, initial) == QuicHeaderOutcome::Good &&
        initial.type == QuicPacketType::Initial) {
        size = write_quic_close(sealer_,
                                {.version = initial.version,
                                 .client_dcid = initial.dcid,
                                 .client_scid = initial.scid,
                                 .datagram = datagram.size()},
                                quic_close_);
    }
    if (size == 0) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    made_.add({.is_datagram = true, .payload = ByteView{quic_close_}.first(size)});
    count(AnswerEvent::QuicClosed);
    return true;
}

// A SYN begins another connection between the same ends.
bool Answerer::follow(const AnsweredPacket& packet, const AnswerContext& context,
                      Decision& decision) noexcept {
    made_.count = 0;
    const auto facts = read_tcp_facts(packet.headers, packet.frame.bytes);
    if (!facts) {
        return false;
    }
    const std::uint64_t digest = connection_digest(packet.headers, Way::Along, context.hash);
    const std::uint32_t seconds = seconds_of(context.now);
    AnsweredConnection* const connection = connections_.find(digest, context.now);
    if (facts->has(kTcpSyn) && !facts->has(kTcpAck)) {
        servers_.remove(connection_digest(packet.headers, Way::Against, context.hash));
        if (connection != nullptr) {
            AnsweredConnections::remove(*connection);
        }
        return false;
    }
    if (connection == nullptr && !servers_.has(digest, seconds)) {
        return false;
    }
    decision = dropped_for(Reason::Answered);
    if (!find_routes(packet)) {
        return true;
    }
    const Packet of{.seen = packet, .context = context, .tcp = *facts};
    connection != nullptr ? follow_client(of, *connection) : follow_server(of);
    return true;
}

// What its client sends from then on. What it repeats says that it lacks some of the answer, which
// is sent once more; a FIN is acknowledged; who has the whole answer and goes on sending gets a RST
// (RFC 9112, 9.6: that one earlier could cost the client the answer).
void Answerer::follow_client(const Packet& packet, AnsweredConnection& connection) noexcept {
    const TcpFacts& came = packet.tcp;
    if (came.has(kTcpRst)) {
        AnsweredConnections::remove(connection);
        count(AnswerEvent::Absorbed);
        return;
    }
    const bool repeats = came.payload != 0 && ahead(connection.received, came.seq) < 0;
    const bool in_order = ahead(came.seq, connection.received) >= 0;
    if (in_order && ahead(connection.received, came.end()) > 0) {
        connection.received = came.end();
        connection.has_finished |= came.has(kTcpFin);
    }
    const bool has_all = came.has(kTcpAck) && ahead(connection.end, came.ack) >= 0;
    const bool is_same_load = packet.context.load == connection.load;
    if (came.payload != 0 && (has_all || (repeats && !is_same_load))) {
        made_.add({.segment = *reset_toward_sender(came)});
        count(AnswerEvent::Ended);
    } else if (repeats) {
        const ResponsePlace place{.seq = connection.begin,
                                  .request = connection.request,
                                  .received = connection.received,
                                  .timestamps = timestamps_toward_sender(came)};
        (void)respond(packet, place, connection);
        count(AnswerEvent::Repeated);
    } else if (came.has(kTcpFin) && has_all) {
        made_.add({.segment = bare_ack(connection.end, connection.received,
                                       timestamps_toward_sender(came))});
        count(AnswerEvent::FinAcknowledged);
    } else {
        count(AnswerEvent::Absorbed);
    }
}

// Its RST was not exact, or has not come yet: one at the number that the server awaits is.
void Answerer::follow_server(const Packet& packet) noexcept {
    if (packet.tcp.has(kTcpRst) || !packet.tcp.has(kTcpAck)) {
        count(AnswerEvent::Absorbed);
        return;
    }
    made_.add({.segment = *reset_toward_sender(packet.tcp)});
    count(AnswerEvent::ChallengeReset);
}

}  // namespace sluice
