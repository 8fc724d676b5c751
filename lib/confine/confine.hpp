#pragma once
#include "lib/base/result.hpp"

#include <span>
#include <string>

namespace sluice {

// Rights given up for good: a process never gets them back, and neither does what it starts.

// For a process of one thread that root has started: from here on it is that user, with the user's
// groups and no capability. Nothing happens when it runs as that user already.
[[nodiscard]] Result<Done> become_user(const std::string& user);

// For all threads: of the capabilities that the process has, only those numbers (CAP_…) are left,
// and no program that it starts has any. Threads that block this library's signal are an Error.
[[nodiscard]] Result<Done> keep_capabilities(std::span<const unsigned> capabilities);

// For all threads: no new privileges, and a list of system calls that neither daemon has a use for
// and an intruder has (loading code into the kernel, other processes' memory, mounts, namespaces,
// clocks, keys, reboot). They fail with EPERM. `Programs::No`: nor does it start any program.
enum class Programs : bool { No, Yes };
[[nodiscard]] Result<Done> refuse_system_calls(Programs programs);

// For all threads: no socket of a network can be opened from here on, those that are open stay.
[[nodiscard]] Result<Done> refuse_networks();

}  // namespace sluice
