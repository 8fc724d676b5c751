#pragma once
#include "lib/wire/socket.hpp"

#include <cstddef>
#include <mutex>
#include <string>

namespace sluice {

// The identity under which sluiced records changes of its own.
[[nodiscard]] Peer this_process();

// Who changed what, when, from what to what, and how it ended: one JSON line each in the state
// directory. A full file becomes audit.log.1, the one before it goes.
class Audit {
public:
    static constexpr std::size_t kFull = 16U << 20;

    explicit Audit(const std::string& directory, std::size_t full = kFull)
        : path_{directory + "/audit.log"}, full_{full} {}

    struct Entry {
        Peer who = this_process();
        std::string call;
        std::string before;
        std::string after;
        std::string outcome;
    };
    void write(const Entry& entry);

private:
    [[nodiscard]] bool append(const std::string& line) const;

    std::mutex mutex_;
    std::string path_;
    std::size_t full_;
};

}  // namespace sluice
