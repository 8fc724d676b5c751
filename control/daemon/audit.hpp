#pragma once
#include "lib/wire/socket.hpp"

#include <mutex>
#include <string>

namespace sluice {

// Who changed what, when, from what to what: one JSON line each in the state directory.
class Audit {
public:
    explicit Audit(const std::string& directory) : path_{directory + "/audit.log"} {}

    struct Entry {
        Peer who;
        std::string call;
        std::string before;
        std::string after;
        std::string outcome;
    };
    void write(const Entry& entry);

private:
    std::mutex mutex_;
    std::string path_;
};

}  // namespace sluice
