#pragma once
#include "control/audit_line.hpp"
#include "control/daemon/pace.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace sluice {

// Records of who changed what, when, from what to what, and how it ended: one JSON line each in the
// state directory. A full file becomes audit.log.1, the one before it goes.
class Audit {
public:
    static constexpr std::size_t kFull = 16U << 20;
    // Refused calls of one name that are written: so few that nobody pushes changes out of it.
    static constexpr unsigned kRefusedAtOnce = 32;
    static constexpr std::chrono::seconds kRefusedEvery{30};
    static constexpr std::size_t kMostNames = 1024;  // further ones are one

    explicit Audit(const std::string& directory, std::size_t full = kFull)
        : path_{audit_file_in(directory)}, full_{full} {}

    using Entry = AuditEntry;
    void write(const Entry& entry);

private:
    struct Refused {
        Pace pace{kRefusedAtOnce, kRefusedEvery};
        std::uint64_t unwritten = 0;
    };
    // How many refusals of that name were not written since the last one that was; nullopt: this is
    // another one of them.
    [[nodiscard]] std::optional<std::uint64_t> take_refusal(const std::string& name);
    void make_room() const;

    std::mutex mutex_;
    std::map<std::string, Refused> refused_;  // by name
    std::string path_;
    std::size_t full_;
};

}  // namespace sluice
