#pragma once
#include "lib/base/result.hpp"

#include <string>
#include <utility>

namespace sluice {

// `panic pass`, kept in the state directory from when it is set until it is resumed: a dataplane
// that is started anew meanwhile goes on forwarding unjudged. The file alone says so; its text is
// for people, so that a full disk is no reason to lose it.
class KeptPanic {
public:
    explicit KeptPanic(const std::string& directory);

    [[nodiscard]] bool is_set() const;
    // An Error: the next start finds the opposite.
    [[nodiscard]] Result<Done> keep(bool pass) const;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string directory_;
    std::string path_;
};

}  // namespace sluice
