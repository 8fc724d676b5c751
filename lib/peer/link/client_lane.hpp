#pragma once
#include "lib/base/bytes.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

// A lane between a worker and a process that is no part of the box (a service that asks before it
// sends): questions there, answers back, in memory that both may write all of at any time. The
// worker's end trusts none of it: it counts by itself what it has taken and given, masks every
// place, copies a question once and looks at the copy alone. Whatever the other end writes there
// costs the worker no more than the questions that it takes in a turn.
namespace sluice {

inline constexpr std::size_t kClientKeyBytes = 320;  // as long as a key can be
inline constexpr std::size_t kClientRing = 64;       // questions, and answers, of a lane

// A question as a client writes it: anything at all.
struct alignas(64) ClientQuestion {
    std::uint64_t ticket = 0;    // the client's own, which the answer has too
    std::uint64_t load = 0;      // of the rule set that `slot` is meant in
    std::uint64_t cost = 0;      // units
    std::uint16_t slot = 0;      // of the limit
    std::uint16_t key_size = 0;  // bytes
    std::array<std::byte, 36> unused{};
    std::array<std::byte, kClientKeyBytes> key_bytes{};  // canonical
    std::array<std::byte, 128> unused_too{};

    // nullopt: no key is so long.
    [[nodiscard]] std::optional<ByteView> key() const noexcept {
        return key_size > kClientKeyBytes ? std::nullopt
                                          : std::optional{ByteView{key_bytes}.first(key_size)};
    }
};
static_assert(sizeof(ClientQuestion) == 512 && std::is_trivially_copyable_v<ClientQuestion>);

struct alignas(64) ClientAnswer {
    enum class What : std::uint8_t {
        Admitted,   // and charged
        Refused,    // `wait` says for how long
        NoPlace,    // the key found no place for its bucket, and nothing was charged
        Unknown,    // the rules have no such limit, or are others than those that are meant
        Busy,       // nobody could be asked just now
        Malformed,  // no question that anybody could answer
    };
    std::uint64_t ticket = 0;
    std::int64_t wait = 0;  // ns
    What what = What::Malformed;
    std::array<std::byte, 47> unused{};
};
static_assert(sizeof(ClientAnswer) == 64 && std::is_trivially_copyable_v<ClientAnswer>);

// A record's memory, word by word, as one end may write what the other reads.
template <typename Record>
using SharedWords = std::array<std::uint64_t, sizeof(Record) / sizeof(std::uint64_t)>;

// All that both ends share, zeroed at first.
struct ClientLaneMemory {
    alignas(64) std::uint64_t asked = 0;     // by the client, ever
    alignas(64) std::uint64_t answered = 0;  // by the worker, ever
    alignas(64) std::array<SharedWords<ClientQuestion>, kClientRing> questions{};
    std::array<SharedWords<ClientAnswer>, kClientRing> answers{};
};
static_assert(std::is_trivially_copyable_v<ClientLaneMemory>);

// Copies words that the other end may be writing, each once.
inline void read_words(std::span<const std::uint64_t> from, std::span<std::uint64_t> to) noexcept {
    for (std::size_t i = 0; i < from.size(); ++i) {
        to[i] = load_word(from[i]);
    }
}
template <typename Record>
void write_words(const Record& from, SharedWords<Record>& to) noexcept {
    const auto words = std::bit_cast<SharedWords<Record>>(from);
    for (std::size_t i = 0; i < words.size(); ++i) {
        store_word(to[i], words[i]);
    }
}

// The worker's end.
class ClientLane {
public:
    // Over memory that nobody has used yet, and that outlives it.
    explicit ClientLane(ClientLaneMemory& memory) noexcept : memory_{memory} {}

    // Hands over copies of the next questions, `most` at most; how many. Each is to be answered.
    template <typename Take>
    std::size_t poll(std::size_t most, Take&& take) noexcept {
        const std::uint64_t waiting = load_word(memory_.asked) - taken_;
        if (waiting > kClientRing) [[unlikely]] {
            // No client that keeps to the ring says so. What it may have asked is lost.
            taken_ += waiting;
            ++broken_;
            return 0;
        }
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(waiting, most));
        for (std::size_t i = 0; i < count; ++i) {
            const ClientQuestion question = copy_of(memory_.questions[taken_++ % kClientRing]);
            take(question);
        }
        return count;
    }
    // A client that does not take its answers loses the oldest.
    void answer(const ClientAnswer& answer) noexcept {
        write_words(answer, memory_.answers[given_++ % kClientRing]);
        store_word(memory_.answered, given_);
    }

    // How often the other end has said what it cannot have done.
    [[nodiscard]] std::uint64_t broken() const noexcept { return broken_; }
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

private:
    static_assert((kClientRing & (kClientRing - 1)) == 0, "a power of two");

    // The head first: by the copy of it, as much of the key as there is.
    [[nodiscard]] static ClientQuestion copy_of(const SharedWords<ClientQuestion>& from) noexcept {
        constexpr std::size_t kHead = offsetof(ClientQuestion, key_bytes) / sizeof(std::uint64_t);
        SharedWords<ClientQuestion> words{};
        const std::span to{words};
        const std::span all{from};
        read_words(all.first(kHead), to);
        const std::size_t size = std::bit_cast<ClientQuestion>(words).key_size;
        const std::size_t key = size > kClientKeyBytes ? 0 : (size + 7) / sizeof(std::uint64_t);
        read_words(all.subspan(kHead, key), to.subspan(kHead));
        return std::bit_cast<ClientQuestion>(words);
    }

    ClientLaneMemory& memory_;
    std::uint64_t taken_ = 0;
    std::uint64_t given_ = 0;
    std::uint64_t broken_ = 0;
};

// The other end, as a client that keeps to the rules has it.
class ClientLaneEnd {
public:
    explicit ClientLaneEnd(ClientLaneMemory& memory) noexcept : memory_{memory} {}

    // False: as many questions are open as the ring holds.
    [[nodiscard]] bool ask(const ClientQuestion& question) noexcept {
        if (asked_ - taken_ >= kClientRing) {
            return false;
        }
        write_words(question, memory_.questions[asked_++ % kClientRing]);
        store_word(memory_.asked, asked_);
        return true;
    }
    [[nodiscard]] std::optional<ClientAnswer> take() noexcept {
        if (load_word(memory_.answered) == taken_) {
            return std::nullopt;
        }
        SharedWords<ClientAnswer> words;
        read_words(memory_.answers[taken_++ % kClientRing], words);
        return std::bit_cast<ClientAnswer>(words);
    }

private:
    ClientLaneMemory& memory_;
    std::uint64_t asked_ = 0;
    std::uint64_t taken_ = 0;
};

}  // namespace sluice
