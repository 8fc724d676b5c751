#pragma once
#include "lib/wire/socket.hpp"

#include <string>

namespace sluice {

// The identity under which a program records changes of its own.
[[nodiscard]] Peer this_process();

// A change, as the audit log has it.
struct AuditEntry {
    Peer who = this_process();
    std::string call;
    std::string before;
    std::string after;
    std::string outcome;
};

// One JSON line, with the time of day.
[[nodiscard]] std::string audit_line(const AuditEntry& entry);

[[nodiscard]] std::string audit_file_in(const std::string& directory);

// Appends a line as a whole. A file that is made belongs to whoever has the directory, so that
// sluiced goes on in what root began. False: it is not recorded there.
[[nodiscard]] bool append_audit(const std::string& path, const std::string& line);

}  // namespace sluice
