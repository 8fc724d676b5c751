#pragma once
#include "lib/base/result.hpp"

#include <cstdint>
#include <string>

namespace sluice {

// The program at an interface, whoever has put it there. `id` 0: there is none.
struct KernelProgram {
    std::uint32_t id = 0;
    bool native = false;
};
[[nodiscard]] KernelProgram program_at(unsigned index);

enum class ProgramOwner : std::uint8_t {
    Nobody,   // there is none
    Sluice,   // this dataplane or one before it
    Sockets,  // of AF_XDP: libxdp puts it there for them, and takes it up again where it finds it
    Other
};
[[nodiscard]] ProgramOwner owner_of(const KernelProgram& program);

// Takes a program of sluice off the interface, with its pair: their links end and their pins go,
// in whatever mount of the file system for programs they lie. A dataplane before left it there,
// with another configuration. Only what is pinned under `keep` stays. Programs of others stay too.
// An Error: it is still there, and forwards by itself.
[[nodiscard]] Result<Done> remove_left_behind(const std::string& interface,
                                              const std::string& keep);

}  // namespace sluice
