#pragma once
#include "lib/l7/stream/track/tracked_segment.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <vector>

// TCP as RFC 9293 says it, with positions of 64 bits and a map of single bytes: it shares nothing
// with the tracker. One end of a connection, and a path that loses, doubles and reorders.
namespace sluice::test {

using Dice = std::mt19937_64;

inline std::uint64_t draw(Dice& chance, std::uint64_t below) {
    return chance() % below;
}
inline bool odds(Dice& chance, unsigned percent) {
    return draw(chance, 100) < percent;
}

// A segment on its way. `connection` counts the connections that its sender has begun or accepted.
struct Packet {
    std::uint64_t number = 0;  // of all that were sent
    std::uint64_t connection = 0;
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;
    std::uint16_t flags = 0;
    std::uint32_t payload = 0;
    std::uint16_t window = 0;
    std::optional<std::uint8_t> scale = {};
    std::uint32_t iss = 0;  // of its sender
    bool refuses = false;   // a RST in answer to a segment of no connection, perhaps an old one

    [[nodiscard]] bool has(std::uint16_t flag) const { return (flags & flag) != 0; }
};

// Faults of a path, in percent.
struct PathFaults {
    unsigned loss = 0;
    unsigned doubled = 0;
    unsigned reordered = 0;
};

class Path {
public:
    explicit Path(PathFaults faults) : faults_{faults} {}

    void add(const Packet& packet, Dice& chance) {
        if (odds(chance, faults_.loss)) {
            return;
        }
        const std::size_t ahead = odds(chance, faults_.reordered) ? draw(chance, 8) : 0;
        const std::size_t at = packets_.size() - std::min(ahead, packets_.size());
        packets_.insert(packets_.begin() + static_cast<std::ptrdiff_t>(at), packet);
        if (odds(chance, faults_.doubled)) {
            packets_.push_back(packet);
        }
    }
    [[nodiscard]] std::optional<Packet> take() {
        if (packets_.empty()) {
            return std::nullopt;
        }
        const Packet first = packets_.front();
        packets_.pop_front();
        return first;
    }
    [[nodiscard]] bool empty() const { return packets_.empty(); }

private:
    PathFaults faults_;
    std::deque<Packet> packets_;
};

// One end. Bytes have no contents; a byte that is accepted is known by the packet that brought it.
class TcpEnd {
public:
    enum class State : std::uint8_t { Closed, SynSent, SynReceived, Open };

    struct Shape {
        bool is_server = false;
        std::optional<std::uint8_t> scale;
        std::uint32_t buffer = 20'000;  // for what the application has not read
        std::uint32_t segment = 1000;
    };

    TcpEnd(const Shape& shape, std::vector<Packet>& out) : shape_{shape}, out_{&out} {}

    State state = State::Closed;
    std::uint64_t connection = 0;
    // The next connection's bytes to send, all in all, and whether a FIN follows them.
    std::uint64_t planned = 0;
    bool will_close = false;
    std::uint32_t iss = 0;
    std::uint32_t irs = 0;
    std::vector<std::uint64_t> accepted;  // the packet of each byte, in order
    std::uint64_t ends_by_reset = 0;

    void connect(std::uint32_t number) {
        begin(number);
        ++connection;
        state = State::SynSent;
        send_syn();
    }
    // Sends what it may: new data, a probe of a closed window, its FIN.
    void send_new() {
        if (state != State::Open) {
            return;
        }
        const std::uint64_t room = edge_ > next_ ? edge_ - next_ : 0;
        const std::uint64_t size =
            std::min<std::uint64_t>({room, to_send_ - std::min(to_send_, next_), shape_.segment});
        if (size != 0) {
            const bool last = closes_ && next_ + size == to_send_ && room > size;
            send(next_, size, last ? kTcpFin : 0);
            next_ += size;
            fin_sent_ = fin_sent_ || last;
        } else if (next_ < to_send_ && edge_ == una_ && next_ == edge_) {
            send(next_, 1, 0);
            next_ += 1;
        } else if (closes_ && !fin_sent_ && next_ == to_send_) {
            fin_sent_ = true;
            send(next_, 0, kTcpFin);
        }
    }
    // The oldest that is not acknowledged, perhaps in other cuts than the first time.
    void send_again(Dice& chance) {
        if (state == State::SynSent || state == State::SynReceived) {
            return send_syn();
        }
        if (state != State::Open) {
            return;
        }
        const std::uint64_t from = una_ + (next_ > una_ ? draw(chance, next_ - una_) : 0);
        const std::uint64_t start = odds(chance, 60) ? una_ : from;
        const std::uint64_t size =
            std::min<std::uint64_t>(next_ - start, 1 + draw(chance, shape_.segment));
        if (next_ > start) {
            send(start, size, fin_sent_ && start + size == to_send_ ? kTcpFin : 0);
        } else if (fin_sent_ && !fin_acked_) {
            send(to_send_, 0, kTcpFin);
        } else if (odds(chance, 50)) {
            out({.seq = number_of(next_) - 1, .ack = ack(), .flags = kTcpAck, .payload = 1});
        }
    }
    void send_ack() {
        if (state == State::Open) {
            send(next_, 0, 0);
        }
    }
    void read(std::uint64_t bytes) { read_ = std::min<std::uint64_t>(read_ + bytes, received()); }
    void abort() {
        if (state == State::Open) {
            out({.seq = number_of(next_) + (fin_sent_ ? 1U : 0U), .flags = kTcpRst});
        }
        state = State::Closed;
    }
    // The next number that it expects, the right edge of its window, and its own next number.
    [[nodiscard]] std::uint32_t expects() const { return ack(); }
    [[nodiscard]] std::uint32_t right_edge() const {
        return irs + 1 + static_cast<std::uint32_t>(offered_);
    }
    [[nodiscard]] std::uint32_t next_number() const { return number_of(next_); }
    [[nodiscard]] bool is_done() const { return fin_acked_ && peer_closed_; }

