#pragma once
#include "lib/units/hello_texts.hpp"
#include "lib/units/quic_units.hpp"
#include "lib/units/source_network.hpp"

#include <cstdint>
#include <span>

namespace sluice {

// One datagram with an Initial that can be opened.
class QuicUnits::Datagram {
public:
    Datagram(QuicUnits& owner, ByteView bytes, const QuicPacket& first, const UnitSource& packet,
             UnitSink& units) noexcept
        : owner_{owner},
          bytes_{bytes},
          first_{first},
          packet_{packet},
          units_{units},
          path_{connection_ends(packet.headers, packet.hash).along()},
          id_{digest_with(first.dcid)},
          budget_{0} {}

    // True: it completes a hello, which is in owner_.hello_; is_new() tells whether it counts.
    [[nodiscard]] bool run() noexcept {
        using State = QuicHellos::State;
        QuicHellos& hellos = owner_.hellos_;
        if (hellos.state_of(id_) == State::Judged && blocks(hellos.verdict_of(id_))) {
            repeat(id_);
            return false;
        }
        if (is_of_new_connection() && !begin_anew()) {
            units_.drop(Reason::NoHeadRoom);
            return false;
        }
        const State state = hellos.state_of(id_);
        budget_ = owner_.time_.lend(packet_.now);
        const bool whole = state == State::Judged ? compare()
                           : state == State::Half ? go_on(hellos.half_of(id_))
                                                  : begin();
        owner_.time_.give_back(budget_);
        return whole;
    }
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }

private:
    // The id of a connection: who speaks, and of how many bytes which id the client has chosen.
    [[nodiscard]] std::uint64_t digest_with(ByteView part) const noexcept {
        struct Key {
            std::uint64_t path;
            std::uint64_t size;
            std::uint64_t part;
        };
        const Key key{path_, part.size(), packet_.hash.digest(part)};
        return packet_.hash.digest(std::as_bytes(std::span{&key, 1}));
    }

    void repeat(std::uint64_t key) noexcept {
        units_.count(UnitEvent::QuicHelloAgain);
        const StickyVerdict verdict = owner_.hellos_.verdict_of(key);
        if (blocks(verdict)) {
            units_.drop_repeat();
        } else if (verdict == StickyVerdict::Undecided) {
            units_.follow({.connection = key, .from = 0, .to = 1, .carrier = kQuicCarrier});
        }
    }

    // The key of parts that come under the id of a judged hello.
    [[nodiscard]] std::uint64_t again() const noexcept {
        struct Key {
            std::uint64_t id;
            std::uint64_t again;
        };
        const Key key{id_, 1};
        return packet_.hash.digest(std::as_bytes(std::span{&key, 1}));
    }
    [[nodiscard]] AnswersSeen answers_seen() const noexcept {
        return of_service() && packet_.service.service->path == ServicePath::Both ? AnswersSeen::Yes
                                                                                  : AnswersSeen::No;
    }
    // The id is not known, or its server may have forgotten the hello that was judged.
    [[nodiscard]] bool is_of_new_connection() const noexcept {
        const QuicHellos& hellos = owner_.hellos_;
        return hellos.state_of(id_) == QuicHellos::State::Unknown ||
               (hellos.verdict_of(id_) != StickyVerdict::Undecided &&
                hellos.may_be_forgotten(id_, path_, answers_seen()));
    }
    [[nodiscard]] bool begin_anew() noexcept {
        unsigned given_up = 0;
        const bool has_room =
            owner_.hellos_.begin_anew(id_, again(), path_, source_of(packet_), given_up);
        units_.count(UnitEvent::QuicGivenUp, given_up);
        return has_room;
    }
    // A server may forget a connection that its client closes before it has answered.
    [[nodiscard]] QuicHelloRead noted(const QuicHelloRead& read) noexcept {
        if (read.closes && of_service()) {
            owner_.hellos_.note_answer(path_, packet_.now);
        }
        return read;
    }

    [[nodiscard]] bool of_service() const noexcept { return packet_.service.service != nullptr; }

