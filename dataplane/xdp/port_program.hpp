#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/rules/management.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

struct bpf_link;

namespace sluice {

// The place at which the program of one port is attached.
struct PortPlace {
    std::string interface;
    std::string peer;      // where it forwards while no box beats
    std::size_t side = 0;  // 0: outside, 1: inside
    std::string folder;    // of the pair's pins
    KernelMode mode = KernelMode::Auto;
    int pair_map = -1;
    int early_networks = -1;  // -1: nothing is dropped early
    int early_counts = -1;
    std::optional<ManagementOptions> management{};  // nullopt: nothing is the kernel's own
};

// The program of one port, on its interface by a pinned link: it stays there when this ends.
class PortProgram {
public:
    // Takes the place of the program that a box before left there, at one instant.
    [[nodiscard]] static Result<PortProgram> attach(const PortPlace& place);
    ~PortProgram();
    PortProgram(PortProgram&& other) noexcept;
    PortProgram& operator=(PortProgram&& other) noexcept;
    PortProgram(const PortProgram&) = delete;
    PortProgram& operator=(const PortProgram&) = delete;

    // The indices of the interfaces that it was attached between; one that was deleted has another
    // when it returns.
    [[nodiscard]] unsigned index() const noexcept { return index_; }
    [[nodiscard]] unsigned peer_index() const noexcept { return peer_index_; }
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] bool is_native() const noexcept { return native_; }

private:
    PortProgram() = default;

    bpf_link* link_ = nullptr;
    unsigned index_ = 0;
    unsigned peer_index_ = 0;
    std::uint32_t id_ = 0;
    bool native_ = false;
};

}  // namespace sluice
