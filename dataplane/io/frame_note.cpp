#include "dataplane/io/frame_note.hpp"

#include "lib/base/log.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

namespace sluice {
namespace {

// An mbuf has 36 bytes for all who need some, and a frame at most 64 KiB.
struct Note {
    struct Line {
        std::uint16_t begin;
        std::uint16_t end;
    };
    std::uint8_t clears_urgent;
    std::uint8_t clears_options;
    std::uint8_t is_probe;
    std::uint8_t raises_to;
    std::uint8_t lines;
    std::array<Line, Normalization::kMostLines> line;
};
static_assert(sizeof(Note) == 22);
// A further change of Normalization has to be noted here.
static_assert(sizeof(Normalization) == 8 + Normalization::kMostLines * sizeof(PayloadRange));

// In an mbuf's first line of memory, which says whether there is a note in its second one.
constexpr std::uint32_t kUnchanged = 0;
constexpr std::uint32_t kChanged = 1;

int note_at = -1;

}  // namespace

void register_frame_notes() noexcept {
    const rte_mbuf_dynfield field{
        .name = "sluice_changes", .size = sizeof(Note), .align = alignof(Note), .flags = 0};
    note_at = rte_mbuf_dynfield_register(&field);
    if (note_at < 0) {
        log_error("mbufs have no room for a note of 22 bytes");
        std::abort();
    }
}

void note_changes(rte_mbuf& frame, const Normalization& changes) noexcept {
    frame.hash.usr = changes.any() ? kChanged : kUnchanged;
    if (!changes.any()) [[likely]] {
        return;
    }
    Note& note = *RTE_MBUF_DYNFIELD(&frame, note_at, Note*);
    note = {.clears_urgent = changes.clears_urgent,
            .clears_options = changes.clears_options,
            .is_probe = changes.is_probe,
            .raises_to = changes.raises_to,
            .lines = static_cast<std::uint8_t>(changes.voided().size()),
            .line = {}};
    for (std::size_t i = 0; i < note.lines; ++i) {
        const PayloadRange& line = changes.voided()[i];
        note.line[i] = {static_cast<std::uint16_t>(line.begin),
                        static_cast<std::uint16_t>(line.end)};
    }
}

Normalization noted_changes(const rte_mbuf& frame) noexcept {
    Normalization changes;
    if (frame.hash.usr == kUnchanged) [[likely]] {
        return changes;
    }
    const Note& note = *RTE_MBUF_DYNFIELD(&frame, note_at, const Note*);
    changes.clears_urgent = note.clears_urgent != 0;
    changes.clears_options = note.clears_options != 0;
    changes.is_probe = note.is_probe != 0;
    changes.raises_to = note.raises_to;
    for (std::size_t i = 0; i < note.lines; ++i) {
        changes.void_line({note.line[i].begin, note.line[i].end});
    }
    return changes;
}

}  // namespace sluice
