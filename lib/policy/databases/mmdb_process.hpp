#pragma once
#include "lib/base/bytes.hpp"
#include "lib/policy/databases/mmdb_networks.hpp"

namespace sluice {

// read_mmdb_here() in a child process of bounded time and memory: a file that crashes libmaxminddb,
// or keeps it busy, is BadSyntax.
[[nodiscard]] Result<DatabaseNetworks> read_mmdb(std::string_view bytes, DatabaseKind kind);

// Bounds a child process: it ends when reading takes too much time, or memory, from now on.
void bound_reading();
// The child's answer. What the child may have become by reading the file is not trusted: everything
// is checked that users of the networks rely on.
[[nodiscard]] std::vector<std::byte> answer_of(const Result<DatabaseNetworks>& outcome);
[[nodiscard]] Result<DatabaseNetworks> networks_of_answer(ByteView answer, DatabaseKind kind);

}  // namespace sluice
