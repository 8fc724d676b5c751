#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"

#include <string>
#include <utility>

namespace sluice {

// The state directory as one process has it: two sluiced that write the same journal and the same
// rules lose each other's changes. Held until the process ends, however it does.
class StateLock {
public:
    static constexpr const char* kFile = "sluiced.lock";

    // Makes the directory where it is not there. An error names it and the process that has it. A
    // directory that this user cannot write is held by nobody, and the lock is none: nothing is
    // kept there.
    [[nodiscard]] static Result<StateLock> take(const std::string& state_dir);

    [[nodiscard]] bool is_held() const noexcept { return file_.is_open(); }

private:
    explicit StateLock(Fd file) : file_{std::move(file)} {}

    Fd file_;
};

}  // namespace sluice