    void take(const Packet& packet, Dice& chance) {
        switch (state) {
            case State::Closed:
                return shape_.is_server && packet.has(kTcpSyn) && !packet.has(kTcpAck | kTcpRst)
                           ? accept(packet, chance)
                           : refuse(packet);
            case State::SynSent:
                return in_syn_sent(packet);
            case State::SynReceived:
            case State::Open:
                return in_connection(packet);
        }
    }

private:
    [[nodiscard]] std::uint32_t number_of(std::uint64_t place) const {
        return iss + 1 + static_cast<std::uint32_t>(place);
    }
    [[nodiscard]] std::uint64_t received() const { return accepted.size(); }
    [[nodiscard]] std::uint32_t ack() const {
        return irs + 1 + static_cast<std::uint32_t>(received()) + (peer_closed_ ? 1U : 0U);
    }
    // A window that was offered is kept, in whole units of its scale.
    [[nodiscard]] std::uint16_t window() {
        const unsigned shift = scales_ ? *shape_.scale : 0;
        const std::uint64_t free = shape_.buffer - (received() - read_);
        const std::uint64_t before = offered_ > received() ? offered_ - received() : 0;
        const std::uint64_t units =
            std::min<std::uint64_t>(std::max(free, before) >> shift, 0xFFFF);
        offered_ = std::max(offered_, received() + (units << shift));
        return static_cast<std::uint16_t>(units);
    }
    void begin(std::uint32_t number) {
        iss = number;
        to_send_ = planned;
        closes_ = will_close;
        una_ = next_ = edge_ = read_ = offered_ = 0;
        fin_sent_ = fin_acked_ = peer_closed_ = scales_ = false;
        peer_fin_.reset();
        accepted.clear();
        early_.clear();
    }
    void out(Packet packet) {
        packet.connection = connection;
        packet.iss = iss;
        out_->push_back(packet);
    }
    void send(std::uint64_t from, std::uint64_t size, std::uint16_t flags) {
        // Behind its own FIN an empty segment has the number behind it.
        const bool behind = size == 0 && fin_sent_ && from == to_send_ && (flags & kTcpFin) == 0;
        out({.seq = number_of(from) + (behind ? 1U : 0U),
             .ack = ack(),
             .flags = static_cast<std::uint16_t>(flags | kTcpAck),
             .payload = static_cast<std::uint32_t>(size),
             .window = window()});
    }
    void send_syn() {
        const bool answers = state == State::SynReceived;
        const auto window =
            static_cast<std::uint16_t>(std::min<std::uint32_t>(shape_.buffer, 0xFFFF));
        offered_ = std::max<std::uint64_t>(offered_, window);
        out({.seq = iss,
             .ack = answers ? irs + 1 : 0,
             .flags = static_cast<std::uint16_t>(answers ? kTcpSyn | kTcpAck : kTcpSyn),
             .window = window,
             .scale = answers && !scales_ ? std::nullopt : shape_.scale});
    }
    void accept(const Packet& packet, Dice& chance) {
        begin(static_cast<std::uint32_t>(chance()));
        connection = packet.connection;
        irs = packet.seq;
        scales_ = packet.scale.has_value() && shape_.scale.has_value();
        peer_scale_ = scales_ ? *packet.scale : 0;
        edge_ = packet.window;
        state = State::SynReceived;
        send_syn();
    }
    void refuse(const Packet& packet) {
        if (packet.has(kTcpRst)) {
            return;
        }
        Packet answer{
            .connection = packet.connection, .seq = packet.ack, .flags = kTcpRst, .refuses = true};
        if (!packet.has(kTcpAck)) {
            answer.seq = 0;
            answer.ack = packet.seq + packet.payload + (packet.has(kTcpSyn) ? 1U : 0U);
            answer.flags = kTcpRst | kTcpAck;
        }
        out_->push_back(answer);
    }
    void in_syn_sent(const Packet& packet) {
        if (packet.has(kTcpAck) && packet.ack != iss + 1) {
            return refuse(packet);
        }
        if (packet.has(kTcpRst)) {
            if (packet.has(kTcpAck)) {
                state = State::Closed;
            }
            return;
        }
        if (!packet.has(kTcpSyn) || !packet.has(kTcpAck)) {
            return;
        }
        irs = packet.seq;
        scales_ = packet.scale.has_value() && shape_.scale.has_value();
        peer_scale_ = scales_ ? *packet.scale : 0;
        edge_ = packet.window;
        state = State::Open;
        send_ack();
    }
    void in_connection(const Packet& packet) {
        const std::int64_t at = static_cast<std::int32_t>(packet.seq - ack());
        if (packet.has(kTcpRst)) {
            if (at == 0) {
                state = State::Closed;
                ++ends_by_reset;
            } else if (at > 0 && static_cast<std::uint64_t>(at) + received() <= offered_) {
                challenge();
            }
            return;
        }
        if (packet.has(kTcpSyn)) {
            return state == State::SynReceived && packet.seq == irs ? send_syn() : challenge();
        }
        if (!packet.has(kTcpAck)) {
            return;
        }
        if (!takes_ack(packet)) {
            return state == State::SynReceived ? refuse(packet) : challenge();
        }
        state = State::Open;
        take_bytes(packet, at);
        if (packet.payload != 0 || packet.has(kTcpFin)) {
            send_ack();
        }
    }
    void challenge() {
        out({.seq = number_of(next_), .ack = ack(), .flags = kTcpAck, .window = window()});
    }
    [[nodiscard]] bool takes_ack(const Packet& packet) {
        const std::int64_t ahead = static_cast<std::int32_t>(packet.ack - number_of(una_));
        const std::uint64_t most = next_ + (fin_sent_ ? 1U : 0U);
        if (ahead > 0 && una_ + static_cast<std::uint64_t>(ahead) > most) {
            return false;
        }
        if (ahead < 0) {
            return state == State::Open;
        }
        const std::uint64_t acked = una_ + static_cast<std::uint64_t>(ahead);
        fin_acked_ = fin_acked_ || (fin_sent_ && acked > to_send_);
        una_ = std::min(acked, next_);
        edge_ = std::max(edge_, acked + (std::uint64_t{packet.window} << peer_scale_));
        return true;
    }
    // `at`: how far the segment begins behind what was received.
    void take_bytes(const Packet& packet, std::int64_t at) {
        const std::int64_t begin = static_cast<std::int64_t>(received()) + at;
        for (std::uint32_t i = 0; i < packet.payload; ++i) {
            const std::int64_t place = begin + i;
            if (place >= static_cast<std::int64_t>(received()) && !peer_closed_ &&
                place < static_cast<std::int64_t>(offered_)) {
                early_.try_emplace(static_cast<std::uint64_t>(place), packet.number);
            }
        }
        if (packet.has(kTcpFin) && !peer_fin_) {
            peer_fin_ = static_cast<std::uint64_t>(begin + packet.payload);
        }
        while (!early_.empty() && early_.begin()->first == received() && peer_fin_ != received()) {
            accepted.push_back(early_.begin()->second);
            early_.erase(early_.begin());
        }
        peer_closed_ = peer_closed_ || peer_fin_ == received();
    }

    Shape shape_;
    std::vector<Packet>* out_;
    std::uint64_t to_send_ = 0;
    bool closes_ = false;
    std::uint64_t una_ = 0;
    std::uint64_t next_ = 0;
    std::uint64_t edge_ = 0;
    std::uint64_t read_ = 0;
    std::uint64_t offered_ = 0;  // the right edge that was offered to the other end
    bool fin_sent_ = false;
    bool fin_acked_ = false;
    bool peer_closed_ = false;
    bool scales_ = false;
    unsigned peer_scale_ = 0;
    std::optional<std::uint64_t> peer_fin_;
    std::map<std::uint64_t, std::uint64_t> early_;
};

}  // namespace sluice::test
