#pragma once
#include "lib/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
    Other     // a dispatcher of libxdp that carries programs of others, too, among them
};
[[nodiscard]] ProgramOwner owner_of(const KernelProgram& program);
// Sockets or Other, by the name of a program and those of what it dispatches to.
[[nodiscard]] ProgramOwner owner_by_name(std::string_view name,
                                         const std::vector<std::string>& dispatched);
// Names of the programs that libxdp's dispatcher runs one after the other, as they are known to the
// kernel. None: it is no dispatcher.
[[nodiscard]] std::vector<std::string> dispatched_by(const KernelProgram& program);

// Takes a program of sluice off the interface, with its pair: their links end and their pins go,
// in whatever mount of the file system for programs they lie. A dataplane before left it there,
// with another configuration. Only what is pinned under `keep` stays. Programs of others stay too.
// An Error: it is still there, and forwards by itself.
[[nodiscard]] Result<Done> remove_left_behind(const std::string& interface,
                                              const std::string& keep);

}  // namespace sluice
