#pragma once
#include <mutex>

namespace sluice {

// The lock of the rules in force, around a compile that is tried until nothing else has changed
// meanwhile what it was made of. The first tries leave the lock, so that a ban need not wait for a
// large set. Bans that come again and again would outrun each of them; so the tries after these
// keep it, and others wait for one compile.
class CompileTries {
public:
    static constexpr unsigned kUnlocked = 2;

    explicit CompileTries(std::mutex& changing) : lock_{changing, std::defer_lock} {}

    // To be called before what is compiled is read.
    void lock() {
        if (!lock_.owns_lock()) {
            lock_.lock();
        }
    }
    // True: nothing changes while it lasts, and what was read before still holds after the compile.
    [[nodiscard]] bool begin_compile() {
        if (tries_ == kUnlocked) {
            return true;
        }
        ++tries_;
        lock_.unlock();
        return false;
    }

private:
    std::unique_lock<std::mutex> lock_;
    unsigned tries_ = 0;
};

}  // namespace sluice
