#include "lib/l7/quic/quic_reading.hpp"

namespace sluice {

std::uint64_t digest_on_path(std::uint64_t path, ByteView part, const KeyHasher& hash) noexcept {
    struct Key {
        std::uint64_t path;
        std::uint64_t size;
        std::uint64_t part;
    };
    const Key key{path, part.size(), hash.digest(part)};
    return hash.digest(std::as_bytes(std::span{&key, 1}));
}

std::uint64_t server_end(const PacketHeaders& headers, const KeyHasher& hash) noexcept {
    PacketHeaders from_any = headers;
    from_any.src = {};
    from_any.sport = 0;
    return connection_ends(from_any, hash).along();
}

bool QuicUnits::Datagram::run() noexcept {
    using State = QuicHellos::State;
    QuicHellos& hellos = owner_.hellos_;
    if (hellos.state_of(id_) == State::Judged && blocks(hellos.verdict_of(id_))) {
        repeat(id_);
        return false;
    }
    if (is_half_elsewhere()) {
        refuse_part();
        if (packet_.service.is_enforced()) {
            return false;
        }
    }
    if (is_of_new_connection() && !begin_anew()) {
        units_.drop(Reason::NoHeadRoom);
        return false;
    }
    const State state = hellos.state_of(id_);
    budget_ = owner_.time_.lend(packet_.now);
    const bool whole = state == State::Judged ? compare(ConnectionId{first_.dcid})
                       : state == State::Half ? go_on(hellos.half_of(id_))
                                              : begin();
    owner_.time_.give_back(budget_);
    return whole;
}

void QuicUnits::Datagram::repeat(std::uint64_t key) noexcept {
    units_.count(UnitEvent::QuicHelloAgain);
    const StickyVerdict verdict = owner_.hellos_.verdict_of(key);
    if (blocks(verdict)) {
        units_.drop_repeat();
    } else if (verdict == StickyVerdict::Undecided) {
        units_.follow({.connection = key, .from = 0, .to = 1, .carrier = kQuicCarrier});
    }
}

bool QuicUnits::Datagram::is_of_new_connection() const noexcept {
    const QuicHellos& hellos = owner_.hellos_;
    return hellos.state_of(id_) == QuicHellos::State::Unknown ||
           (hellos.verdict_of(id_) != StickyVerdict::Undecided &&
            hellos.may_be_forgotten(id_, path_, answers_seen()));
}

bool QuicUnits::Datagram::begin_anew() noexcept {
    unsigned given_up = 0;
    const bool has_room =
        owner_.hellos_.begin_anew(id_, again(), path_, source_of(packet_), given_up);
    units_.count(UnitEvent::QuicGivenUp, given_up);
    return has_room;
}

QuicHelloRead QuicUnits::Datagram::noted(const QuicHelloRead& read) noexcept {
    if (read.closes && of_service()) {
        owner_.hellos_.note_answer(path_, packet_.now);
    }
    return read;
}

bool QuicUnits::Datagram::compare(const ConnectionId& client_dcid) noexcept {
    const std::uint64_t again_id = again();
    QuicHellos& hellos = owner_.hellos_;
    if (hellos.verdict_of(id_) == StickyVerdict::Undecided) {
        // Hellos behind one that is refused go where it goes.
        units_.follow({.connection = id_, .from = 0, .to = 1, .carrier = kQuicCarrier});
    }
    const bool is_kept = hellos.state_of(again_id) == QuicHellos::State::Half;
    HalfHello& half = is_kept ? hellos.half_of(again_id) : hellos.spare();
    if (!is_kept) {  // else its path is the one that it began by
        half.id = again_id;
        half.path = path_;
        half.is_again = true;
        half.is_of_service = of_service();
        half.client_dcid = client_dcid;
    }
    const QuicHelloRead read = noted(
        owner_.reader_.read_on(bytes_, half.client_dcid, half.stream, budget_, owner_.hello_));
    switch (read.outcome) {
        case QuicHelloOutcome::Whole:
            hellos.note_repeat(id_);
            return !contradicts(read, half) && conclude_again(read, half, is_kept);
        case QuicHelloOutcome::NeedMore:
            hellos.note_repeat(id_);
            return conclude(read, half, is_kept);
        case QuicHelloOutcome::NotAuthentic:
            // A client's Initials are authentic under the id that it has chosen itself.
            units_.count(UnitEvent::QuicNotAuthentic);
            units_.drop(Reason::LostHead);
            repeat(id_);
            return false;
        case QuicHelloOutcome::NoInitial:
        case QuicHelloOutcome::NoCrypto:
            repeat(id_);
            return false;
        default:
            return conclude(read, half, is_kept);
    }
}

bool QuicUnits::Datagram::conclude_again(const QuicHelloRead& read, const HalfHello& half,
                                         bool is_kept) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const auto first = first_hello_before(half);
    const std::uint64_t hello = digest_with(hello_of(half.stream));
    const bool is_repeat = hellos.is_hello_of(id_, hello);
    if (!is_repeat && (has_bytes_behind(half) || replaces_lost(half, hello))) {
        return false;
    }
    keep(read, half, is_kept);
    const ConnectionId dcid = half.client_dcid;
    hellos.forget_half(half.id);
    if (is_repeat) {
        if (hellos.verdict_of(id_) == StickyVerdict{0}) {
            hellos.kept().settle(id_, true);  // its bytes may have made room since
        }
        repeat(id_);
        return first && read_behind(*first);
    }
    units_.count(UnitEvent::QuicOtherHello);
    judge_new(id_, hello, dcid);
    return true;
}

