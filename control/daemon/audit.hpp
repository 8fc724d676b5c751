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
    // Calls of one name that change nothing and are written, refused ones and others apart: so few
    // that nobody pushes changes out of it.
    static constexpr unsigned kUnchangedAtOnce = 32;
    static constexpr std::chrono::seconds kUnchangedEvery{30};
    static constexpr std::size_t kMostNames = 1024;  // further ones are one

    explicit Audit(const std::string& directory, std::size_t full = kFull)
        : path_{audit_file_in(directory)}, full_{full} {}

    using Entry = AuditEntry;
    void write(const Entry& entry);

private:
    struct Unchanged {
        Pace pace{kUnchangedAtOnce, kUnchangedEvery};
        std::uint64_t unwritten = 0;
    };
    using Unchangeds = std::map<std::string, Unchanged>;  // by name
    // How many calls of that name were not written since the last one that was; nullopt: the call
    // that asks is another one of them.
    [[nodiscard]] static std::optional<std::uint64_t> take_unchanged(Unchangeds& of,
                                                                     const std::string& name);
    void make_room() const;

    std::mutex mutex_;
    Unchangeds refused_;
    Unchangeds looks_;
    std::string path_;
    std::size_t full_;
};

}  // namespace sluice
