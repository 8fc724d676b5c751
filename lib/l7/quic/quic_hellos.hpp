#pragma once
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/l7/quic/initial_reader.hpp"
#include "lib/l7/quic/quic_answers.hpp"
#include "lib/l7/quic/quic_budget.hpp"
#include "lib/l7/quic/quic_given_up_hellos.hpp"
#include "lib/l7/quic/quic_kept_hellos.hpp"
#include "lib/l7/quic/quic_paths.hpp"
#include "lib/l7/quic/quic_verdicts.hpp"
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/connection_lines.hpp"
#include "lib/l7/stream/source_shares.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

// Hellos over QUIC that one worker remembers: those that are not whole, and what became of those
// that were judged. A key is a keyed digest; a connection has up to four:
//
//   id      endpoints, of a service the server's alone, and the connection id of its first Initial:
//           its state and its verdict
//   hello   endpoints and the hello's bytes: the same verdict, for the Initial after a Retry, which
//           has the same hello under another id
//   again   an id of a judged hello, for what comes under it afterwards in parts: the same hello,
//   or
//           another one
//   path    endpoints alone, of a hello that came in parts: its server knows the first of them, and
//           the client turns to the id that this server chose
//
// A path's line stays for an idle time-out once its hello was given up or refused: no flood makes
// a worker forget what a server may still wait for. Such lines take half of the table at most.
// Beyond that each part of a new hello waits until all are there, so that its server knows none.
namespace sluice {

// A hello that is not whole, and whose keys its Initials have.
struct HalfHello {
    ConnectionId client_dcid;
    CryptoStream stream;
    std::uint64_t id = 0;
    std::uint64_t path = 0;
    // True if the hello began under an id whose hello was judged and forwarded: it may be a part of
    // that one, so its path says nothing of it.
    bool is_again = false;
    bool is_of_service = false;
};

// The answers that count: of services with both directions those of their servers, one way a
// client's own close alone, and of no service none, whoever else's servers are heard.
enum class AnswersSeen : std::uint8_t { None, Closes, All };

class QuicHellos {
public:
    // Bounds of uncharged repeats where no answer is seen: no longer than servers wait for a
    // handshake (ngtcp2: 10 s), and as often as clients that lost their server's first packets send
    // a hello again, one in two datagrams twice.
    static constexpr Nanoseconds kRepeatedFor = std::chrono::seconds{10};
    static constexpr unsigned kRepeats = 4;

    // Aborts if there is no memory. Nothing is allocated later.
    explicit QuicHellos(const QuicBudget& budget);
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(const QuicBudget& budget) noexcept;
    QuicHellos(const QuicHellos&) = delete;
    QuicHellos& operator=(const QuicHellos&) = delete;

    // A datagram comes, whose hasher stays until the next. Forgets what has timed out, a few lines;
    // `now` never decreases. How many half hellos were given up.
    unsigned expire(Instant now, const KeyHasher& hash) noexcept;

    enum class State : std::uint8_t { Unknown, Half, Judged, GivenUp };
    [[nodiscard]] State state_of(std::uint64_t id) const noexcept;
    // The half hello of an id that is Half.
    [[nodiscard]] HalfHello& half_of(std::uint64_t id) noexcept;
    // The half hello that began last on this path; nullptr: none.
    [[nodiscard]] HalfHello* half_on(std::uint64_t path) noexcept;
    // Hellos of this path were given up, or several are half at once: Initials under an id that the
    // server chose may go on with one of these.
    [[nodiscard]] bool is_uncertain(std::uint64_t path) const noexcept {
        return paths_.is_uncertain(path);
    }
    // The id of the hello in parts that was judged on this path and not forwarded, or not yet:
    // Initials under an id that the server chose go on with it.
    [[nodiscard]] std::optional<std::uint64_t> judged_on(std::uint64_t path) const noexcept {
        return paths_.judged_on(path);
    }

    // Whole hellos, each with the id that it came under.
    [[nodiscard]] QuicKeptHellos& kept() noexcept { return kept_; }

    // Parts of a half hello of this key have passed, and it was given up: others must not pass
    // before it is whole.
    [[nodiscard]] bool has_given_up(std::uint64_t key) noexcept {
        return given_up_.has(key) || has_lost_given_up(key);
    }
    // Not all is known any more of what passed of it.
    [[nodiscard]] bool has_lost_given_up(std::uint64_t key) noexcept {
        return kept_.may_have_lost(~key, now_);
    }
    // The bytes have what is known to have passed.
    [[nodiscard]] bool agrees_with_given_up(std::uint64_t key, ByteView bytes) const noexcept {
        return given_up_.agrees(key, bytes, *hash_);
    }

