#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// How much memory a process may still take. Programs without exceptions end where an allocation
// fails, so whatever may be large is compared with this before it is begun.
namespace sluice {

// Kept for what goes on besides: replies, logs, statistics.
inline constexpr std::uint64_t kMemoryKeptBack = std::uint64_t{16} << 20;

// The least of what its own limits (RLIMIT_AS, RLIMIT_DATA), its control groups and the machine
// leave, less what is kept back. What cannot be read limits nothing.
[[nodiscard]] std::uint64_t available_memory();

// Parts of available_memory(), of the texts that the kernel writes.

// "MemAvailable: 12 kB" of /proc/meminfo; "inactive_file 4096" of a group's memory.stat.
[[nodiscard]] std::optional<std::uint64_t> number_behind(std::string_view text,
                                                         std::string_view name);
// The room that a machine which promises no more than it has (vm.overcommit_memory 2) leaves too.
[[nodiscard]] std::uint64_t room_of_machine(std::string_view meminfo, bool strict);
// The room that the group of a process and those above it leave: `groups` as /proc/self/cgroup has
// them, `root` where they are mounted. Both versions of control groups.
[[nodiscard]] std::uint64_t room_in_groups(std::string_view groups, const std::string& root);

}  // namespace sluice