bool QuicUnits::Datagram::begin() noexcept {
    QuicHellos& hellos = owner_.hellos_;
    if (HalfHello* const half = hellos.half_on(path_)) {
        const QuicHelloRead read = noted(owner_.reader_.read_on(
            bytes_, half->client_dcid, half->stream, budget_, owner_.hello_));
        if (read.outcome != QuicHelloOutcome::NotAuthentic) {
            return conclude(read, *half, true);
        }
    }
    // Most others are hellos under their own ids: each is opened once.
    const bool is_servers = has_servers_id();
    if (const auto whole = is_servers ? go_on_with_kept() : std::nullopt) {
        return *whole;
    }
    HalfHello& half = hellos.spare();
    half.id = id_;
    half.path = path_;
    half.is_of_service = of_service();
    const QuicHelloRead read =
        noted(owner_.reader_.read(bytes_, half.stream, budget_, owner_.hello_));
    half.client_dcid = read.client_dcid;
    const bool may_be_kept = !is_servers && read.outcome == QuicHelloOutcome::NotAuthentic;
    if (const auto whole = may_be_kept ? go_on_with_kept() : std::nullopt) {
        return *whole;
    }
    return conclude(read, half, false);
}

bool QuicUnits::Datagram::conclude(const QuicHelloRead& read, const HalfHello& half,
                                   bool is_kept) noexcept {
    if (contradicts(read, half)) {
        return false;
    }
    switch (read.outcome) {
        case QuicHelloOutcome::Whole:
            if (has_bytes_behind(half) || replaces_lost(half, digest_with(hello_of(half.stream)))) {
                return false;
            }
            keep(read, half, is_kept);
            judge(half);
            return true;
        case QuicHelloOutcome::NeedMore:
            return need_more(half, is_kept);
        case QuicHelloOutcome::NoInitial:
            return false;
        case QuicHelloOutcome::NoCrypto:
            // A server begins a connection with it, and takes what is not authentic here by the
            // numbers that it has seen.
            if (!is_kept && of_service()) {
                wait(half, false);
            }
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

bool QuicUnits::Datagram::need_more(const HalfHello& half, bool is_kept) noexcept {
    if (is_whole_elsewhere(half)) {
        refuse_part();
        if (packet_.service.is_enforced()) {
            return false;
        }
    }
    const auto first = first_hello_before(half);
    if (!first || is_kept || half.stream.has_before(first->size)) {
        wait(half, is_kept);
    }
    return first && read_behind(*first);
}

void QuicUnits::Datagram::judge(const HalfHello& half) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const std::uint64_t id = half.id;
    const std::uint64_t hello = digest_with(hello_of(half.stream));
    if (!first_.token.empty() && hellos.follow_retry(id, hello, path_, answers_seen())) {
        repeat(hello);
        return;
    }
    hellos.recall(id, hello, path_, answers_seen()) ? repeat(id)
                                                    : judge_new(id, hello, half.client_dcid);
}

void QuicUnits::Datagram::judge_new(std::uint64_t id, std::uint64_t hello,
                                    const ConnectionId& dcid) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    is_new_ = true;
    units_.count(UnitEvent::QuicHello);
    if (hellos.state_of(hello) == QuicHellos::State::Judged) {
        units_.count(UnitEvent::QuicHelloAnew);
    }
    units_.note_quic_dcid(dcid);
    const std::uint64_t before = hellos.forgotten();
    (void)hellos.judge(id, hello);
    units_.count(UnitEvent::QuicForgotten, static_cast<std::uint32_t>(hellos.forgotten() - before));
    units_.remember({.connection = id, .from = 0, .to = 1, .carrier = kQuicCarrier});
}

void QuicUnits::Datagram::wait(const HalfHello& half, bool is_kept) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    units_.count(UnitEvent::QuicNeedMore);
    const std::uint64_t id = half.id;
    unsigned given_up = 0;
    if (!is_kept && !hellos.keep_spare(source_of(packet_), given_up)) {
        units_.drop(Reason::NoHeadRoom);
    }
    units_.count(UnitEvent::QuicGivenUp, given_up);
    const bool is_other_given_up = !half.is_again && hellos.has_given_up(again_of(id));
    if (hellos.lacks_beginning(id) ||
        (of_service() &&
         (is_other_given_up || (hellos.kept().find_bytes(id_of(half)) == nullptr &&
                                hellos.kept().may_have_lost(id_of(half), packet_.now))))) {
        refuse_part();
    }
}