    // A connection whose hello was judged, and forwarded or not decided yet: the same bytes are
    // a repeat, others a hello that is judged as any, also where they come in parts.
    [[nodiscard]] bool compare() noexcept {
        const std::uint64_t again_id = again();
        QuicHellos& hellos = owner_.hellos_;
        if (hellos.verdict_of(id_) == StickyVerdict::Undecided) {
            // Hellos behind one that is refused go where it goes.
            units_.follow({.connection = id_, .from = 0, .to = 1, .carrier = kQuicCarrier});
        }
        const bool is_kept = hellos.state_of(again_id) == QuicHellos::State::Half;
        HalfHello& half = is_kept ? hellos.half_of(again_id) : hellos.spare();
        half.id = again_id;
        half.path = path_;
        half.is_again = true;
        half.client_dcid = ConnectionId{first_.dcid};
        const QuicHelloRead read = noted(
            owner_.reader_.read_on(bytes_, half.client_dcid, half.stream, budget_, owner_.hello_));
        switch (read.outcome) {
            case QuicHelloOutcome::Whole:
                hellos.note_repeat(id_);
                return conclude_again(half);
            case QuicHelloOutcome::NeedMore:
                hellos.note_repeat(id_);
                return conclude(read, half, is_kept);
            case QuicHelloOutcome::NoInitial:
            case QuicHelloOutcome::NoCrypto:
            case QuicHelloOutcome::NotAuthentic:
                repeat(id_);
                return false;
            default:
                return conclude(read, half, is_kept);
        }
    }

    [[nodiscard]] bool conclude_again(const HalfHello& half) noexcept {
        QuicHellos& hellos = owner_.hellos_;
        const std::uint64_t hello = digest_with(half.stream.contiguous());
        const ConnectionId dcid = half.client_dcid;
        hellos.forget_half(half.id);
        if (hellos.is_hello_of(id_, hello)) {
            repeat(id_);
            return false;
        }
        units_.count(UnitEvent::QuicOtherHello);
        judge_new(id_, hello, dcid);
        return true;
    }

    // A connection whose hello is half goes on, under the id that it began with.
    [[nodiscard]] bool go_on(HalfHello& half) noexcept {
        const QuicHelloRead read = noted(
            owner_.reader_.read_on(bytes_, half.client_dcid, half.stream, budget_, owner_.hello_));
        return conclude(read, half, true);
    }

    // A connection that is not known, under the id that a server chose, goes on with a half hello
    // of its path, else it begins one.
    [[nodiscard]] bool begin() noexcept {
        QuicHellos& hellos = owner_.hellos_;
        if (HalfHello* const half = hellos.half_on(path_)) {
            const QuicHelloRead read = noted(owner_.reader_.read_on(
                bytes_, half->client_dcid, half->stream, budget_, owner_.hello_));
            if (read.outcome != QuicHelloOutcome::NotAuthentic) {
                return conclude(read, *half, true);
            }
        }
        HalfHello& half = hellos.spare();
        half.id = id_;
        half.path = path_;
        const QuicHelloRead read =
            noted(owner_.reader_.read(bytes_, half.stream, budget_, owner_.hello_));
        half.client_dcid = read.client_dcid;
        return conclude(read, half, false);
    }

    [[nodiscard]] bool conclude(const QuicHelloRead& read, const HalfHello& half,
                                bool is_kept) noexcept {
        switch (read.outcome) {
            case QuicHelloOutcome::Whole:
                judge(half);
                return true;
            case QuicHelloOutcome::NeedMore:
                wait(half, is_kept);
                return false;
            case QuicHelloOutcome::NoInitial:
            case QuicHelloOutcome::NoCrypto:
                return false;
            case QuicHelloOutcome::NotAuthentic:
                leave();
                return false;
            case QuicHelloOutcome::OverBudget:
                units_.count(UnitEvent::QuicOverBudget);
                units_.drop(Reason::InitialBudget);
                return false;
            default:
                refuse(read, half.id);
                return false;
        }
    }

