#pragma once
#include "lib/wire/socket.hpp"

#include <cstddef>
#include <string>

namespace sluice {

// The identity under which a program records changes of its own.
[[nodiscard]] Peer this_process();

// A change, as the audit log has it.
struct AuditEntry {
    Peer who = this_process();
    std::string source{};  // the address that it came from by TCP; empty: by none
    std::string name{};    // of the user, where there is more to say than `who`
    std::string via{};     // "web", by the dashboard; empty: by none
    std::string tenant{};  // that the user belongs to; empty: an operator
    std::string call;
    std::string before;
    std::string after;
    std::string outcome;
    bool changes = true;  // false: it only looks, such as a trace
};

// Bytes of one text in a line of the log. Callers write some of them (conditions, reasons), and a
// longer one pushes the lines of others out of the log.
inline constexpr std::size_t kMostAuditText = 1024;

// One JSON line, with the time of day. Of a text beyond kMostAuditText it has the beginning, and
// how long it was.
[[nodiscard]] std::string audit_line(const AuditEntry& entry);

[[nodiscard]] std::string audit_file_in(const std::string& directory);

// Appends a line with one write. A new file gets the owner and group of its directory, so that
// sluiced can append to a log that root created. False: nothing was recorded.
[[nodiscard]] bool append_audit(const std::string& path, const std::string& line);

}  // namespace sluice