void QuicUnits::Datagram::leave() noexcept {
    QuicHellos& hellos = owner_.hellos_;
    units_.count(UnitEvent::QuicNotAuthentic);
    if (hellos.is_uncertain(path_)) {
        refuse_part();
    } else if (const auto judged = hellos.judged_on(path_)) {
        go_with(*judged);
    } else if (of_service() && (has_parts_on_path() || !owner_.may_have_missed_hello(packet_))) {
        refuse_part();
    }
}

void QuicUnits::Datagram::go_with(std::uint64_t id) noexcept {
    units_.count(UnitEvent::QuicHelloAgain);
    if (owner_.hellos_.verdict_of(id) == StickyVerdict::Undecided) {
        units_.follow({.connection = id, .from = 0, .to = 1, .carrier = kQuicCarrier});
    } else {
        units_.drop_repeat();
    }
}

void QuicUnits::Datagram::refuse(const QuicHelloRead& read, std::uint64_t id) noexcept {
    if (read.outcome == QuicHelloOutcome::Differs && of_service()) {
        // No server is to see them: the hello that came first goes on.
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

// A path with a hello that was refused, or is not decided, is left to leave(), which knows more.
std::optional<bool> QuicUnits::Datagram::go_on_with_kept() noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const bool others_matter = hellos.is_uncertain(path_) || hellos.judged_on(path_).has_value();
    std::optional<bool> whole;
    if (of_service()) {
        (void)hellos.kept().any_on(path_, [&](const KeptHello& kept) {
            whole = kept.id != id_ && (kept.is_admitted || !others_matter) ? go_on_with(kept)
                                                                           : std::nullopt;
            return whole.has_value();
        });
    }
    return whole;
}

std::optional<bool> QuicUnits::Datagram::go_on_with(const KeptHello& kept) noexcept {
    HalfHello& half = owner_.hellos_.spare();
    half.id = kept.id;
    const QuicHelloRead read = noted(
        owner_.reader_.read_on(bytes_, kept.client_dcid, half.stream, budget_, owner_.hello_));
    if (read.opened > 0 && has_servers_id()) {
        owner_.hellos_.kept().confirm(kept.id);
    }
    switch (read.outcome) {
        case QuicHelloOutcome::NotAuthentic:
        case QuicHelloOutcome::NoInitial:
            return std::nullopt;
        case QuicHelloOutcome::NeedMore:
        case QuicHelloOutcome::Whole:
            if (kept.size == 0 && may_compare_with(kept.id)) {
                id_ = kept.id;
                return compare(ConnectionId{kept.client_dcid});
            }
            return follow_behind(read, half, kept);
        case QuicHelloOutcome::NoCrypto:
            if (!contradicts(read, half)) {
                follow(kept);
            }
            return false;
        default:
            (void)conclude(read, half, true);
            return false;
    }
}

bool QuicUnits::Datagram::follow_behind(const QuicHelloRead& read, const HalfHello& half,
                                        const KeptHello& kept) noexcept {
    if (contradicts(read, half)) {
        return false;
    }
    const auto first = first_hello_before(half);
    follow(kept);
    return first && read_behind(*first);
}

void QuicUnits::Datagram::follow(const KeptHello& kept) noexcept {
    if (!kept.is_admitted && owner_.hellos_.verdict_of(kept.id) == StickyVerdict::Unjudged) {
        refuse_part();
    } else {
        repeat(kept.id);
    }
}

bool QuicUnits::Datagram::may_compare_with(std::uint64_t id) const noexcept {
    const QuicHellos& hellos = owner_.hellos_;
    return hellos.state_of(id) == QuicHellos::State::Judged && !blocks(hellos.verdict_of(id));
}

void QuicUnits::Datagram::keep(const QuicHelloRead& read, const HalfHello& half,
                               bool is_kept) noexcept {
    if (of_service()) {
        const bool in_parts = is_kept || read.opened > 1 || owner_.hellos_.has_given_up(half.id) ||
                              owner_.hellos_.has_given_up(other_key_of(half));
        const ByteView bytes = hello_of(half.stream);
        owner_.hellos_.kept().keep({.id = id_of(half),
                                    .path = path_,
                                    .client_dcid = half.client_dcid,
                                    .bytes = in_parts ? bytes : ByteView{},
                                    .size = static_cast<std::uint16_t>(bytes.size()),
                                    .asked_for = asked_server(owner_.hello_, packet_.hash)},
                                   packet_.now);
    }
}

}  // namespace sluice