    void judge(const HalfHello& half) noexcept {
        QuicHellos& hellos = owner_.hellos_;
        const std::uint64_t id = half.id;
        const std::uint64_t hello = digest_with(half.stream.contiguous());
        if (!first_.token.empty() && hellos.follow_retry(id, hello, path_, answers_seen())) {
            repeat(hello);
            return;
        }
        judge_new(id, hello, half.client_dcid);
    }

    void judge_new(std::uint64_t id, std::uint64_t hello, const ConnectionId& dcid) noexcept {
        QuicHellos& hellos = owner_.hellos_;
        is_new_ = true;
        units_.count(UnitEvent::QuicHello);
        if (hellos.state_of(hello) == QuicHellos::State::Judged) {
            units_.count(UnitEvent::QuicHelloAnew);
        }
        units_.note_quic_dcid(dcid);
        const std::uint64_t before = hellos.forgotten();
        (void)hellos.judge(id, hello);
        units_.count(UnitEvent::QuicForgotten,
                     static_cast<std::uint32_t>(hellos.forgotten() - before));
        units_.remember({.connection = id, .from = 0, .to = 1, .carrier = kQuicCarrier});
    }

    // A part of a hello passes, as any beginning of a head, unless what was there before it is not
    // known any more.
    void wait(const HalfHello& half, bool is_kept) noexcept {
        QuicHellos& hellos = owner_.hellos_;
        units_.count(UnitEvent::QuicNeedMore);
        const std::uint64_t id = half.id;
        unsigned given_up = 0;
        if (!is_kept && !hellos.keep_spare(source_of(packet_), given_up)) {
            units_.drop(Reason::NoHeadRoom);
        }
        units_.count(UnitEvent::QuicGivenUp, given_up);
        if (hellos.lacks_beginning(id)) {
            units_.count(UnitEvent::QuicPartsLost);
            units_.drop(Reason::LostHead);
        }
    }

    // Under keys of a hello that nobody knows any more: it goes where the hello of its path went.
    void leave() noexcept {
        const QuicHellos& hellos = owner_.hellos_;
        units_.count(UnitEvent::QuicNotAuthentic);
        if (hellos.is_uncertain(path_)) {
            units_.count(UnitEvent::QuicPartsLost);
            units_.drop(Reason::LostHead);
        } else if (const auto judged = hellos.judged_on(path_)) {
            go_with(*judged);
        }
    }

    // A hello that is forgotten itself was refused: its path would not be known otherwise.
    void go_with(std::uint64_t id) noexcept {
        units_.count(UnitEvent::QuicHelloAgain);
        if (owner_.hellos_.verdict_of(id) == StickyVerdict::Undecided) {
            units_.follow({.connection = id, .from = 0, .to = 1, .carrier = kQuicCarrier});
        } else {
            units_.drop_repeat();
        }
    }

    void refuse(const QuicHelloRead& read, std::uint64_t id) noexcept {
        if (read.outcome == QuicHelloOutcome::Differs && packet_.service.is_enforced()) {
            // No server sees them: the hello that came first goes on.
            units_.count(UnitEvent::QuicMalformed);
            units_.drop(Reason::Overlap);
            return;
        }
        owner_.hellos_.give_up(id);
        if (read.outcome == QuicHelloOutcome::TooManyPieces) {
            units_.count(UnitEvent::QuicMalformed);
            units_.drop(Reason::TooManyPieces);
        } else if (read.outcome == QuicHelloOutcome::Malformed) {
            of_service() ? refuse_hello(read.fault, units_) : count_fault(read.fault, units_);
        } else if (read.outcome == QuicHelloOutcome::BeyondRoom) {
            units_.count(UnitEvent::QuicTooLong);
            units_.drop(Reason::HeadTooLong);
        } else {
            units_.count(UnitEvent::QuicMalformed);
            units_.drop(Reason::MalformedHello);
        }
    }

    QuicUnits& owner_;
    ByteView bytes_;
    const QuicPacket& first_;
    const UnitSource& packet_;
    UnitSink& units_;
    std::uint64_t path_;
    std::uint64_t id_;
    InitialBudget budget_;
    bool is_new_ = false;
};

}  // namespace sluice
