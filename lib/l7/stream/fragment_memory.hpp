#pragma once
#include "lib/l7/stream/fragment_follower.hpp"
#include "lib/l7/stream/fragment_table.hpp"
#include "lib/l7/stream/unit_options.hpp"

#include <optional>

namespace sluice {

// Verdicts on the first fragments of datagrams, for their later ones. A later fragment of a refused
// datagram is dropped, and so is what overlaps; every other one is judged by its own headers, so
// that nobody buys a datagram for the price of its first fragment.
class FragmentMemory {
public:
    FragmentMemory(const FragmentBudget& budget, FragmentPolicy policy)
        : table_{budget}, policy_{policy} {}
    FragmentMemory(const FragmentMemory&) = delete;
    FragmentMemory& operator=(const FragmentMemory&) = delete;

    // The follower points to this memory.
    [[nodiscard]] FragmentFollower follower() noexcept;

private:
    static void remember(void* memory, const FragmentSource& first, bool forwarded) noexcept;
    [[nodiscard]] static std::optional<Reason> refuse(void* memory,
                                                      const FragmentSource& later) noexcept;

    FragmentTable table_;
    FragmentPolicy policy_;
};

}  // namespace sluice