    // An empty place to read a hello that may turn out to be half.
    [[nodiscard]] HalfHello& spare() noexcept;
    // The spare one, which is half, is kept. False: there is no room. `given_up` counts those that
    // had to go for it.
    [[nodiscard]] bool keep_spare(std::uint64_t source, unsigned& given_up) noexcept;
    // The hello is whole, and no verdict of its own will come.
    void forget_half(std::uint64_t id) noexcept;
    // Gives up the hello: it cannot become whole.
    void give_up(std::uint64_t id) noexcept;
    // True of a hello whose server may know parts that are not known here, or that may not reach
    // the server before all of it is here: it must not pass before it is whole.
    [[nodiscard]] bool lacks_beginning(std::uint64_t id) const noexcept;

    // A server's packet on this path. `now` never decreases.
    void note_answer(std::uint64_t path, Instant now) noexcept;
    void note_retry(std::uint64_t path, Instant now) noexcept;
    // The id that the server chose on its path, as one of an Initial under it.
    void note_servers_id(std::uint64_t id) noexcept { answers_.note_id(id); }
    [[nodiscard]] bool is_servers_id(std::uint64_t id) const noexcept {
        return answers_.has_id(id);
    }
    // Packets may have passed that nobody was shown, and answers among them.
    void note_gap() noexcept { ++gaps_; }
    // A judged hello of this path, by its id or its own key, that its server may have forgotten:
    // sent again, it may be a new connection.
    [[nodiscard]] bool may_be_forgotten(std::uint64_t key, std::uint64_t path,
                                        AnswersSeen seen) const noexcept;
    // An Initial with bytes of the hello came again under the id of a judged one.
    void note_repeat(std::uint64_t id) noexcept;
    // A new connection begins under this id. It goes on with what came under it behind a
    // judged hello (`again`), which its server may know. False: there was no room to keep that.
    bool begin_anew(std::uint64_t id, std::uint64_t again, std::uint64_t path, std::uint64_t source,
                    unsigned& given_up) noexcept;

    // The hello that was judged last under this id.
    [[nodiscard]] bool is_hello_of(std::uint64_t id, std::uint64_t hello) const noexcept;
    // A hello is whole, and its verdict will come by settle(). False: no line is free.
    bool judge(std::uint64_t id, std::uint64_t hello) noexcept;
    // The hello was judged under another id, and this is the first one after it: its verdict holds
    // for this id too. Where servers are heard, a Retry has come meanwhile and no answer, and the
    // other id is forgotten.
    [[nodiscard]] bool follow_retry(std::uint64_t id, std::uint64_t hello, std::uint64_t path,
                                    AnswersSeen seen) noexcept;
    // The hello was judged under this id and forwarded, its lines had to make room, and its server
    // has not answered since: it has its verdict again. Where all answers are heard alone.
    [[nodiscard]] bool recall(std::uint64_t id, std::uint64_t hello, std::uint64_t path,
                              AnswersSeen seen) noexcept;
    // The hello was judged under this id, whatever came since.
    [[nodiscard]] bool was_judged(std::uint64_t id, std::uint64_t hello) const noexcept {
        return verdicts_.find(id, hello) != nullptr;
    }
    void settle(std::uint64_t id, bool forwarded) noexcept;
    [[nodiscard]] StickyVerdict verdict_of(std::uint64_t id) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] std::size_t half_hellos() const noexcept { return shares_.size(); }
    // Judged connections that had to go for newer ones.
    [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }

private:
    void forget_judged(std::uint64_t id) noexcept;
    void note_verdict(ConnectionIndex index) noexcept;
    [[nodiscard]] HalfHello& slot(PoolLine line) noexcept { return slots_[line - 1]; }
    [[nodiscard]] ConnectionIndex line_for(std::uint64_t key) noexcept;
    [[nodiscard]] ConnectionIndex add_line(std::uint64_t key) noexcept;
    void remove(ConnectionIndex index) noexcept;
    void touch(ConnectionIndex index) noexcept;
    void end_half(ConnectionIndex index, bool is_whole) noexcept;
    void keep_given_up(ConnectionIndex index) noexcept;
    [[nodiscard]] bool join_path(const HalfHello& half) noexcept;
    [[nodiscard]] bool expire_one(unsigned& given_up) noexcept;
    [[nodiscard]] std::uint32_t age_of(ConnectionIndex index) const noexcept {
        return ticks_ - lines_[index].touched;
    }

    QuicBudget budget_;
    std::uint32_t half_ticks_;
    std::uint32_t idle_ticks_;
    std::uint32_t ticks_ = 0;
    ConnectionLines lines_;
    QuicPaths paths_;
    QuicAnswers answers_;
    QuicKeptHellos kept_;
    QuicGivenUpHellos given_up_;
    QuicVerdicts verdicts_;
    LinePool pool_;  // a line for each half hello, whose number is its slot's, and the spare one's
    std::vector<SourceMember> members_;
    SourceShares shares_;  // of the half hellos
    AgeList half_;         // by when their hello began
    AgeList idle_;         // by when they were touched last
    std::unique_ptr<std::byte[]> rooms_;
    std::vector<HalfHello> slots_;
    PoolLine spare_;
    std::uint64_t forgotten_ = 0;
    std::uint16_t gaps_ = 0;
    Instant now_{};
    const KeyHasher* hash_ = nullptr;  // of the datagram at hand
};

}  // namespace sluice
