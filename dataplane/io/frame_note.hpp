#pragma once
#include "lib/l7/stream/normalization.hpp"

struct rte_mbuf;

namespace sluice {

// The changes that are made to a frame once it is forwarded, written into its mbuf for the worker
// that it is handed to.

// Before any worker runs; more than once it does nothing. Ends the program where mbufs have no
// place for a note.
void register_frame_notes() noexcept;
void note_changes(rte_mbuf& frame, const Normalization& changes) noexcept;
// The frame has been given to note_changes(), and nobody has written to it since.
[[nodiscard]] Normalization noted_changes(const rte_mbuf& frame) noexcept;

}  // namespace sluice
