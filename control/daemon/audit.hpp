#pragma once
#include "control/audit_line.hpp"

#include <cstddef>
#include <mutex>
#include <string>

namespace sluice {

// Records of who changed what, when, from what to what, and how it ended: one JSON line each in the
// state directory. A full file becomes audit.log.1, the one before it goes.
class Audit {
public:
    static constexpr std::size_t kFull = 16U << 20;

    explicit Audit(const std::string& directory, std::size_t full = kFull)
        : path_{audit_file_in(directory)}, full_{full} {}

    using Entry = AuditEntry;
    void write(const Entry& entry);

private:
    void make_room() const;

    std::mutex mutex_;
    std::string path_;
    std::size_t full_;
};

}  // namespace sluice
