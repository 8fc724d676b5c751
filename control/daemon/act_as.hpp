#pragma once
#include <sys/types.h>
#include <optional>
#include <vector>

namespace sluice {

// While this lives, the thread opens files with the rights of a user and no others (setfsuid(2)):
// through sluiced a user reads no file that they could not open themselves. For root, and for the
// user that sluiced runs as, nothing changes.
class ActAs {
public:
    explicit ActAs(uid_t user);
    ~ActAs();
    ActAs(const ActAs&) = delete;
    ActAs& operator=(const ActAs&) = delete;

    // False: sluiced may not act as another user.
    [[nodiscard]] bool works() const noexcept { return works_; }

private:
    [[nodiscard]] bool become(uid_t user);

    bool works_ = true;
    std::optional<std::vector<gid_t>> groups_before_;  // there is something to take back
};

}  // namespace sluice
