#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sluice {

// The programs in the kernel at pairs of af_xdp ports: they give frames to the box while it beats,
// and forward or drop them by themselves while it does not. They stay when the process ends.
class KernelBridge {
public:
    // Before the ports start, whose sockets join the programs. Nothing where the box has no
    // `kernel`.
    [[nodiscard]] static Result<std::unique_ptr<KernelBridge>> attach(const BoxConfig& box);
    ~KernelBridge();
    KernelBridge(const KernelBridge&) = delete;
    KernelBridge& operator=(const KernelBridge&) = delete;

    // All workers are known to have run at that instant of CLOCK_MONOTONIC, in ns.
    void beat(std::uint64_t at) noexcept;
    // From now on the kernel decides about frames.
    void end() noexcept;
    // Attaches anew to interfaces that were deleted and are there again, and tells what was
    // bridged while no box was there.
    void watch();
    // Of a port; nothing where its pair has no program.
    [[nodiscard]] KernelPortStats stats(std::string_view pair, std::string_view side) const;

private:
    struct Pair;
    KernelBridge();
    [[nodiscard]] Result<Done> attach_pair(const BoxConfig& box, const PairConfig& config);

    std::vector<std::unique_ptr<Pair>> pairs_;
};

}  // namespace sluice
