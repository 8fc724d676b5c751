#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/conn/connection.hpp"
#include "lib/conn/seen_segments.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Judged bytes that are sent again in other cuts than they came in, as TCP does once its path has
// become narrower. A part of a segment cannot be compared with the digest of all of it: the parts
// are forwarded and kept, in order, and the one that would make the segment whole is forwarded only
// if it is the same then. So nobody's server ever has a whole head that is not the one judged.
//
//   judged   |------- one segment, one digest -------|
//   repeats  |-- a part --|-- a part --|-- the last --|   whole: the digest must be the same
//
// While a segment is open, everything else that repeats it must agree with its parts; once it is
// whole, what contradicts the bytes that are kept of it differs. For a few
// connections of a worker at once; the longest unused of them goes, and its owner lets no repeat of
// that connection pass any more if it was open.
class PartRepeats {
public:
    static constexpr std::size_t kRuns = 16;
    static constexpr std::size_t kRunBytes = std::size_t{32} << 10;

    // Aborts if there is no memory. Nothing is allocated later.
    PartRepeats() : memory_{memory_size()} {}
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of() noexcept {
        return LineMemory::taken_for(memory_size());
    }

    enum class Part : std::uint8_t {
        Whole,    // it may pass, and nothing is open
        Open,     // it may pass, and a segment is open
        Differs,  // what was there stays
    };
    struct Bytes {
        std::uint32_t from = 0;
        ByteView bytes;
    };
    // What repeats judged bytes of a connection; where `seen` alone says that they are the same,
    // and none is open, there is no need to ask. Of one that `was_open` and is known no more, all
    // differs. `evicted`: another one that was open had to go for it.
    struct Answer {
        Part part = Part::Differs;
        bool evicted = false;
    };
    [[nodiscard]] Answer take(ConnectionIndex connection, bool was_open, const Bytes& repeat,
                              const SeenSegments& seen, const KeyHasher& hash) noexcept;
    // Its line is another's from now on.
    void forget(ConnectionIndex connection) noexcept;

private:
    struct Run {
        ConnectionIndex connection = kNoConnection;
        std::uint32_t from = 0;     // of the first byte kept
        std::uint32_t size = 0;     // of those kept
        std::uint32_t checked = 0;  // of them, so many are known to be what came before
        std::uint64_t used = 0;

        [[nodiscard]] bool is_open() const noexcept { return checked != size; }
    };

    [[nodiscard]] static constexpr std::size_t memory_size() noexcept { return kRuns * kRunBytes; }
    [[nodiscard]] MutableBytes room_of(const Run& run) noexcept {
        return MutableBytes{static_cast<std::byte*>(memory_.data()), memory_size()}.subspan(
            static_cast<std::size_t>(&run - runs_.data()) * kRunBytes, kRunBytes);
    }
    [[nodiscard]] Run* find(ConnectionIndex connection) noexcept;
    [[nodiscard]] Run& longest_unused() noexcept;
    [[nodiscard]] bool contradicts(const Run& run, const Bytes& repeat) noexcept;
    [[nodiscard]] bool agrees(const Run& run, const Bytes& repeat) noexcept;
    [[nodiscard]] bool make_room(Run& run, std::size_t size) noexcept;
    [[nodiscard]] Part go_on(Run& run, const Bytes& repeat, const SeenSegments& seen,
                             const KeyHasher& hash) noexcept;

    LineMemory memory_;
    std::array<Run, kRuns> runs_;
    std::uint64_t uses_ = 0;
};

}  // namespace sluice
