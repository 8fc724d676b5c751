#pragma once
#include "control/named_token.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

namespace sluice {

// The named tokens as their file has them now: it is looked at with every question, and read anew
// when it has changed. A bad line holds no token; of a file that others may read or write, none
// does.
class TokenKeeper {
public:
    // An empty path: there are none.
    explicit TokenKeeper(std::string path) : path_{std::move(path)} {}

    // nullopt: the file has none of that digest, or its time is over.
    [[nodiscard]] std::optional<NamedToken> find(const Sha256Digest& digest, std::int64_t utc);

    // For people; empty: all is well.
    [[nodiscard]] std::string problem();
    [[nodiscard]] std::size_t count(std::int64_t utc);

private:
    void look();
    void read();

    std::string path_;
    std::mutex mutex_;
    bool is_read_ = false;
    struct stat seen_{};  // of the file that was read; all zeroes: there was none
    TokenFile file_;
    std::string problem_;
};

}  // namespace sluice
